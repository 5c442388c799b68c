package builtin_test

import "testing"

func fifo(t *testing.T, _ string) {
	t.Helper()
	t.Skip("there are no named pipes in folders")
}

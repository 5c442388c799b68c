package lsp_test

import (
	"testing"

	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/lsptest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	beside.Run(4) // most tests wait for a server
	leaks.Main(m)
}

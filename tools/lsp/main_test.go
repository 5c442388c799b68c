package lsp_test

import (
	"testing"

	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/lsptest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	beside.Run(4) // most tests wait until a server is late
	leaks.Main(m)
}

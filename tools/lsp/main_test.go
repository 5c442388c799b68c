package lsp_test

import (
	"os"
	"testing"

	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/lsptest"
	"jcode/tools/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	lsptest.Main()
	beside.Run(4) // most tests wait for a server
	leaks.Main(m)
}

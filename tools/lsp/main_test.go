package lsp_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/lsptest"
)

func TestMain(m *testing.M) {
	lsptest.Main()
	beside.Run(4) // most tests wait until a server is late
	if code := m.Run(); code != 0 {
		os.Exit(code)
	}
	if err := goleak.Find(); err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

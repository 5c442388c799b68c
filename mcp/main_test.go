package mcp

import (
	"os"
	"testing"

	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	hostMain()
	conformanceMain()
	if err := os.Setenv("JCODE_MCP_TOKENS", "file"); err != nil { // never the person's keyring
		panic(err)
	}
	beside.Run(2) // most tests wait for servers
	leaks.Main(m)
}

package mcp

import (
	"testing"

	"go.uber.org/goleak"

	"jcode/internal/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	hostMain()
	goleak.VerifyTestMain(m)
}

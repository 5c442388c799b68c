package wire

import (
	"testing"

	"go.uber.org/goleak"

	"jcode/internal/testkit/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

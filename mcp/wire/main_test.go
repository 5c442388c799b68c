package wire

import (
	"testing"

	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/mcptest"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	leaks.Main(m)
}

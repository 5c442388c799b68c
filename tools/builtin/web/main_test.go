package web_test

import (
	"testing"

	"jcode/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

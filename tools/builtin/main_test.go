package builtin_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/leaks"
)

// TestMain checks that no goroutine outlives the tests. It checks once, at the end: while tests run
// in parallel, none can tell its own goroutines from those of the others.
func TestMain(m *testing.M) { os.Exit(atHome(m)) }

// atHome runs the tests in an empty home: git of the person may ignore files of its own.
func atHome(m *testing.M) int {
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	if err := errors.Join(os.Setenv("HOME", home), os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))); err != nil {
		panic(err)
	}
	return leaks.Run(m)
}

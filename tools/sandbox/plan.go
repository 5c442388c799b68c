package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
)

// A rebase that waits keeps its plan in a file that git writes again with each step, and runs the plan's exec
// lines when it goes on. A plan without such lines is not locked, so that `git rebase --continue` works; a
// command that adds one is told about.

// isPlan reports whether a file is the plan of a rebase.
func isPlan(path string) bool { return filepath.Base(path) == "git-rebase-todo" }

// runs returns the lines of a plan that git will run, sorted; a plan that can't be read counts as one.
func runs(path string) (out []string) {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20:
		return []string{"unreadable"}
	}
	data, err := paths.ReadFile(path, 1<<20)
	if err != nil {
		return []string{"unreadable"}
	}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) > 0 && (words[0] == "x" || words[0] == "exec") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// adds reports whether a plan runs something now that it did not run in an earlier state.
func adds(path, was string) bool {
	before := strings.Split(was, "\n")
	return slices.ContainsFunc(runs(path), func(line string) bool { return !slices.Contains(before, line) })
}

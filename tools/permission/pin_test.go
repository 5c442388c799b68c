package permission_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

func TestGrantEndsWhenTheSearchPathLeadsToAnotherProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no rights tell a program there")
	}
	root, home := workspace(t)
	program := func(dir, name, text string) {
		put(t, dir, name, text)
		if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program(root, ".venv/bin/tool", "one\n")
	program(home, "bin/other", "one\n")
	t.Setenv("PATH", strings.Join([]string{filepath.Join(root, ".venv", "bin"), filepath.Join(home, "bin"), "/usr/bin", "/bin"}, string(os.PathListSeparator)))
	g := newGate(t, root, home, permission.RuleSet{})
	check := func(line string, asker tools.Asker) bool {
		return g.Check(context.Background(), execRequest(line, caller(tools.ModeAsk, asker))).Allow
	}
	for _, line := range []string{"tool a", "env A=b tool a", "other a", "timeout 5 other a"} {
		if !check(line, says(tools.AnswerProject)) || !check(line, nil) {
			t.Errorf("%s does not fit its own grant", line)
		}
	}
	program(root, ".venv/bin/tool", "changed\n")
	program(root, ".venv/bin/other", "in its place\n")
	for _, line := range []string{"tool a", "env A=b tool a", "other a", "timeout 5 other a"} {
		if check(line, nil) {
			t.Errorf("%s runs after another program took the name", line)
		}
	}
	program(root, ".venv/bin/tool", "one\n")
	if !check("tool a", nil) {
		t.Error("tool does not run as it was")
	}
}

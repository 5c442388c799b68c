package permission_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// The lines of an ordinary day ask nothing in mode auto, and no more than before in mode ask.
func TestLinesOfAnOrdinaryDayGoOn(t *testing.T) {
	root, home := workspace(t)
	t.Setenv("PATH", "/usr/bin:/bin") // the PATH of this machine may lead to other programs
	table, err := os.ReadFile(filepath.Join("testdata", "everyday.txt"))
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t, root, home, permission.RuleSet{}, func(o *permission.Options) { o.Confined = func() bool { return true } })
	rows := 0
	for row := range strings.Lines(string(table)) {
		want, line, ok := strings.Cut(strings.TrimSpace(row), "\t")
		if !ok {
			continue
		}
		rows++
		if e := g.Explain(context.Background(), caller(tools.ModeAuto, nil), line); !strings.HasPrefix(e.Outcome, "runs") {
			t.Errorf("auto: %s: %s", line, e)
		}
		if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), line); e.Outcome != want {
			t.Errorf("ask: %s: want %s: %s", line, want, e)
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows", rows)
	}
}

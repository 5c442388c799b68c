package permission_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// Each program of the table is judged with words that look like flags: nothing panics, and an
// unknown flag asks, except for programs that no flag makes write or read.
func TestOddWordsOfEveryProgramAreJudged(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	gate := newGate(t, root, home, permission.RuleSet{})
	harmless := strings.Fields(": [ command echo getconf lscpu printenv printf pwd seq sleep test true type uname whereis which")
	words := []string{"-$X", `-"$X"`, "--$X", `--"$X"=1`, "$X", "-$(date)", "-", "--", "''", "-''", "-*", "--*", "-?", "=", "-=", "--=", "-:", "^", "/", "~", ":", "+", "-1", "a.go", "{}", `\;`}
	table, err := os.ReadFile(filepath.Join("testdata", "lines.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for row := range strings.Lines(string(table)) {
		cols := strings.Split(strings.TrimSpace(row), "\t")
		if len(cols) < 2 || strings.ContainsAny(cols[1], `"'$|;&(){}<>`+"`") {
			continue
		}
		fields := strings.Fields(cols[1])
		if len(fields) == 0 {
			continue
		}
		programs = append(programs, fields[0])
		if len(fields) > 1 && (fields[0] == "git" || fields[0] == "go") {
			programs = append(programs, fields[0]+" "+fields[1])
		}
	}
	slices.Sort(programs)
	programs = slices.Compact(programs)
	judged := 0
	judge := func(line string) {
		judged++
		e := gate.Explain(context.Background(), caller(tools.ModeAsk, nil), line)
		if name, _, _ := strings.Cut(line, " "); e.Outcome == "runs" && strings.Contains(line, "-$X") && !slices.Contains(harmless, name) {
			t.Errorf("%s runs", line)
		}
	}
	for _, p := range programs {
		for _, a := range words {
			judge(p + " " + a)
			if !testing.Short() {
				judge(p + " " + a + " a.go")
				judge(p + " a.go " + a)
			}
		}
	}
	if len(programs) < 100 {
		t.Errorf("%d programs: the table was not read", len(programs))
	}
	t.Logf("%d lines of %d programs", judged, len(programs))
}

package permission_test

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jcode/internal/diff"
	"jcode/tools"
	"jcode/tools/permission"
)

// A yes to single hunks passes them on and grants nothing; hunks that do not exist, or of another tool, are a no.
func TestAYesToSingleHunks(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	old, now := "", ""
	for i := range 30 {
		old += strconv.Itoa(i) + "\n"
		now += strings.Repeat("x", 1-min(i%20, 1)) + strconv.Itoa(i) + "\n"
	}
	for name, tc := range map[string]struct {
		tool  string
		hunks []int
		want  []int
	}{
		"one":           {"edit", []int{1}, []int{1}},
		"twice":         {"write", []int{1, 0, 1}, []int{0, 1}},
		"none":          {"edit", []int{}, nil},
		"beyond":        {"edit", []int{2}, nil},
		"before":        {"edit", []int{-1, 0}, nil},
		"another tool":  {"rename", []int{0}, nil},
		"nothing shown": {"mkdir", []int{0}, nil},
	} {
		g := newGate(t, root, home, permission.RuleSet{})
		p := &person{answers: []tools.Answer{{Scope: tools.AnswerProject, Option: -1, Hunks: tc.hunks}}}
		req := fileRequest(tc.tool, tools.AccessWrite, filepath.Join(root, "a.go"), caller(tools.ModeAsk, p))
		req.Plan.Diff = diff.Files("a.go", &old, &now).Text
		if d := g.Check(context.Background(), req); d.Allow != (tc.want != nil) || !slices.Equal(d.Hunks, tc.want) {
			t.Errorf("%s: %+v", name, d)
		}
		req.Call.Caller = caller(tools.ModeAsk, nil)
		if d := g.Check(context.Background(), req); d.Allow {
			t.Errorf("%s: the whole change is granted", name)
		}
	}
}

// What a lasting answer covers is said in words.
func TestLastingAnswersSayWhatTheyCover(t *testing.T) {
	t.Parallel()
	root, home := workspace(t)
	for path, want := range map[string]string{
		filepath.Join(root, "a.go"):                   "any write in this project, until I leave",
		filepath.Join(root, ".jcode", "x"):            "for this session: writing .jcode/x",
		filepath.Join(filepath.Dir(root), "b", "c.d"): "always in this project: writing anything in ",
	} {
		g := newGate(t, root, home, permission.RuleSet{})
		p := says(tools.AnswerNo)
		g.Check(context.Background(), fileRequest("write", tools.AccessWrite, path, caller(tools.ModeAsk, p)))
		var labels []string
		for _, o := range p.asked[0].Options {
			labels = append(labels, o.Label)
			if len(o.Rules) > 0 && (o.Words == "" || !strings.Contains(o.Label, o.Words)) {
				t.Errorf("%q says %q", o.Label, o.Words)
			}
		}
		if got := strings.Join(labels, " | "); !strings.Contains(got, want) || strings.Contains(got, "write(") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

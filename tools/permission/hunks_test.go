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
		filepath.Join(root, "a.go"):                   "until I leave: any write | always here: any write | no",
		filepath.Join(root, ".jcode", "x"):            "until I leave: writing .jcode/x",
		filepath.Join(filepath.Dir(root), "b", "c.d"): "always here: writing anything in ",
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

// What a lasting answer to a command covers is said in words, and why it asks is said once for all that ask for one reason.
func TestLastingAnswersToCommandsSayWhatTheyCover(t *testing.T) {
	root, home := workspace(t)
	for line, want := range map[string]string{
		"go test ./...":                        "until I leave: this command | always here: this command | always here: commands that begin with go test",
		"go test ./... && go build ./... ; ls": "until I leave: `go test ./...` and `go build ./...` | always here: `go test ./...` and `go build ./...` | always here: commands that begin with go test and go build",
		"awk '{print; print > \"x\"}' a.txt":   "until I leave: this command",
		"touch a* > b":                         "until I leave: this command",
	} {
		p := says(tools.AnswerNo)
		newGate(t, root, home, permission.RuleSet{}).Check(context.Background(), execRequest(line, caller(tools.ModeAsk, p)))
		var labels []string
		for _, o := range p.asked[0].Options {
			labels = append(labels, o.Label)
		}
		if got := strings.Join(labels, " | "); !strings.Contains(got, want) || strings.Contains(got, "exec(") {
			t.Errorf("%s: %s", line, got)
		}
		details := strings.Join(p.asked[0].Details, "\n")
		if strings.Contains(details, "read-only") || strings.Count(details, "not known to only read") > 1 {
			t.Errorf("%s:\n%s", line, details)
		}
	}
}

// A change outside the project is said once, however often it is looked at, and its rights are one phrase.
func TestReasonsAreSaidOnce(t *testing.T) {
	root, home := workspace(t)
	path := filepath.Join(home, "other", "SKILL.md")
	p := says(tools.AnswerNo)
	req := fileRequest("edit", tools.AccessRead, path, caller(tools.ModeAsk, p))
	req.Plan.Accesses = append(req.Plan.Accesses, tools.Access{Kind: tools.AccessWrite, Path: path})
	newGate(t, root, home, permission.RuleSet{}).Check(context.Background(), req)
	q := p.asked[0]
	if !slices.Equal(q.Details, []string{"outside the project: ~/other/SKILL.md"}) {
		t.Errorf("details %q", q.Details)
	}
	if q.Options[1].Label != "until I leave: reading and editing ~/other/SKILL.md" {
		t.Errorf("options %+v", q.Options)
	}
}

package permission_test

import (
	"context"
	"testing"

	"jcode/tools"
)

// What git is told to read besides the files that it tracks is under the same rules.
func TestGitReadsNoDeniedFileThatItDoesNotTrack(t *testing.T) {
	t.Parallel()
	root, home := emptied(t)
	committed(t, root)
	put(t, root, ".env", "SECRET=1\n")
	put(t, root, "w/conf/x", "SECRET=1\n")
	for line, want := range map[string]string{
		"git status": "runs", "git diff": "runs", "git log -p": "runs", "git grep x": "runs", "git grep --no-index SECRET": "asks", "git grep --untracked --no-exclude-standard SECRET": "asks",
		"git grep --unt SECRET": "asks", "git diff --no-index f w": "asks", "cat .*/w/conf/x": "asks", "git status; cat .*/w/conf/x": "asks",
	} {
		g := newGate(t, root, home, parseRules(t, nil, nil, []string{"read(.env)", "read(w/conf/**)"}))
		if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), line); e.Outcome != want && !(want == "asks" && e.Outcome == "is denied") {
			t.Errorf("%s: %s, want %s\n%s", line, e.Outcome, want, e)
		}
	}
	g := newGate(t, root, home, parseRules(t, nil, nil, []string{"read(.env)"}))
	if d := g.Check(context.Background(), execRequest("git status", caller(tools.ModeAsk, nil))); d.Vouched == nil || len(d.Vouched.Hidden) != 1 {
		t.Errorf("%+v", d.Vouched)
	}
}

// A key in the address of a remote is not printed unasked.
func TestKeysInRemotesAreNotPrintedUnasked(t *testing.T) {
	root, home := emptied(t)
	committed(t, root)
	t.Setenv("HOME", home)
	ask := func(want string) {
		t.Helper()
		g := newGate(t, root, home, parseRules(t, nil, nil, nil))
		for _, line := range []string{"git remote -v", "git remote get-url origin"} {
			if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), line); e.Outcome != want {
				t.Errorf("%s: %s, want %s\n%s", line, e.Outcome, want, e)
			}
		}
	}
	gitIn(t, root, "remote", "add", "origin", "https://github.com/o/r.git")
	ask("runs")
	gitIn(t, root, "remote", "set-url", "origin", "https://x:ghp_0123456789abcdefghij@github.com/o/r.git")
	ask("asks")
}

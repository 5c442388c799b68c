package permission_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/tools"
	"jcode/tools/permission"
)

// put writes a file below a folder.
func put(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// outcome returns what a gate decides on a line in mode ask.
func outcome(t *testing.T, root, home, line string) (string, string) {
	t.Helper()
	e := newGate(t, root, home, permission.RuleSet{}).Explain(context.Background(), caller(tools.ModeAsk, nil), line)
	return e.Outcome, e.String()
}

// A repository can be configured to run programs when git only reads: then reading asks. The
// usual settings of repositories do not.
func TestGitAsksWhereTheRepositoryRunsSomething(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		why   string // "" when it runs
	}{
		"an ordinary configuration": {map[string]string{".git/config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tfsmonitor = true\n" +
			"[remote \"origin\"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[user]\n\tname = n\n[diff]\n\talgorithm = histogram\n" +
			"[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n"}, ""},
		"a file system monitor":       {map[string]string{".git/config": "[core]\n\tfsmonitor = ./evil\n"}, "core.fsmonitor"},
		"all in one line":             {map[string]string{".git/config": "[core] fsMonitor = ./evil"}, "core.fsmonitor"},
		"two sections in one line":    {map[string]string{".git/config": "[a][core]fsmonitor=./evil"}, "core.fsmonitor"},
		"a continued key":             {map[string]string{".git/config": "[core]\nfsmo\\\nnitor = ./evil"}, "can't be parsed"},
		"a continued value":           {map[string]string{".git/config": "[core]\nfsmonitor = \\\n./evil"}, "core.fsmonitor"},
		"a driver for differences":    {map[string]string{".git/config": "[diff \"a]b\"]\n command = evil"}, "diff.command"},
		"the old form of a section":   {map[string]string{".git/config": "[diff.x]\n textconv = evil"}, "diff.textconv"},
		"an external program":         {map[string]string{".git/config": "[diff]\n external = evil"}, "diff.external"},
		"a filter":                    {map[string]string{".git/config": "[filter \"x\"]\n clean = evil"}, "filter.clean"},
		"a further file":              {map[string]string{".git/config": "[include]\n path = ../evil"}, "include.path"},
		"signatures":                  {map[string]string{".git/config": "[log]\n showSignature"}, "log.showsignature"},
		"other hooks":                 {map[string]string{".git/config": "[core]\n hooksPath = evil"}, "core.hookspath"},
		"files that are elsewhere":    {map[string]string{".git/config": "[core]\n worktree = /"}, "core.worktree"},
		"what is lacking is fetched":  {map[string]string{".git/config": "[remote \"o\"]\n promisor = true"}, "remote.promisor"},
		"that of a work tree":         {map[string]string{".git/config": "", ".git/config.worktree": "[core]\n fsmonitor = evil"}, "core.fsmonitor"},
		"another common folder":       {map[string]string{".git/config": "", ".git/commondir": "../evil\n", "evil/config": "[core]\n fsmonitor = evil"}, "core.fsmonitor"},
		"a submodule":                 {map[string]string{".git/config": "", ".git/modules/a/b/HEAD": "x", ".git/modules/a/b/config": "[core]\n worktree = ../../../a\n fsmonitor = evil"}, "core.fsmonitor"},
		"an honest submodule":         {map[string]string{".git/config": "", ".git/modules/a/HEAD": "x", ".git/modules/a/config": "[core]\n worktree = ../../../a\n"}, ""},
		"a hook of the index":         {map[string]string{".git/config": "", ".git/hooks/post-index-change": "evil"}, "post-index-change"},
		"a sample of it":              {map[string]string{".git/config": "", ".git/hooks/post-index-change.sample": "evil", ".git/hooks/pre-commit": "x"}, ""},
		"the folder is a repository":  {map[string]string{"HEAD": "ref: refs/heads/x", "objects/x": "", "refs/x": "", "config": "[core]\n fsmonitor = evil"}, "laid out as a repository"},
		"a file leads to the folder":  {map[string]string{".git": "gitdir: real\n", "real/HEAD": "x", "real/config": "[core]\n fsmonitor = evil"}, "core.fsmonitor"},
		"configuration that is a pit": {map[string]string{".git/config": strings.Repeat("#", 2<<20)}, "can't be read"},
	} {
		root, home := workspace(t)
		if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
			t.Fatal(err)
		}
		for file, content := range tc.files {
			put(t, root, file, content)
		}
		want := "runs"
		if tc.why != "" {
			want = "asks"
		}
		for _, line := range []string{"git status", "git diff", "git log -1"} {
			if got, why := outcome(t, root, home, line); got != want || !strings.Contains(why, tc.why) {
				t.Errorf("%s: %s: %s, want %s for %q:\n%s", name, line, got, want, tc.why, why)
			}
		}
	}
}

// A repository inside another one that belongs to it: git enters it and follows its
// configuration. Only the index says that it belongs to it.
func TestGitAsksWhereARepositoryInsideRunsSomething(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git on this machine")
	}
	for _, version := range []string{"2", "4"} {
		root, home := workspace(t)
		if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
			t.Fatal(err)
		}
		run := func(dir string, args ...string) {
			t.Helper()
			cmd := exec.Command(git, append([]string{"-c", "user.email=a@b", "-c", "user.name=n"}, args...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("git %v: %v %s", args, err, out)
			}
		}
		inner := filepath.Join(root, "sub", "inner")
		if err := os.MkdirAll(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		run(root, "init", "-q")
		run(inner, "init", "-q")
		run(inner, "commit", "-q", "--allow-empty", "-m", "x")
		put(t, inner, ".git/config", "[core]\n fsmonitor = evil\n")
		if got, why := outcome(t, root, home, "git status"); got != "runs" {
			t.Errorf("before it is part of it: %s %s", got, why)
		}
		put(t, inner, ".git/config", "[core]\n")
		run(root, "update-index", "--index-version", version)
		run(root, "add", "a.go", "sub/inner", "sub/c.go")
		if got, why := outcome(t, root, home, "git status"); got != "runs" {
			t.Errorf("index %s, harmless: %s %s", version, got, why)
		}
		put(t, inner, ".git/config", "[core]\n fsmonitor = evil\n")
		if got, why := outcome(t, root, home, "git status"); got != "asks" || !strings.Contains(why, "core.fsmonitor") {
			t.Errorf("index %s: %s %s", version, got, why)
		}
	}
}

// Git is asked once while nothing changes, and again after a change.
func TestAChangeOfTheConfigurationIsSeenByTheSameGate(t *testing.T) {
	t.Parallel()
	root, home := emptied(t)
	committed(t, root)
	config := filepath.Join(root, ".git", "config")
	old := time.Now().Add(-time.Hour)
	g := newGate(t, root, home, permission.RuleSet{})
	look := func() string {
		return g.Explain(context.Background(), caller(tools.ModeAsk, nil), "git status").Outcome
	}
	for range 2 {
		if got := look(); got != "runs" {
			t.Fatal(got)
		}
	}
	addTo(t, config, "[core]\n\tfsmonitor = ./x\n")
	if err := os.Chtimes(config, old, old); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != "asks" {
		t.Error(got)
	}
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	bareLayout(t, root, "./x")
	if got := look(); got != "asks" {
		t.Error(got)
	}
}

// A rule against a git command also applies to the same command under another name.
func TestRulesSeeThroughAliasesAndPlumbing(t *testing.T) {
	t.Parallel()
	root, home := emptied(t)
	committed(t, root)
	for name, value := range map[string]string{"p": "push", "up": "!echo x && git push origin", "pp": "p --force", "l": "log --oneline", "q": "-c a.b=c push"} {
		gitIn(t, root, "config", "alias."+name, value)
	}
	for line, want := range map[string]string{
		"git p": "is denied", "git p origin main": "is denied", "git up": "is denied", "git pp": "is denied", "git -C . p": "is denied", "ls && git p": "is denied", "git q": "is denied",
		"git send-pack x": "is denied", "git http-push x": "is denied", "git l": "runs", "git pull": "asks", "git commit -m p": "runs",
	} {
		g := newGate(t, root, home, parseRules(t, []string{"exec(git *)"}, []string{"exec(git fetch *)"}, []string{"exec(git push *)"}))
		if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), line); e.Outcome != want {
			t.Errorf("%s: %s, want %s\n%s", line, e.Outcome, want, e)
		}
	}
}

// A rule against reading a file also applies to what git prints of it.
func TestGitDoesNotPrintWhatARuleForbids(t *testing.T) {
	t.Parallel()
	root, home := emptied(t)
	committed(t, root)
	put(t, root, ".env", "SECRET=1\n")
	gitIn(t, root, "add", "-f", ".env")
	gitIn(t, root, "commit", "-q", "-m", "env")
	for line, want := range map[string]string{
		"git status": "runs", "git log --oneline": "runs", "git ls-files": "runs", "git diff": "asks", "git log -p": "asks", "git show": "asks", "git grep SECRET": "asks",
		"git show HEAD:.env": "is denied", "git diff -- .env": "is denied", "git stash show -p": "asks", "git blame f": "asks",
		"git status -v": "asks", "git status -sb": "runs", "git status --verb": "asks", "git log --check": "asks", "git log --dd": "asks", "git reflog show --check": "asks", "git log --pat": "asks",
		"git log --graph --all --stat --format='%h %s' --since=1.day -- f": "runs", "git log -n 3 --author x --name-only --no-color --date=short": "runs",
	} {
		for _, mode := range []tools.Mode{tools.ModeAsk, tools.ModeEdits} {
			g := newGate(t, root, home, parseRules(t, nil, nil, []string{"read(.env)"}))
			if e := g.Explain(context.Background(), caller(mode, nil), line); e.Outcome != want {
				t.Errorf("%s: %s, want %s\n%s", line, e.Outcome, want, e)
			}
		}
		g := newGate(t, root, home, parseRules(t, nil, nil, []string{"read(other)"}))
		if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), line); e.Outcome != "runs" {
			t.Errorf("%s with another rule: %s", line, e)
		}
	}
	g := newGate(t, root, home, parseRules(t, nil, nil, []string{"read(.env)"}))
	d := g.Check(context.Background(), execRequest("git status", caller(tools.ModeAsk, nil)))
	if d.Vouched == nil || len(d.Vouched.Hidden) != 1 || d.Vouched.Only != nil {
		t.Errorf("%+v", d.Vouched)
	}
	d = g.Check(context.Background(), execRequest("cat a.go", caller(tools.ModeAsk, nil)))
	if d.Vouched == nil || len(d.Vouched.Only) == 0 {
		t.Errorf("%+v", d.Vouched)
	}
}

// The table of commands describes programs of the system. A program of the same name that a call
// may have put into PATH is a different one.
func TestProgramsOfTheWorkspaceAreNotVouchedFor(t *testing.T) {
	root, home := workspace(t)
	for _, f := range []string{"project/bin/rg", "project/sub/cal", "home/tools/rg", "home/x/shims/python3"} {
		put(t, filepath.Dir(root), f, "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(filepath.Dir(root), f), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "bin", "rg"), filepath.Join(home, "tools", "tree")); err != nil {
		t.Skip("links can't be made here")
	}
	for _, tc := range []struct{ path, line, want, why string }{
		{filepath.Join(home, "tools"), "rg foo", "runs", ""},
		{filepath.Join(root, "bin"), "rg foo", "asks", "the project's own: bin/rg"},
		{filepath.Join(root, "bin") + ":" + filepath.Join(home, "tools"), "rg foo", "asks", "bin/rg"},
		{filepath.Join(home, "tools") + ":" + filepath.Join(root, "bin"), "rg foo", "runs", ""},
		{filepath.Join(home, "tools"), "tree", "asks", "the project's own"},
		{"bin:/usr/bin", "rg foo", "asks", "the project's own"},
		{":/none", "cd sub && cal", "asks", "the project's own: sub/cal"},
		{filepath.Join(home, "x", "shims"), "python3 --version", "asks", "depends on files"},
		{filepath.Join(root, "bin"), "echo rg", "runs", ""},
		{filepath.Join(root, "bin"), "ls", "runs", ""}, // not found there: it is the system's, or there is none
	} {
		t.Setenv("PATH", strings.ReplaceAll(tc.path, ":", string(os.PathListSeparator)))
		if got, why := outcome(t, root, home, tc.line); got != tc.want || !strings.Contains(why, tc.why) {
			t.Errorf("%s with %s: %s, want %s:\n%s", tc.line, tc.path, got, tc.want, why)
		}
	}
}

// FuzzGitConfigs checks that reading any configuration does not panic.
func FuzzGitConfigs(f *testing.F) {
	root, home := workspace(f)
	for _, s := range []string{"[core]\nfsmonitor=x", "[", "[a \"", "[a \"]\"]", "\\\n", "[[]]", "=", "[core \"x\"] worktree"} {
		f.Add(s, []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\xe0\x00"))
	}
	g := newGate(f, root, home, permission.RuleSet{})
	f.Fuzz(func(t *testing.T, config string, index []byte) {
		for name, data := range map[string][]byte{"config": []byte(config), "index": index} {
			if err := os.WriteFile(filepath.Join(root, ".git", name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if e := g.Explain(context.Background(), caller(tools.ModeAsk, nil), "git status"); e.Outcome != "runs" && e.Outcome != "asks" {
			t.Error(e.Outcome)
		}
	})
}

package permission_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/permission"
)

// hostile is a repository that tries to run a program when git only reads. prepare creates it in
// root; canary is a program that leaves a file behind.
type hostile struct {
	name    string
	line    string
	prepare func(t *testing.T, root, canary string)
	why     string
}

// gitIn runs git in a folder, without the configuration of any account.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.email=a@b", "-c", "user.name=n", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

func addTo(t *testing.T, file, content string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// committed creates a repository with one file.
func committed(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q")
	put(t, dir, "f", "one\n")
	gitIn(t, dir, "add", "f")
	gitIn(t, dir, "commit", "-q", "-m", "x")
}

// bareLayout makes a folder a repository without .git, as an archive can contain one.
func bareLayout(t *testing.T, root, canary string) {
	t.Helper()
	put(t, root, "HEAD", "ref: refs/heads/main\n")
	put(t, root, "commondir", "sub\n")
	put(t, root, "config.worktree", "[core]\n\tfsmonitor = "+canary+"\n\tbare = false\n\tworktree = .\n")
	put(t, root, "sub/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n")
	put(t, root, "sub/HEAD", "ref: refs/heads/main\n")
	for _, dir := range []string{"sub/objects", "sub/refs"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func hostiles() []hostile {
	return []hostile{
		{"a folder without .git is laid out as a repository with a commondir", "git status", bareLayout, "laid out as a repository"},
		{"a comment ends in a backslash before the setting", "git status", func(t *testing.T, root, canary string) {
			committed(t, root)
			addTo(t, filepath.Join(root, ".git", "config"), "# \\\n[core] fsmonitor = "+canary+"\n")
		}, "core.fsmonitor"},
		{"a filter begins like that of git-lfs", "git diff", func(t *testing.T, root, canary string) {
			committed(t, root)
			put(t, root, ".gitattributes", "f filter=lfs\n")
			addTo(t, filepath.Join(root, ".git", "config"), "[filter \"lfs\"]\n\tclean = \"git-lfs ; "+canary+"\"\n")
			put(t, root, "f", "two\n")
		}, "filter.clean"},
		{"a .git file with thousands of line ends", "git status", func(t *testing.T, root, canary string) {
			elsewhere(t, root, canary, "gitdir: real"+strings.Repeat("\n", 5000))
		}, "core.fsmonitor"},
		{"a .git file with two blanks", "git status", func(t *testing.T, root, canary string) {
			elsewhere(t, root, canary, "gitdir:  real\n")
			if err := os.Rename(filepath.Join(root, "real"), filepath.Join(root, " real")); err != nil {
				t.Fatal(err)
			}
		}, "core.fsmonitor"},
		{"a commondir that is longer than a page", "git status", func(t *testing.T, root, canary string) {
			committed(t, root)
			git := filepath.Join(root, ".git")
			for _, name := range []string{"config", "objects", "refs"} {
				put(t, root, "evil/x", "")
				if err := os.Rename(filepath.Join(git, name), filepath.Join(root, "evil", name)); err != nil {
					t.Fatal(err)
				}
			}
			addTo(t, filepath.Join(root, "evil", "config"), "[core] fsmonitor = "+canary+"\n")
			put(t, git, "commondir", "../evil"+strings.Repeat("\n", 5000))
		}, "core.fsmonitor"},
		{"a submodule whose .git is a file that leads elsewhere", "git status", func(t *testing.T, root, canary string) {
			committed(t, root)
			committed(t, filepath.Join(root, "in"))
			gitIn(t, root, "add", "in")
			if err := os.Rename(filepath.Join(root, "in", ".git"), filepath.Join(root, "kept")); err != nil {
				t.Fatal(err)
			}
			put(t, root, "in/.git", "gitdir: ../kept\n")
			addTo(t, filepath.Join(root, "kept", "config"), "[core] fsmonitor = "+canary+"\n")
		}, "core.fsmonitor"},
	}
}

// elsewhere creates a repository to which a .git file points.
func elsewhere(t *testing.T, root, canary, file string) {
	t.Helper()
	committed(t, root)
	if err := os.Rename(filepath.Join(root, ".git"), filepath.Join(root, "real")); err != nil {
		t.Fatal(err)
	}
	put(t, root, ".git", file)
	addTo(t, filepath.Join(root, "real", "config"), "[core] fsmonitor = "+canary+"\n")
}

// emptied returns the workspace without its .git.
func emptied(t *testing.T) (root, home string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine")
	}
	root, home = workspace(t)
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	return root, home
}

// A command asks if a repository, or a folder that does not look like one, makes git run
// something. The test also shows that git would run it.
func TestHostileRepositoriesAsk(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	for _, h := range hostiles() {
		t.Run(h.name, func(t *testing.T) {
			root, home := emptied(t)
			mark := filepath.Join(home, "ran")
			canary := filepath.Join(home, "canary")
			put(t, home, "canary", "#!/bin/sh\necho ran > "+mark+"\nexit 1\n")
			if err := os.Chmod(canary, 0o755); err != nil {
				t.Fatal(err)
			}
			h.prepare(t, root, canary)
			if got, why := outcome(t, root, home, h.line); got != "asks" || !strings.Contains(why, h.why) {
				t.Errorf("%s: %s, want a question for %q:\n%s", h.line, got, h.why, why)
			}
			g := newGate(t, root, home, permission.RuleSet{})
			if e := g.Explain(context.Background(), caller(tools.ModeEdits, nil), h.line); e.Outcome != "asks" {
				t.Errorf("in mode edits, where the model may lay it out itself: %s", e)
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("judging it ran the program")
			}
			cmd := exec.Command("/bin/sh", "-c", h.line)
			cmd.Dir, cmd.Env = root, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
			out, err := cmd.CombinedOutput()
			if _, missed := os.Stat(mark); missed != nil {
				t.Errorf("git does not run it, so this shows nothing: %v %s", err, out)
			}
		})
	}
}

// linkOut creates a link to a file outside the workspace.
func linkOut(t *testing.T, root, name string) {
	t.Helper()
	at := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(filepath.Dir(root), "outside", "x"), at); err != nil {
		t.Skip(err)
	}
}

// Another repository is not printed just because a file of the workspace names it.
func TestAnotherRepositoryAsksUnlessItNamesTheFolder(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	base := func(root string) string { return filepath.Dir(root) }
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, root string)
		want    string
		why     string
	}{
		"an ordinary one": {committed, "runs", ""},
		"a .git file": {func(t *testing.T, root string) {
			committed(t, filepath.Join(base(root), "private"))
			put(t, root, ".git", "gitdir: ../private/.git\n")
		}, "asks", "does not name this folder"},
		"a link": {func(t *testing.T, root string) {
			committed(t, filepath.Join(base(root), "private"))
			if err := os.Symlink("../private/.git", filepath.Join(root, ".git")); err != nil {
				t.Skip(err)
			}
		}, "asks", "does not name this folder"},
		"a commondir": {func(t *testing.T, root string) {
			committed(t, filepath.Join(base(root), "private"))
			committed(t, root)
			put(t, root, ".git/commondir", "../../private/.git\n")
		}, "asks", "outside the project"},
		"alternates": {func(t *testing.T, root string) {
			committed(t, filepath.Join(base(root), "private"))
			committed(t, root)
			put(t, root, ".git/objects/info/alternates", "# x\n../../../private/.git/objects\n")
		}, "asks", "takes objects from another one"},
		"a link in place of its references": {func(t *testing.T, root string) {
			committed(t, filepath.Join(base(root), "private"))
			committed(t, root)
			if err := os.RemoveAll(filepath.Join(root, ".git", "refs", "heads")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../../../private/.git/refs/heads", filepath.Join(root, ".git", "refs", "heads")); err != nil {
				t.Skip(err)
			}
		}, "asks", "leads out of it"},
		"a link among its packs": {func(t *testing.T, root string) {
			committed(t, root)
			linkOut(t, root, ".git/objects/pack/pack-1.pack")
		}, "asks", "leads out of it"},
		"a link in what a rebase has done": {func(t *testing.T, root string) {
			committed(t, root)
			put(t, root, ".git/rebase-merge/git-rebase-todo", "")
			linkOut(t, root, ".git/rebase-merge/done")
		}, "asks", "leads out of it"},
		"a link in what is said of a work tree": {func(t *testing.T, root string) {
			committed(t, root)
			put(t, root, ".git/worktrees/w/gitdir", filepath.Join(root, "w", ".git")+"\n")
			linkOut(t, root, ".git/worktrees/w/locked")
		}, "asks", "leads out of it"},
		"a link deep in its references": {func(t *testing.T, root string) {
			committed(t, root)
			linkOut(t, root, ".git/refs/remotes/a/b/c")
		}, "asks", "leads out of it"},
		"a link in the log of its stashes": {func(t *testing.T, root string) {
			committed(t, root)
			linkOut(t, root, ".git/logs/refs/stash")
		}, "asks", "leads out of it"},
		"a link among its references that stays": {func(t *testing.T, root string) {
			committed(t, root)
			put(t, root, ".git/refs/remotes/x/y", "")
			if err := os.Symlink("y", filepath.Join(root, ".git", "refs", "remotes", "x", "z")); err != nil {
				t.Skip(err)
			}
		}, "runs", ""},
		"a submodule with the objects of another": {func(t *testing.T, root string) {
			committed(t, root)
			committed(t, filepath.Join(root, "in"))
			gitIn(t, root, "add", "in")
			committed(t, filepath.Join(base(root), "private"))
			put(t, root, "in/.git/objects/info/alternates", filepath.Join(base(root), "private", ".git", "objects")+"\n")
		}, "asks", "takes objects from another one"},
		"a submodule that is kept inside with a link out": {func(t *testing.T, root string) {
			committed(t, root)
			committed(t, filepath.Join(root, ".git", "modules", "in"))
			if err := os.Rename(filepath.Join(root, ".git", "modules", "in", ".git"), filepath.Join(root, ".git", "modules", "x")); err != nil {
				t.Fatal(err)
			}
			linkOut(t, root, ".git/modules/x/objects/info/packs")
		}, "asks", "leads out of it"},
		"revisions to ignore": {func(t *testing.T, root string) {
			committed(t, root)
			gitIn(t, root, "config", "blame.ignoreRevsFile", "../outside/x")
		}, "asks", "blame.ignorerevsfile"},
		"revisions to ignore of its own": {func(t *testing.T, root string) {
			committed(t, root)
			gitIn(t, root, "config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
		}, "runs", ""},
		"a linked work tree": {func(t *testing.T, root string) {
			other := filepath.Join(base(root), "main")
			committed(t, other)
			gitIn(t, other, "worktree", "add", "-q", "-b", "w", filepath.Join(base(root), "w"))
			for _, n := range []string{".git", "f"} {
				if err := os.Rename(filepath.Join(base(root), "w", n), filepath.Join(root, n)); err != nil {
					t.Fatal(err)
				}
			}
			gitIn(t, root, "worktree", "repair")
		}, "runs", ""},
		"the workspace is a submodule": {func(t *testing.T, root string) {
			committed(t, root)
			kept := filepath.Join(base(root), "super", "modules", "x")
			put(t, filepath.Dir(kept), "y", "")
			if err := os.Rename(filepath.Join(root, ".git"), kept); err != nil {
				t.Fatal(err)
			}
			put(t, root, ".git", "gitdir: ../super/modules/x\n")
			gitIn(t, kept, "config", "core.worktree", "../../../project")
		}, "runs", ""},
		"a submodule whose files lie elsewhere": {func(t *testing.T, root string) {
			committed(t, root)
			committed(t, filepath.Join(root, "in"))
			gitIn(t, root, "add", "in")
			gitIn(t, filepath.Join(root, "in"), "config", "core.worktree", filepath.Join(base(root), "outside"))
		}, "asks", "core.worktree"},
		"a submodule that names its own folder": {func(t *testing.T, root string) {
			committed(t, root)
			committed(t, filepath.Join(root, "in"))
			gitIn(t, root, "add", "in")
			gitIn(t, filepath.Join(root, "in"), "config", "core.worktree", "..")
		}, "runs", ""},
		"a linked work tree of a repository with submodules": {func(t *testing.T, root string) {
			linkedWithModule(t, root, "../../../sub")
		}, "runs", ""},
		"a linked work tree of a repository whose submodule lies elsewhere": {func(t *testing.T, root string) {
			committed(t, filepath.Join(base(root), "outside"))
			linkedWithModule(t, root, "../../../../outside")
		}, "asks", "core.worktree"},
		"a linked work tree of a submodule": {func(t *testing.T, root string) {
			own := linkedWithModule(t, root, "../../../sub")
			gitIn(t, own, "config", "core.worktree", "../../main")
		}, "runs", ""},
		"a linked work tree with settings of its own that places its files elsewhere": {func(t *testing.T, root string) {
			own := linkedWithModule(t, root, "../../../sub")
			gitIn(t, own, "config", "extensions.worktreeConfig", "true")
			gitIn(t, own, "config", "core.worktree", "../../outside")
		}, "asks", "core.worktree"},
		"a repository around the workspace": {func(t *testing.T, root string) { committed(t, base(root)) }, "runs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, home := emptied(t)
			tc.prepare(t, root)
			if got, why := outcome(t, root, home, "git log -p"); got != tc.want || !strings.Contains(why, tc.why) {
				t.Errorf("%s, want %s for %q:\n%s", got, tc.want, tc.why, why)
			}
		})
	}
}

// linkedWithModule makes the workspace a linked work tree of a repository, and returns that repository's folder.
// It keeps a submodule whose configuration names a work tree.
func linkedWithModule(t *testing.T, root, names string) (own string) {
	t.Helper()
	main := filepath.Join(filepath.Dir(root), "main")
	committed(t, main)
	gitIn(t, main, "worktree", "add", "-q", "-b", "w", filepath.Join(filepath.Dir(root), "w"))
	for _, n := range []string{".git", "f"} {
		if err := os.Rename(filepath.Join(filepath.Dir(root), "w", n), filepath.Join(root, n)); err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, root, "worktree", "repair")
	committed(t, filepath.Join(main, "sub"))
	kept := filepath.Join(main, ".git", "modules", "sub")
	put(t, filepath.Dir(kept), "y", "")
	if err := os.Rename(filepath.Join(main, "sub", ".git"), kept); err != nil {
		t.Fatal(err)
	}
	put(t, main, "sub/.git", "gitdir: ../.git/modules/sub\n")
	gitIn(t, kept, "config", "core.worktree", names)
	return filepath.Join(main, ".git")
}

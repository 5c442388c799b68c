package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/launch"
	"jcode/internal/testkit/programs"
	"jcode/internal/worktree"
)

// leave turns the entry of a copy into what a killed "git worktree add" leaves, and returns it.
func leave(t *testing.T, root, copied, file, text string, age time.Duration) string {
	t.Helper()
	run(t, root, "worktree", "add", "-q", "--no-checkout", "--detach", copied)
	dir := run(t, copied, "rev-parse", "--absolute-git-dir")
	write(t, dir, file, text)
	then := time.Now().Add(-age)
	if err := os.Chtimes(dir, then, then); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A killed "git worktree add" leaves an entry at which git fails. The next copy is still made, and
// the repository can be used again.
func TestEntryOfAKilledAddIsRemoved(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"commondir": "", "locked": "initializing"} {
		t.Run(name, func(t *testing.T) {
			root := repository(t)
			copies := filepath.Join(t.TempDir(), "copies")
			entry := leave(t, root, filepath.Join(copies, "killed"), name, text, time.Minute)
			if dirs := worktree.Incomplete(t.Context(), launch.Git{}, root); len(dirs) != 1 || dirs[0] != entry {
				t.Errorf("incomplete are %q", dirs)
			}
			tree, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: filepath.Join(copies, "x"), Branch: "jcode/x"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := worktree.Repair(t.Context(), launch.Git{}, root, copies); err != nil {
				t.Fatal(err)
			}
			if s := run(t, root, "worktree", "list"); strings.Contains(s, "killed") || !strings.Contains(s, tree.Branch) {
				t.Errorf("worktrees: %s", s)
			}
			if _, err := os.Lstat(filepath.Join(copies, "killed")); err == nil {
				t.Error("its folder is still there")
			}
			if dirs := worktree.Incomplete(t.Context(), launch.Git{}, root); dirs != nil {
				t.Errorf("incomplete are %q", dirs)
			}
		})
	}
}

// An entry stays if it is not an agent's, if its copy has files, or if it may still be written.
func TestRepairLeavesWhatItMustNotRemove(t *testing.T) {
	t.Parallel()
	root := repository(t)
	copies := filepath.Join(t.TempDir(), "copies")
	entries := []string{
		leave(t, root, filepath.Join(t.TempDir(), "mine"), "locked", "initializing", time.Minute),
		leave(t, root, filepath.Join(copies, "new"), "locked", "initializing", 0),
		leave(t, root, filepath.Join(copies, "full"), "locked", "initializing", time.Minute),
	}
	write(t, filepath.Join(copies, "full"), "work.txt", "work\n")
	removed, err := worktree.Repair(t.Context(), launch.Git{}, root, copies)
	if len(removed) != 0 || err == nil || !strings.Contains(err.Error(), "full: there are files in it") {
		t.Errorf("removed %q, error %v", removed, err)
	}
	for _, dir := range entries {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(copies, "full", "work.txt")); err != nil || string(b) != "work\n" {
		t.Errorf("work.txt: %q, %v", b, err)
	}
}

// A copy waits until another git has completed its entry.
func TestEntryThatIsBeingWrittenIsAwaited(t *testing.T) {
	t.Parallel()
	root := repository(t)
	copies := filepath.Join(t.TempDir(), "copies")
	entry := leave(t, root, filepath.Join(copies, "slow"), "commondir", "", 0)
	made := make(chan error, 1)
	go func() {
		_, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: filepath.Join(copies, "x"), Branch: "jcode/x"})
		made <- err
	}()
	time.Sleep(100 * time.Millisecond) // for the first try; the test passes without it too
	write(t, entry, "commondir", "../..\n")
	if err := <-made; err != nil {
		t.Error(err)
	}
	if s := run(t, root, "worktree", "list"); !strings.Contains(s, "slow") {
		t.Errorf("worktrees: %s", s)
	}
}

// What a git that was killed leaves is removed, unless it contains work.
func TestBranchesWithoutAWorktreeAreRemoved(t *testing.T) {
	t.Parallel()
	root := repository(t)
	run(t, root, "branch", "jcode/dead")
	run(t, root, "branch", "jcode/known")
	run(t, root, "branch", "other")
	run(t, root, "checkout", "-q", "-b", "jcode/work")
	run(t, root, "commit", "-q", "--allow-empty", "-m", "work")
	run(t, root, "checkout", "-q", "main")
	tree := add(t, worktree.Options{Root: root})
	prune := func(age time.Duration) string {
		removed, err := worktree.PruneBranches(t.Context(), launch.Git{}, root, []string{"jcode/"}, age, func(branch string) bool { return branch == "jcode/known" })
		if err != nil {
			t.Error(err)
		}
		return strings.Join(removed, " ")
	}
	if got := prune(time.Hour); got != "" {
		t.Errorf("removed though it is new: %s", got)
	}
	if got := prune(0); got != "jcode/dead" {
		t.Errorf("removed %q", got)
	}
	if got := run(t, root, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != "jcode/known\njcode/work\n"+tree.Branch+"\nmain\nother" {
		t.Errorf("left %q", got)
	}
	empty := t.TempDir()
	if !worktree.Husk(empty) || worktree.Husk(tree.Dir) {
		t.Error("what is a husk?")
	}
}

// What was not committed at the start of a copy is not work, even if nothing but the copy itself is left to say so.
func TestCopyOfUncommittedChangesIsFoundUnchanged(t *testing.T) {
	t.Parallel()
	root := repository(t)
	write(t, root, "a.txt", "mine\n")
	made := add(t, worktree.Options{Root: root, Uncommitted: true})
	found, err := worktree.Find(t.Context(), launch.Git{}, root, made.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := found.Work(t.Context()); err != nil || !w.None() {
		t.Errorf("it holds %+v, %v", w, err)
	}
}

// In a linked working tree, what git add and git commit write lies in the repository; only a repository that names
// the working tree is taken for its own.
func TestFoldersOfGitAreThoseOfTheWorkingTreesOwnRepository(t *testing.T) {
	t.Parallel()
	root := repository(t)
	tree := add(t, worktree.Options{Root: root})
	own := run(t, tree.Dir, "rev-parse", "--absolute-git-dir")
	common := filepath.Join(root, ".git")
	f := worktree.FoldersOf(tree.Dir)
	if want := []string{own, filepath.Join(common, "objects"), filepath.Join(common, "refs", "heads", "jcode"), filepath.Join(common, "logs", "refs", "heads", "jcode")}; !slices.Equal(f.Written, want) {
		t.Errorf("written %q", f.Written)
	}
	if !slices.Contains(f.Fixed, filepath.Join(own, "commondir")) || !slices.Contains(f.Fixed, filepath.Join(common, "objects", "info")) {
		t.Errorf("fixed %q", f.Fixed)
	}
	stranger := t.TempDir()
	write(t, stranger, ".git", "gitdir: "+own+"\n")
	for _, dir := range []string{root, stranger, t.TempDir()} {
		if f := worktree.FoldersOf(dir); f.Written != nil {
			t.Errorf("%s: %q", dir, f.Written)
		}
	}
}

// A removal that a kill interrupted is finished by the next one; a folder that only lost its .git is not taken for
// one.
func TestInterruptedRemovalIsFinished(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{true, false} {
		root := repository(t)
		tree := add(t, worktree.Options{Root: root})
		if begun {
			write(t, run(t, tree.Dir, "rev-parse", "--absolute-git-dir"), "jcode-removing", "")
		}
		if err := os.Remove(filepath.Join(tree.Dir, ".git")); err != nil {
			t.Fatal(err)
		}
		check, err := tree.Check(t.Context()), tree.Remove(t.Context())
		_, there := os.Stat(tree.Dir)
		if begun && (!errors.Is(check, worktree.ErrGone) || err != nil || there == nil || run(t, root, "branch", "--list", "jcode/*") != "" || strings.Contains(run(t, root, "worktree", "list"), tree.Dir)) {
			t.Errorf("check %v, removal %v, there %v", check, err, there == nil)
		}
		if !begun && (errors.Is(check, worktree.ErrGone) || err == nil || there != nil) {
			t.Errorf("not begun: check %v, removal %v, there %v", check, err, there == nil)
		}
	}
}

// A git that is killed while it removes a copy leaves a folder that git knows no more: the removal is finished.
func TestARemovalWhoseGitIsKilledIsFinished(t *testing.T) {
	root, bin := repository(t), t.TempDir()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *"worktree remove"*)
  if mkdir '%s/once' 2>/dev/null; then
    for last; do :; done
    rm -f "$last/.git"
    kill -9 $$
  fi ;;
esac
exec '%s' "$@"
`, bin, real)
	programs.File(t, filepath.Join(bin, "git"), script, 0o700)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	tree := add(t, worktree.Options{Root: root, Git: launch.Git{Programs: launch.Programs{Temporary: true}}})
	if err := tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "once")); err != nil {
		t.Fatal("the git of the test was not used")
	}
	if _, err := os.Stat(tree.Dir); err == nil || run(t, root, "branch", "--list", "jcode/*") != "" {
		t.Error("the copy or its branch is still there")
	}
}

// A git that is killed leaves the lock of the branch that it changed, at which every later change of the branch fails.
func TestLockOfAKilledGitOnABranchIsRemoved(t *testing.T) {
	t.Parallel()
	root := repository(t)
	lock := filepath.Join(root, ".git", "refs", "heads", "jcode", "x.lock")
	locked := func(age time.Duration) {
		t.Helper()
		write(t, filepath.Dir(lock), filepath.Base(lock), "")
		then := time.Now().Add(-age)
		if err := os.Chtimes(lock, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		t.Fatal(err)
	}
	locked(time.Minute)
	tree, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: filepath.Join(t.TempDir(), "x"), Branch: "jcode/x"})
	if err != nil {
		t.Fatal(err)
	}
	locked(time.Minute)
	if err := tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if worktree.HasBranch(t.Context(), launch.Git{}, root, "jcode/x") {
		t.Error("the branch is still there")
	}

	// The one of a git that works is waited for.
	locked(-time.Hour) // for ever young
	released := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() { released <- os.Remove(lock) })
	if _, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: filepath.Join(t.TempDir(), "y"), Branch: "jcode/x"}); err != nil {
		t.Error(err)
	}
	if err := <-released; err != nil {
		t.Errorf("it was removed though a git held it: %v", err)
	}
}

// A git that is killed while it adds a copy leaves it locked: what is left is removed as soon as it is old enough.
func TestACopyThatAKilledGitLockedIsRemoved(t *testing.T) {
	t.Parallel()
	root := repository(t)
	tree, err := worktree.Add(t.Context(), worktree.Options{Root: root, Dir: filepath.Join(t.TempDir(), "x"), Branch: "jcode/x"})
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(tree.Dir) // it was to check them out
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != ".git" {
			if err := os.RemoveAll(filepath.Join(tree.Dir, f.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	entry := filepath.Join(root, ".git", "worktrees", "x")
	write(t, entry, "locked", "initializing")
	young := time.Now().Add(-4 * time.Second)
	if err := os.Chtimes(entry, young, young); err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list := run(t, root, "worktree", "list"); strings.Contains(list, tree.Dir) || worktree.HasBranch(t.Context(), launch.Git{}, root, "jcode/x") {
		t.Errorf("it is still there:\n%s", list)
	}
}

// A git that is killed while it takes back a copy that it had just begun leaves a folder without an entry.
func TestWhatAKilledGitLeavesOfACopyIsRemoved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		left    func(t *testing.T, dir string) // puts into the folder what is left
		removed bool
	}{
		"only the way to the entry": {func(t *testing.T, dir string) {}, true},
		"an empty folder":           {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, ".git")) }, true},
		"a file":                    {func(t *testing.T, dir string) { write(t, dir, "work.txt", "work\n") }, false},
		"the way to elsewhere":      {func(t *testing.T, dir string) { write(t, dir, ".git", "gitdir: /nonexistent/worktrees/x\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := repository(t)
			tree := add(t, worktree.Options{Root: root})
			entry := run(t, tree.Dir, "rev-parse", "--absolute-git-dir")
			files, err := os.ReadDir(tree.Dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if f.Name() != ".git" {
					remove(t, filepath.Join(tree.Dir, f.Name()))
				}
			}
			remove(t, entry)
			tt.left(t, tree.Dir)
			gone := errors.Is(tree.Check(t.Context()), worktree.ErrGone)
			err = tree.Remove(t.Context())
			_, fault := os.Lstat(tree.Dir)
			if left := fault == nil; gone != tt.removed || (err == nil) != tt.removed || left == tt.removed {
				t.Errorf("it counts as gone: %t; the removal says %v; the folder is left: %t", gone, err, left)
			}
			if tt.removed && worktree.HasBranch(t.Context(), launch.Git{}, root, tree.Branch) {
				t.Error("its branch is left")
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

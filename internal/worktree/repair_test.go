package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/launch"
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

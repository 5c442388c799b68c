//go:build unix

package worktree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/worktree"
)

// holding makes git wait for a file before it writes those that end in .slow.
func holding(t *testing.T, root string) (release string) {
	t.Helper()
	release = filepath.Join(t.TempDir(), "go")
	write(t, root, ".gitattributes", "*.slow filter=hold\n")
	write(t, root, "x.slow", "slow\n")
	run(t, root, "add", ".")
	run(t, root, "commit", "-q", "-m", "slow")
	run(t, root, "config", "filter.hold.required", "true")
	run(t, root, "config", "filter.hold.clean", "cat")
	run(t, root, "config", "filter.hold.smudge", "while [ ! -e '"+release+"' ]; do sleep 0.02; done; cat")
	return release
}

func first(names ...string) func([]string) []string {
	return func([]string) []string { return names }
}

func TestChosenFilesAreThereBeforeTheOthers(t *testing.T) {
	t.Parallel()
	root := repository(t)
	release := holding(t, root)
	tree := add(t, worktree.Options{Root: root, First: first("a.txt")})
	defer tree.Stop()
	if b, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt")); err != nil || string(b) != "one\n" {
		t.Errorf("a.txt: %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(tree.Dir, "x.slow")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("x.slow: %v", err)
	}
	if got := changes(t, tree); len(got) != 0 {
		t.Errorf("missing files are taken for removed ones: %v", got)
	}
	if diff, err := unified(t, tree); diff != "" || err != nil {
		t.Errorf("diff %q, %v", diff, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tree.Ready(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled wait: %v", err)
	}
	write(t, filepath.Dir(release), filepath.Base(release), "")
	if err := tree.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(tree.Dir, "x.slow")); err != nil || string(b) != "slow\n" {
		t.Errorf("x.slow: %q, %v", b, err)
	}
	if s := run(t, tree.Dir, "status", "--porcelain"); s != "" {
		t.Errorf("the copy is %q", s)
	}
}

// A copy that was abandoned while git wrote its files has no changes, and gets the rest when it is
// reopened, even if a killed git left a lock.
func TestCopyThatWasLeftIsFinished(t *testing.T) {
	t.Parallel()
	root := repository(t)
	release := holding(t, root)
	write(t, root, "a.txt", "mine\n")
	tree := add(t, worktree.Options{Root: root, Uncommitted: true, First: first("a.txt")})
	tree.Stop()
	if err := tree.Ready(t.Context()); err == nil {
		t.Fatal("it was not stopped")
	}
	lock := filepath.Join(run(t, tree.Dir, "rev-parse", "--absolute-git-dir"), "index.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left := worktree.Tree{Root: tree.Root, Dir: tree.Dir, Branch: tree.Branch, Base: tree.Base}
	if got := changes(t, left); len(got) != 0 {
		t.Errorf("missing files are taken for removed ones: %v", got)
	}
	write(t, filepath.Dir(release), filepath.Base(release), "")
	left, err := worktree.Reopen(t.Context(), left)
	if err == nil {
		err = left.Ready(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(t, left); len(got) != 0 {
		t.Errorf("changes %v", got)
	}
	if s := run(t, left.Dir, "status", "--porcelain"); s != "M a.txt" {
		t.Errorf("the copy is %q", s)
	}
	if err := left.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCopyThatCannotBeFilledSaysWhy(t *testing.T) {
	t.Parallel()
	root := repository(t)
	holding(t, root)
	run(t, root, "config", "filter.hold.smudge", "false")
	tree := add(t, worktree.Options{Root: root, First: first()})
	if err := tree.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "fill the worktree") || !strings.Contains(err.Error(), "x.slow") {
		t.Errorf("error %v", err)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if s := run(t, root, "worktree", "list"); strings.Contains(s, tree.Dir) {
		t.Errorf("still there: %s", s)
	}
}

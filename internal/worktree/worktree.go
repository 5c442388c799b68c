// Package worktree makes copies of a git working tree for work in parallel: it adds them, reports what was
// changed in them, and removes them.
//
// It must not know who works in a copy or how the changes are used.
package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/launch"
)

// Tree is a working tree that Add made.
type Tree struct {
	Root   string // of the tree that it is a copy of
	Dir    string // its own folder
	Branch string
	Base   string   // the git tree that the work began with
	Copied []string // paths below Root that were copied or linked though git ignores them
	Shared []string // folders outside of Root that it may link to, because Root does and may use them
	Git    launch.Git

	filling *checkout // nil: all files exist, or that is unknown
}

// Options configure Add.
type Options struct {
	Git               launch.Git
	Root, Dir, Branch string
	// Commit is the commit that the copy is of; "" is the last one.
	Commit string
	// Uncommitted includes uncommitted changes.
	Uncommitted bool
	// Copy are paths below Root that git ignores and the work needs: files are copied, folders linked. Missing
	// ones are skipped.
	Copy []string
	// Shared are folders outside of Root that the copy may link to where Root does.
	Shared []string
	// First selects, from all paths that git supplies, those that exist when Add returns; the others follow in
	// the background (Ready, Stop). Nil: Add returns when all exist.
	First func(tracked []string) []string
}

// Add makes a copy of a commit in a new folder, on a new branch.
func Add(ctx context.Context, o Options) (Tree, error) {
	t := Tree{Root: o.Root, Dir: o.Dir, Branch: o.Branch, Copied: o.Copy, Shared: o.Shared, Git: o.Git}
	if inside(o.Root, o.Dir) {
		return t, fmt.Errorf("the folder %s of the copy lies inside the repository %s: set JCODE_HOME to a folder outside it", o.Dir, o.Root)
	}
	if err := copyable(ctx, o.Git, o.Root); err != nil {
		return t, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o700); err != nil {
		return t, fmt.Errorf("make worktree: %w", err)
	}
	if err := addEntry(ctx, o); err != nil {
		return t, fmt.Errorf("make worktree: %w", err)
	}
	if err := t.fill(ctx, o); err != nil {
		return t, errors.Join(err, t.Remove(context.WithoutCancel(ctx)))
	}
	return t, nil
}

// copyable returns an error that says why no copy of a folder can be made.
func copyable(ctx context.Context, by launch.Git, root string) error {
	switch within, err := git(ctx, by, root, nil, "rev-parse", "--is-inside-work-tree"); {
	case err != nil && strings.Contains(err.Error(), "not a git repository"):
		return fmt.Errorf("%s is in no git repository, so there is no commit to make a copy of: run git init and commit something, or work without isolation", root)
	case err != nil && !strings.Contains(err.Error(), "bare repository"):
		return fmt.Errorf("make worktree: %w", err)
	case err != nil, within != "true":
		return fmt.Errorf("%s has no files of its own to which changes could come back (it is a bare repository or the inside of one): start jcode in a worktree of it, or work without isolation", root)
	}
	if err := by.Vouched(root); err != nil {
		return fmt.Errorf("there is no copy of %s: %w. Work without isolation, or remove that from the repository and put it into your own git configuration", root, err)
	}
	if _, err := git(ctx, by, root, nil, "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		return fmt.Errorf("%s has no commit to make a copy of: commit something first, or work without isolation", root)
	}
	return nil
}

// Find returns a copy that Add made of root, as if no work had been done in it.
func Find(ctx context.Context, by launch.Git, root, dir string) (Tree, error) {
	t := Tree{Root: root, Dir: dir, Git: by}
	err := t.Check(ctx)
	if err == nil {
		t.Branch, err = git(ctx, by, dir, nil, "symbolic-ref", "--short", "HEAD")
	}
	if err == nil {
		if s, known := t.start(ctx); known {
			t.Base = s.base
		} else {
			t.Base, err = git(ctx, by, dir, nil, "rev-parse", "HEAD^{tree}")
		}
	}
	return t, err
}

// HasBranch reports whether a repository has the named branch.
func HasBranch(ctx context.Context, by launch.Git, root, branch string) bool {
	_, err := git(ctx, by, root, nil, "rev-parse", "--verify", "-q", "refs/heads/"+branch)
	return err == nil
}

// EmptySubmodules returns the folders of submodules that hold nothing in the copy, though they do in the original.
func (t Tree) EmptySubmodules(ctx context.Context) (names []string) {
	if _, err := os.Lstat(filepath.Join(t.Root, ".gitmodules")); err != nil {
		return nil // most have none
	}
	list, err := gitBytes(ctx, t.Git, t.Dir, nil, nil, "ls-files", "-s", "-z")
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(list), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(about, linkMode+" ") {
			continue
		}
		here, err := os.ReadDir(filepath.Join(t.Dir, filepath.FromSlash(name)))
		there, otherErr := os.ReadDir(filepath.Join(t.Root, filepath.FromSlash(name)))
		if (err != nil || len(here) == 0) && otherErr == nil && len(there) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// ErrGone says that the folder of a copy no longer exists.
var ErrGone = errors.New("the worktree is gone")

// Check returns an error that says what is wrong with the copy: gone, or not what it was.
func (t Tree) Check(ctx context.Context) error {
	if _, err := os.Stat(t.Dir); err != nil {
		return fmt.Errorf("%w: %s", ErrGone, t.Dir)
	}
	const common = "--git-common-dir"
	said, err := git(ctx, t.Git, t.Dir, nil, "rev-parse", "--path-format=absolute", "--show-toplevel", common)
	top, of, _ := strings.Cut(said, "\n")
	if err != nil || !same(top, t.Dir) {
		if t.removing(ctx) != "" {
			return fmt.Errorf("%w: the removal of %s was interrupted", ErrGone, t.Dir)
		}
		if t.husk(ctx) {
			return fmt.Errorf("%w: in %s is only what a killed git left", ErrGone, t.Dir)
		}
		return fmt.Errorf("%s is no longer a git worktree", t.Dir)
	}
	mine, err := git(ctx, t.Git, t.Root, nil, "rev-parse", "--path-format=absolute", common)
	if err != nil {
		return fmt.Errorf("%s, of which %s is a copy, can't be used as a git repository any more", t.Root, t.Dir)
	}
	if !same(mine, of) {
		return fmt.Errorf("%s belongs to another repository, %s", t.Dir, of)
	}
	return nil
}

// locked reports whether the copy is locked against removal, and the reason that was given.
func (t Tree) locked(ctx context.Context) (reason string, locked bool) {
	list, err := git(ctx, t.Git, t.Root, nil, "worktree", "list", "--porcelain")
	if err != nil {
		return "", false
	}
	for entry := range strings.SplitSeq(list, "\n\n") {
		lines := strings.Split(entry, "\n")
		if dir, _ := strings.CutPrefix(lines[0], "worktree "); filepath.Clean(filepath.FromSlash(dir)) != t.Dir {
			continue
		}
		for _, line := range lines {
			if rest, ok := strings.CutPrefix(line, "locked"); ok {
				return strings.TrimSpace(rest), true
			}
		}
	}
	return "", false
}

// Remove deletes the copy and its branch, whatever is in it. It is not an error if it is already gone.
func (t Tree) Remove(ctx context.Context) error {
	t.Stop()
	if t.Check(ctx) == nil {
		if dir, err := t.gitDir(ctx); err == nil { // without the mark, an interrupted removal is one that a person must finish
			_ = os.WriteFile(filepath.Join(dir, removingFile), nil, 0o600)
		}
	}
	if err := t.removeEntry(ctx); err != nil {
		return fmt.Errorf("remove worktree: %w", err)
	}
	if !HasBranch(ctx, t.Git, t.Root, t.Branch) {
		return nil
	}
	list, err := git(ctx, t.Git, t.Root, nil, "worktree", "list", "--porcelain")
	if err == nil && strings.Contains(list+"\n", "\nbranch refs/heads/"+t.Branch+"\n") {
		err = fmt.Errorf("%s is checked out in another worktree", t.Branch)
	}
	if err == nil {
		err = deleteBranch(ctx, t.Git, t.Root, t.Branch)
	}
	if err != nil {
		return fmt.Errorf("remove branch: %w", err)
	}
	return nil
}

// removeEntry removes the copy, but not its branch. It waits for a git that still adds it, and for what a killed one
// left to be old enough to be known as that.
func (t Tree) removeEntry(ctx context.Context) error {
	for began := time.Now(); ; {
		_, err := git(ctx, t.Git, t.Root, nil, "worktree", "remove", "--force", t.Dir)
		if err == nil || t.removed(ctx) {
			return nil
		}
		if _, fault := Repair(ctx, t.Git, t.Root, filepath.Dir(t.Dir)); fault != nil {
			return errors.Join(err, fault)
		}
		why, locked := t.locked(ctx)
		if _, gone := os.Stat(t.Dir); !locked && errors.Is(gone, fs.ErrNotExist) {
			return nil
		}
		switch {
		case (locked && why == initializing || t.adding(ctx)) && time.Since(began) < 2*addLimit:
		case locked:
			return fmt.Errorf("%s is locked (%s): run git worktree unlock %s first", t.Dir, cmp.Or(why, "no reason given"), t.Dir)
		case t.husk(ctx):
			return os.RemoveAll(t.Dir)
		default:
			return err
		}
		select {
		case <-time.After(addPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

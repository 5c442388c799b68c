package taskscli

import (
	"context"
	"fmt"
	"path/filepath"

	"jcode/internal/launch"
	"jcode/internal/worktree"
	"jcode/tasks"
	"jcode/tasks/clone"
)

// Checkout is the repository of a folder, opened for worktrees of it.
type Checkout struct {
	Root string
	Git  launch.Git
	// Trees is the folder of the worktrees of this project's own sessions.
	Trees string
	// Copy are paths that a worktree gets though git ignores them.
	Copy []string
	// Confined says that commands run in a sandbox there.
	Confined bool
	// Free returns a folder in Trees and a branch for a new worktree, with a number if its name is taken.
	Free func(ctx context.Context, name string) (dir, branch string)
	// Remove removes a worktree with its branch, unless something else is in its place.
	Remove func(ctx context.Context, tree worktree.Tree) error
	// Merge takes what was changed in a worktree to the folder, as files that are not committed, and says what is left.
	Merge func(ctx context.Context, tree worktree.Tree) (said string, left []string, err error)
	Close func()
}

// Tree opens the worktree that a task left.
func (c Checkout) Tree(ctx context.Context, t tasks.Task) (worktree.Tree, error) {
	if filepath.Dir(t.Dir) != c.Trees {
		return worktree.Tree{}, fmt.Errorf("%s is no worktree of %s", t.Dir, c.Root)
	}
	tree, err := worktree.Find(ctx, c.Git, c.Root, t.Dir)
	if err == nil {
		tree.Copied = c.Copy
		tree, err = worktree.Reopen(ctx, tree)
	}
	if err == nil {
		err = tree.Ready(ctx)
	}
	if err != nil {
		return worktree.Tree{}, fmt.Errorf("%w (jcode tasks retry %d begins again from the base)", err, t.ID)
	}
	return tree, nil
}

// RemoveTree removes the worktree and the branch of a task.
func (c Checkout) RemoveTree(ctx context.Context, t tasks.Task) error {
	if filepath.Dir(t.Dir) != c.Trees {
		return fmt.Errorf("%s is no worktree of %s", t.Dir, c.Root)
	}
	return c.Remove(ctx, worktree.Tree{Git: c.Git, Root: c.Root, Dir: t.Dir, Branch: t.Branch})
}

// inFolder opens the repository of a task.
func inFolder(ctx context.Context, std Setup, t tasks.Task, do func(c Checkout) error) error {
	found, err := std.Paths()
	if err != nil {
		return err
	}
	c, err := std.Open(ctx, Folder(found.Data, t))
	if err != nil {
		return fmt.Errorf("the folder of task %d: %w", t.ID, err)
	}
	defer c.Close()
	return do(c)
}

// Folder returns the folder of a task: that of its repository, or its clone in a data folder.
func Folder(data string, t tasks.Task) string {
	if t.Repo == "" {
		return t.Folder
	}
	return clone.In(data).Root(t.Repo)
}

// ShownPlace names where a task works.
func ShownPlace(t tasks.Task) string {
	if t.Repo == "" {
		return t.Folder
	}
	return t.Repo
}

package worktree

import (
	"context"
	"os"
	"path/filepath"

	"jcode/internal/launch"
	"jcode/internal/paths"
)

// snapshot writes a tree in its present state into git's object store, without touching its index, and returns
// git's tree of it.
func snapshot(ctx context.Context, by launch.Git, dir string) (string, error) {
	real, err := git(ctx, by, dir, nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp("", "jcode-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // nothing of it is needed
	index := filepath.Join(tmp, "index")
	if err := copyIndex(real, index); err != nil {
		return "", err
	}
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := git(ctx, by, dir, env, "add", "-A", "--", ":/"); err != nil {
		return "", err
	}
	return git(ctx, by, dir, env, "write-tree")
}

// maxIndex is the largest index of git that is copied, in bytes.
const maxIndex = 1 << 30

// copyIndex copies an index, if there is one: what git knows of unchanged files saves reading
// them. The copy keeps the time of the original. Files that are as new as the index are compared
// by content, as a change right after a checkout may leave size and time as they were.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return nil //nolint:nilerr // git reads all files then
	}
	data, err := paths.ReadFile(from, maxIndex)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

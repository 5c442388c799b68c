package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/launch"
)

// ErrLarge says that a bundle would be larger than allowed.
var ErrLarge = errors.New("the bundle is too large")

// Bundle returns what a branch has and a commit has not, as a git bundle of at most so many bytes.
func Bundle(ctx context.Context, by launch.Git, root, base, branch string, most int) ([]byte, error) {
	cmd, err := by.Command(ctx, root, "bundle", "create", "-q", "-", "refs/heads/"+branch, "^"+base)
	if err != nil {
		return nil, err
	}
	out, said := &limited{most: most}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, said, pipeDelay
	switch err := runChild(cmd); {
	case out.over:
		return nil, ErrLarge
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("git bundle: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return out.kept.Bytes(), nil
}

// limited is a buffer that refuses to grow above a size.
type limited struct {
	kept bytes.Buffer // a field: io.Copy would go around Write by the methods of a buffer
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.over = l.over || l.kept.Len()+len(p) > l.most; l.over {
		return 0, ErrLarge
	}
	return l.kept.Write(p)
}

// Unbundle adds the objects of a bundle to a repository, without a branch, and checks that a commit is whole with them.
func Unbundle(ctx context.Context, by launch.Git, root string, data []byte, base, commit string) (err error) {
	dir, err := os.MkdirTemp("", "bundle-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "bundle")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	if _, err := git(ctx, by, root, nil, "bundle", "unbundle", file); err != nil {
		return err
	}
	if _, err := git(ctx, by, root, nil, "rev-list", "--objects", "--quiet", commit, "^"+base); err != nil {
		return err
	}
	return nil
}

// Become makes the files of the copy those of a commit. The work began with what was there before.
func (t Tree) Become(ctx context.Context, commit string) error {
	if err := t.Git.Vouched(t.Dir); err != nil {
		return err
	}
	_, err := git(ctx, t.Git, t.Dir, nil, "-c", "checkout.workers=0", "read-tree", "--reset", "-u", commit)
	return err
}

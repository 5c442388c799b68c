package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"jcode/internal/launch"
)

const (
	pushLimit = 2 * time.Minute
	pushTries = 3
	pushWait  = 2 * time.Second
)

// Remote returns an error unless a repository has a remote of this name.
func Remote(ctx context.Context, by launch.Git, root, name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`).MatchString(name) {
		return fmt.Errorf("%q is no name of a remote: git remote lists them", name)
	}
	if _, err := git(ctx, by, root, nil, "config", "--get", "remote."+name+".url"); err != nil {
		return fmt.Errorf("%s has no remote %q: git remote lists them, git remote add makes one", root, name)
	}
	return nil
}

// Push pushes a commit as a new branch to a remote of a repository, without hooks. It never replaces a branch.
func Push(ctx context.Context, by launch.Git, root, remote, commit, branch string) error {
	if err := Remote(ctx, by, root, remote); err != nil {
		return err
	}
	if err := by.Vouched(root); err != nil {
		return err
	}
	var err error
	for try := range pushTries {
		if try > 0 {
			select {
			case <-time.After(pushWait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err = push(ctx, by, root, remote, commit, branch); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func push(ctx context.Context, by launch.Git, root, remote, commit, branch string) error {
	ctx, cancel := context.WithTimeout(ctx, pushLimit)
	defer cancel()
	cmd, err := by.Remote(ctx, root, "push", "--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no", "--", remote, commit+":refs/heads/"+branch)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &said, pipeDelay
	if err := runChild(cmd); err != nil {
		if ctx.Err() != nil {
			err = errors.New("the remote did not answer")
		}
		if text := strings.TrimSpace(said.String()); text != "" {
			err = errors.New(strings.Join(strings.Fields(text), " "))
		}
		return fmt.Errorf("git push %s: %w", remote, err)
	}
	return nil
}

package worktree

import (
	"context"
	"fmt"
	"strings"

	"jcode/internal/launch"
)

// Commits names the commits of the copy that are on no other branch, "" for none.
func (t Tree) Commits(ctx context.Context) string {
	head := "HEAD"
	if s, known := t.start(ctx); known {
		head = s.head
	}
	return t.commitsSince(ctx, head)
}

func (t Tree) commitsSince(ctx context.Context, head string) string {
	count, err := git(ctx, t.Git, t.Dir, nil, "rev-list", "--count", "HEAD", "refs/heads/"+t.Branch, "--not", head,
		"--exclude="+t.Branch, "--branches", "--tags", "--remotes")
	if err != nil || count == "0" {
		return "" // the branch is gone, or was moved to where a person wanted it
	}
	return fmt.Sprintf("commits of the branch %s (%s, nowhere else: git merge takes them over)", t.Branch, count)
}

// Commit commits what was done in the copy, new files included, with a message that ends with trailers ("Name: value").
// Where everything is committed already, the last commit gets the trailers. It returns the last commit, "" if the copy
// has none of its own.
func (t Tree) Commit(ctx context.Context, message string, trailers ...string) (commit string, err error) {
	if err := t.Git.Vouched(t.Dir); err != nil {
		return "", err
	}
	s, known := t.start(ctx)
	if !known {
		return "", fmt.Errorf("commit: it is not known what %s began with", t.Dir)
	}
	if _, err := git(ctx, t.Git, t.Dir, nil, "add", "-A"); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	staged, err := git(ctx, t.Git, t.Dir, nil, "status", "--porcelain", "-uno", "--ignore-submodules=all")
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	head, err := git(ctx, t.Git, t.Dir, nil, "rev-parse", "HEAD")
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	if staged == "" && head == s.head {
		return "", nil
	}
	args := []string{"commit", "-q", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace"}
	for _, trailer := range trailers {
		args = append(args, "--trailer", trailer)
	}
	if staged == "" {
		args = append(args, "--amend", "--no-edit")
	} else {
		args = append(args, "-F", "-")
	}
	if _, err := gitInput(ctx, t.Git, t.Dir, t.identity(ctx), strings.NewReader(message), args...); err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return git(ctx, t.Git, t.Dir, nil, "rev-parse", "HEAD")
}

// identity returns variables that name an author, where git knows none.
func (t Tree) identity(ctx context.Context) []string {
	if _, err := git(ctx, t.Git, t.Dir, nil, "var", "GIT_AUTHOR_IDENT"); err == nil {
		return nil
	}
	return []string{"GIT_AUTHOR_NAME=jcode", "GIT_AUTHOR_EMAIL=jcode@localhost", "GIT_COMMITTER_NAME=jcode", "GIT_COMMITTER_EMAIL=jcode@localhost"}
}

// Head returns the last commit of a repository that copies can be made of.
func Head(ctx context.Context, by launch.Git, root string) (string, error) {
	if err := copyable(ctx, by, root); err != nil {
		return "", err
	}
	return git(ctx, by, root, nil, "rev-parse", "HEAD")
}

// Has reports whether a repository has a commit.
func Has(ctx context.Context, by launch.Git, root, commit string) bool {
	_, err := git(ctx, by, root, nil, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// Between returns what differs between a commit and a branch since they parted, as git shows it.
func Between(ctx context.Context, by launch.Git, root, commit, branch string) (string, error) {
	return git(ctx, by, root, nil, "diff", "--no-ext-diff", "--no-textconv", commit+"..."+branch, "--")
}

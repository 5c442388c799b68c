package worktree

import (
	"context"
	"fmt"
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

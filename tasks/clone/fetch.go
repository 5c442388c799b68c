package clone

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"jcode/internal/worktree"
)

// fetch brings a commit, and all branches and tags, into the objects of the clone.
func (c Clones) fetch(ctx context.Context, p place, commit string) error {
	refs := []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}
	_, err := c.fetched(ctx, p, append([]string{"--prune"}, refs...)...)
	if err != nil && strings.Contains(err.Error(), "bad object") { // objects were removed from the clone
		if err := errors.Join(os.RemoveAll(p.mirror), c.begin(ctx, p)); err != nil {
			return err
		}
		_, err = c.fetched(ctx, p, refs...)
	}
	if err != nil {
		return err
	}
	if !worktree.Has(ctx, c.git, p.root, commit) { // no branch leads to it any more: most hosts still have it for a while
		_, err = c.fetched(ctx, p, commit)
	}
	if !worktree.Has(ctx, c.git, p.root, commit) {
		if errors.Is(err, ErrUnreachable) && strings.Contains(err.Error(), "did not answer") {
			return err
		}
		return fmt.Errorf("%w: %s is not in %s any more, which may have been rewritten. Add the task again, with --base if it is to begin elsewhere", ErrGone, commit, p.address)
	}
	return c.named(ctx, p)
}

// named gives the clone the branches and tags of the host, so that its objects are kept and can be named.
func (c Clones) named(ctx context.Context, p place) error {
	list, err := c.own(ctx, p.mirror, "--git-dir="+p.mirror, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
	if err != nil {
		return err
	}
	var updates, deletes bytes.Buffer
	now := map[string]bool{}
	for line := range strings.Lines(list) {
		id, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if branch, is := strings.CutPrefix(name, "refs/heads/"); is {
			name = "refs/remotes/origin/" + branch
		}
		if now[name] = ok; ok {
			fmt.Fprintf(&updates, "update %s %s\n", name, id)
		}
	}
	before, err := c.own(ctx, p.root, "for-each-ref", "--format=%(refname)", "refs/remotes/origin", "refs/tags")
	if err != nil {
		return err
	}
	for name := range strings.Lines(before) {
		if name = strings.TrimSpace(name); !now[name] {
			fmt.Fprintf(&deletes, "delete %s\n", name)
		}
	}
	for _, in := range []*bytes.Buffer{&deletes, &updates} { // a branch may have become a folder of branches
		cmd, err := c.git.Command(ctx, p.root, "update-ref", "--stdin")
		if err != nil {
			return err
		}
		cmd.Stdin = in
		if _, err := run(ctx, cmd, "update-ref"); err != nil {
			return err
		}
	}
	return nil
}

// fetched fetches by the mirror, whose objects are those of the clone.
func (c Clones) fetched(ctx context.Context, p place, refs ...string) (string, error) {
	args := []string{"--git-dir=" + p.mirror, "fetch", "--quiet", "--no-tags", "--no-auto-maintenance", "--no-write-fetch-head", "--recurse-submodules=no"}
	at := len(args)
	for at > 0 && len(refs) > 0 && strings.HasPrefix(refs[0], "--") {
		args, refs = append(args, refs[0]), refs[1:]
	}
	return c.remote(ctx, p.mirror, cmp.Or(c.Fetch, fetchLimit), p, append(append(args, "--", p.address), refs...)...)
}

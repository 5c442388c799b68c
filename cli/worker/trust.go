package workercli

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/internal/worktree"
	"jcode/tasks/clone"
)

// trust shows what the repository of an address would run at its base, and keeps the person's answer. Until the next
// change of exactly that, it counts for tasks of the address in this data folder.
func (c *Cmd) trust(ctx context.Context, std Setup) (err error) {
	if err := clone.Check(c.Address); err != nil {
		return console.Usage("--trust: %w", err)
	}
	found, err := std.Paths()
	if err != nil {
		return err
	}
	root, commit, err := clone.In(found.Data).Prepare(ctx, c.Address, c.Base)
	if err != nil {
		return console.Usage("%w", err)
	}
	home, err := std.Repository(ctx, root)
	if err != nil {
		return err
	}
	defer home.Close()
	dir, branch := home.Free(ctx, "trust-"+uuid.NewString()[:8])
	tree, err := worktree.Add(ctx, worktree.Options{Git: home.Git, Root: home.Root, Dir: dir, Branch: branch, Commit: commit})
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { err = errors.Join(err, tree.Remove(context.WithoutCancel(ctx))) }()
	items, err := home.Inert(ctx, tree)
	if err != nil {
		return err
	}
	q, pending, err := home.Trust.Question(ctx, items)
	if err == nil && !pending {
		q, pending, err = home.Trust.Again(ctx, items) // what was refused before
	}
	switch {
	case err != nil:
		return err
	case !pending:
		fmt.Fprintf(std.Out, "nothing of %s waits for trust at %s\n", c.Address, commit)
		return nil
	}
	for _, line := range q.Lines() {
		fmt.Fprintln(std.Out, text.Visible(line))
	}
	if !console.Confirm(std.In, std.Out, fmt.Sprintf("Tasks of %s would use or run this, as it is at %s. Trust exactly that?", c.Address, commit)) {
		return console.Usage("nothing of %s is trusted: its tasks work without", c.Address)
	}
	if err := home.Trust.Accept(ctx, q.All(), true); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "trusted. If a commit changes any of it, that part waits for trust again\n")
	return nil
}

package crew

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"jcode/internal/text"
	"jcode/tools"
)

// claimsMost is how many files and folders one claim may name.
const claimsMost = 50

// claim records which files the conversation is about to work on, and tells all running agents of the tree. A
// claim locks nothing, so nobody ever waits for an agent that has ended.
func (c *Crew) claim(ctx context.Context, paths []string) (tools.Result, error) {
	if len(paths) == 0 || len(paths) > claimsMost {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "a claim names 1 to %d files or folders in paths", claimsMost)
	}
	whole := make([]string, len(paths))
	for i, path := range paths {
		whole[i] = path
		if !filepath.IsAbs(path) {
			whole[i] = filepath.Join(c.opt.Cwd, path)
		}
		whole[i] = filepath.Clean(whole[i])
		if real, err := filepath.EvalSymlinks(whole[i]); err == nil {
			whole[i] = real
		}
	}
	if err := c.opt.Store.Edits().Claim(ctx, c.host.ID(), whole); err != nil {
		return tools.Result{}, err
	}
	c.claimed.Store(true)
	others, err := c.claims(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	who := "The conversation that started you"
	if c.above != nil {
		who = "The agent " + c.host.Label()
	}
	c.all.Tell(c.host.ID(), fmt.Sprintf("%s is about to work on %s.", who, text.Cut(strings.Join(whole, ", "), 1000)))
	return tools.Result{Text: strings.TrimSpace("The others are told.\n" + others)}, nil
}

// claims lists what others are about to work on, one per line.
func (c *Crew) claims(ctx context.Context) (string, error) {
	list, err := c.opt.Store.Edits().Claims(ctx, c.host.ID(), "")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, claim := range list {
		fmt.Fprintf(&b, "%s works on %s\n", claim.Who(), claim.Path)
	}
	return b.String(), nil
}

// Unclaim drops the conversation's claim when its turn ends.
func (c *Crew) Unclaim() {
	if !c.claimed.Swap(false) {
		return
	}
	c.host.Write("end claim", func(ctx context.Context) error { return c.opt.Store.Edits().Claim(ctx, c.host.ID(), nil) })
}

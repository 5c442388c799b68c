package sessionscli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/cli/console"
	"jcode/cli/undo"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session"
)

// undoArgs say which session, and whether to ask.
type undoArgs struct {
	Session string `arg:"" optional:"" help:"ID, its end, or title; the last session of this folder by default."`
	Yes     bool   `short:"y" help:"Do it without a question."`
}

type undoCmd struct{ undoArgs }

// Run shows what an undo would change, and does it.
func (c *undoCmd) Run(ctx context.Context, std Setup) error {
	return c.run(ctx, std, "undo", (*session.Checkpoints).Changes, (*session.Checkpoints).Undo)
}

type redoCmd struct{ undoArgs }

// Run shows what a redo would change, and does it.
func (c *redoCmd) Run(ctx context.Context, std Setup) error {
	return c.run(ctx, std, "redo", (*session.Checkpoints).Undone, (*session.Checkpoints).Redo)
}

func (u undoArgs) run(ctx context.Context, std Setup, verb string,
	turns func(*session.Checkpoints, context.Context, string) ([]session.TurnChanges, error),
	do func(*session.Checkpoints, context.Context, string) (session.UndoReport, error),
) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	found, err := Named(ctx, a.Store, a.Project, u.Session)
	if err != nil {
		return err
	}
	hold, err := a.Store.Hold(found.ID)
	if _, held := errors.AsType[*session.HeldError](err); held {
		return console.Usage("%w: /%s there does it", err, verb)
	}
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { _ = hold.Release() }() // it ends with the process
	undo.Finish(ctx, a.Store.Checkpoints(), a.Say, found.ID)
	checkpoints := a.Store.Checkpoints()
	all, err := turns(checkpoints, ctx, found.ID)
	if err != nil {
		return console.Usage("%w", err)
	}
	if verb == "undo" {
		slices.Reverse(all)
	}
	at := slices.IndexFunc(all, func(t session.TurnChanges) bool { return len(t.Paths) > 0 })
	if at < 0 {
		return console.Usage("there is nothing to %s in %s", verb, text.Visible(found.Title))
	}
	fmt.Fprintf(std.Out, "%s of %q:\n", verb, text.Visible(found.Title))
	shown := func(path string) string {
		if rel, err := filepath.Rel(a.Root, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
		return text.Visible(path)
	}
	for _, line := range undo.ByAuthor(slicex.Map(all[at].Paths, func(path string) undo.Line { return undo.Line{By: all[at].By[path], Text: shown(path)} })) {
		fmt.Fprintln(std.Out, "  "+line)
	}
	if !u.Yes {
		if !std.InIsTerminal {
			return console.Usage("nobody can be asked here; --yes does what is shown above")
		}
		if !console.Confirm(std.In, std.Out, strings.ToUpper(verb[:1])+verb[1:]+" these files?") {
			return &console.Exit{Code: console.ExitUsage, Err: errors.New("nothing was changed")}
		}
	}
	report, err := do(checkpoints, ctx, found.ID)
	fmt.Fprintln(std.Out, undo.Lines(report, shown))
	switch {
	case err != nil:
		return console.Usage("%w", err)
	case len(report.Skipped) > 0:
		return &console.Exit{Code: console.ExitModel, Silent: true, Err: errors.New("some files were left alone")}
	}
	return nil
}

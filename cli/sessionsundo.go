package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/cli/board"
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

type sessionsUndoCmd struct{ undoArgs }

// Run shows what an undo would change, and does it.
func (c *sessionsUndoCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return c.run(ctx, f, std, "undo", (*session.Checkpoints).Changes, (*session.Checkpoints).Undo)
}

type sessionsRedoCmd struct{ undoArgs }

// Run shows what a redo would change, and does it.
func (c *sessionsRedoCmd) Run(ctx context.Context, f *flags, std Streams) error {
	return c.run(ctx, f, std, "redo", (*session.Checkpoints).Undone, (*session.Checkpoints).Redo)
}

func (u undoArgs) run(ctx context.Context, f *flags, std Streams, verb string,
	turns func(*session.Checkpoints, context.Context, string) ([]session.TurnChanges, error),
	do func(*session.Checkpoints, context.Context, string) (session.UndoReport, error),
) error {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	found, err := a.named(ctx, u.Session)
	if err != nil {
		return err
	}
	hold, err := a.store.Hold(found.ID)
	if _, held := errors.AsType[*session.HeldError](err); held {
		return console.Usage("%w: /%s there does it", err, verb)
	}
	if err != nil {
		return console.Usage("%w", err)
	}
	defer func() { _ = hold.Release() }() // it ends with the process
	finishUndo(ctx, a.store, &a.board, found.ID)
	checkpoints := a.store.Checkpoints()
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
		if rel, err := filepath.Rel(a.root, path); err == nil && filepath.IsLocal(rel) {
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

// finishUndo finishes an undo or redo of a session in whose middle jcode was killed, and says so.
func finishUndo(ctx context.Context, store *session.Store, b *board.Board, id string) {
	report, finished, err := store.Checkpoints().Finish(ctx, id)
	if err != nil {
		b.Say(event.LevelWarn, "an undo or redo that was interrupted can't be finished: %v", err)
	}
	if finished {
		b.Say(event.LevelInfo, "jcode was killed in the middle of an undo or redo of this session: it is finished now: %s", undo.Lines(report, text.Visible))
	}
}

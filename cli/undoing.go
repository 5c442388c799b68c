package cli

import (
	"context"
	"fmt"
	"strings"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/cli/undo"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// undoing takes back what a session's turns did: the files that they changed, and the messages.
type undoing struct {
	store   *session.Store
	board   *board.Board
	seen    *builtin.Seen
	shown   func(path string) string                      // the name of a file in texts
	unsaved func(ctx context.Context, path string) string // why an editor's file must be left alone
}

func newUndoing(a *app) undoing {
	return undoing{a.store, &a.board, a.seen, a.workspace.Shown, a.changes.Unsaved}
}

// checkpoints returns those that leave alone what an editor has not saved.
func (u undoing) checkpoints() *session.Checkpoints {
	return u.store.Checkpoints().Guarded(u.unsaved)
}

// undo puts back what the last turn of a session changed, redo what the last undo put back.
func (u undoing) undo(ctx context.Context, id string) (said string, err error) {
	return u.step(ctx, id, "Undid", u.checkpoints().Undo)
}

func (u undoing) redo(ctx context.Context, id string) (said string, err error) {
	return u.step(ctx, id, "Redid", u.checkpoints().Redo)
}

func (u undoing) step(ctx context.Context, id, did string, f func(context.Context, string) (session.UndoReport, error)) (said string, err error) {
	if id == "" {
		return "", core.ErrNoMessages
	}
	report, err := f(ctx, id)
	if err != nil {
		return "", err
	}
	u.written(report)
	u.board.Tell(did + " by the user: " + undo.Lines(report, u.shown))
	other := "/redo reverses it"
	if did == "Redid" {
		other = "/undo puts it back"
	}
	return did + u.turnName(ctx, id, report.Turn) + ": " + undo.Lines(report, u.shown) + "\n" + other + ".", nil
}

// turnName names the turn of a prompt by its number and how it begins; "" if unknown.
func (u undoing) turnName(ctx context.Context, id string, turn int) string {
	if name, err := u.store.Checkpoints().NameOf(ctx, id, turn); err == nil && name != "" {
		return " " + text.Visible(name)
	}
	rows, err := u.store.History().All(ctx, id)
	if err != nil {
		return "" // the files are what matters
	}
	for i, m := range userMessages(rows) {
		if int(m.Seq) == turn {
			return fmt.Sprintf(" turn #%d", i+1)
		}
	}
	return ""
}

// written keeps the changes of an undo from being attributed to a command that runs meanwhile.
func (u undoing) written(r session.UndoReport) {
	for _, c := range r.Restored {
		u.seen.Written(c.Path)
	}
}

// rewind goes back to before a message of the user: with the conversation, the files, or both.
func (u undoing) rewind(ctx context.Context, conv *agent.Conversation, target session.Message, what string) (command.Outcome, error) {
	var notice string
	if what != "" {
		reports, err := u.checkpoints().UndoFrom(ctx, conv.ID(), int(target.Seq))
		if err != nil {
			return command.Outcome{}, err
		}
		for _, r := range reports {
			u.written(r)
			notice += undo.Lines(r, u.shown) + "\n"
		}
	}
	if what == "files" {
		return command.Outcome{Notice: strings.TrimSpace(notice)}, nil
	}
	if err := conv.Rewind(ctx, target.Seq); err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Notice: strings.TrimSpace(notice + "Rewound: the message is back in the input."), Draft: target.Shown()}, nil
}

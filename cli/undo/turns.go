package undo

import (
	"context"
	"fmt"
	"strings"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/core"

	"jcode/internal/text"
	"jcode/session"
	"jcode/tools/builtin"
	"jcode/tools/command"
)

// Turns takes back what a session's turns did: the files that they changed, and the messages.
type Turns struct {
	Store   *session.Store
	Board   *board.Board
	Seen    *builtin.Seen
	Shown   func(path string) string                      // the name of a file in texts
	Unsaved func(ctx context.Context, path string) string // why an editor's file must be left alone
}

// guarded returns those that leave alone what an editor has not saved.
func (u Turns) guarded() *session.Checkpoints {
	return u.Store.Checkpoints().Guarded(u.Unsaved)
}

// Undo puts back what the last turn of a session changed, redo what the last undo put back.
func (u Turns) Undo(ctx context.Context, id string) (said string, err error) {
	return u.step(ctx, id, "Undid", u.guarded().Undo)
}

func (u Turns) Redo(ctx context.Context, id string) (said string, err error) {
	return u.step(ctx, id, "Redid", u.guarded().Redo)
}

func (u Turns) step(ctx context.Context, id, did string, f func(context.Context, string) (session.UndoReport, error)) (said string, err error) {
	if id == "" {
		return "", core.ErrNoMessages
	}
	report, err := f(ctx, id)
	if err != nil {
		return "", err
	}
	u.written(report)
	u.Board.Tell(did + " by the user: " + Lines(report, u.Shown))
	other := "/redo reverses it"
	if did == "Redid" {
		other = "/undo puts it back"
	}
	return did + u.turnName(ctx, id, report.Turn) + ": " + Lines(report, u.Shown) + "\n" + other + ".", nil
}

// turnName names the turn of a prompt by its number and how it begins; "" if unknown.
func (u Turns) turnName(ctx context.Context, id string, turn int) string {
	if name, err := u.Store.Checkpoints().NameOf(ctx, id, turn); err == nil && name != "" {
		return " " + text.Visible(name)
	}
	rows, err := u.Store.History().All(ctx, id)
	if err != nil {
		return "" // the files are what matters
	}
	for i, m := range Prompts(rows) {
		if int(m.Seq) == turn {
			return fmt.Sprintf(" turn #%d", i+1)
		}
	}
	return ""
}

// written keeps the changes of an undo from being attributed to a command that runs meanwhile.
func (u Turns) written(r session.UndoReport) {
	for _, c := range r.Restored {
		u.Seen.Written(c.Path)
	}
}

// Rewind goes back to before a message of the user: with the conversation, the files, or both.
func (u Turns) Rewind(ctx context.Context, conv *agent.Conversation, target session.Message, what string) (command.Outcome, error) {
	var notice string
	if what != "" {
		reports, err := u.guarded().UndoFrom(ctx, conv.ID(), int(target.Seq))
		if err != nil {
			return command.Outcome{}, err
		}
		for _, r := range reports {
			u.written(r)
			notice += Lines(r, u.Shown) + "\n"
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

// Prompts returns the messages of the user among rows.
func Prompts(rows []session.Message) []session.Message {
	var out []session.Message
	for _, r := range rows {
		if r.Role == session.RoleUser { // also one that a summary replaces: a rewind revives it
			out = append(out, r)
		}
	}
	return out
}

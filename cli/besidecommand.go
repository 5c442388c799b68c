package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"jcode/agent/roster"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools/command"
)

// worktreeCommand is /worktree: where the session works.
type worktreeCommand struct {
	here  standing
	trees string // the folder of the worktrees of sessions
	store *session.Store
	board *board.Board
	leave context.CancelCauseFunc // ends the chat with where it goes on
}

func newWorktreeCommand(a *app, leave context.CancelCauseFunc) worktreeCommand {
	return worktreeCommand{a.beside, besidesOf(a), a.store, &a.board, leave}
}

// List implements command.Source.
func (w worktreeCommand) List() []command.Command {
	return []command.Command{{
		Name: "worktree", Hint: "[name [carry]|merge|leave|move name]", Run: w.run, Complete: w.complete,
		Apart:       func(args string) bool { return strings.TrimSpace(args) != "" },
		Description: "work in a git worktree of your own, merge it, or go elsewhere",
	}}
}

func (w worktreeCommand) complete(_ context.Context, args string) []string {
	words := append([]string{"merge", "leave", "move "}, w.names()...)
	return slicex.WithPrefix(words, args)
}

// names returns the worktrees that sessions of the project have left.
func (w worktreeCommand) names() (out []string) {
	entries, err := os.ReadDir(w.trees)
	if err != nil {
		return nil // there is none yet
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (w worktreeCommand) run(ctx context.Context, args string) (command.Outcome, error) {
	words := strings.Fields(args)
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	here := w.here
	switch first {
	case "merge", "leave":
		if here.name == "" {
			return command.Outcome{}, errors.New("this session works in the checkout itself: /worktree NAME moves it into a worktree")
		}
		if len(words) > 1 {
			return command.Outcome{}, fmt.Errorf("/worktree %s accepts no further arguments", first)
		}
	case "move":
		if len(words) < 2 {
			return command.Outcome{}, errors.New("/worktree move NAME: to which worktree? " + w.known())
		}
		words = words[1:]
	}
	switch first {
	case "merge":
		said, err := here.merge(ctx, w.board.Session())
		if err != nil {
			return command.Outcome{}, err
		}
		w.board.Tell("The user had the changes of this worktree merged into " + here.root + ".")
		return command.Outcome{Notice: text.Visible(said) + "\n/undo takes that back; /worktree leave goes on in the checkout."}, nil
	case "leave":
		return w.move(ctx, &moveError{})
	case "":
		if here.name == "" {
			return w.move(ctx, &moveError{tree: anyTree})
		}
		_, left, err := here.settled(ctx)
		if err != nil {
			return command.Outcome{}, err
		}
		if left == "" {
			left = "nothing that is not in the checkout"
		}
		return command.Outcome{Page: "Worktree", Notice: fmt.Sprintf("This session works in the worktree %s: %s, branch %s, a copy of %s.\nIt holds %s.\n%s", here.name, here.dir, here.branch, here.root, left, w.known())}, nil
	}
	if len(words) > 2 || len(words) == 2 && words[1] != "carry" {
		return command.Outcome{}, fmt.Errorf("/worktree %s: say a name, and carry if what is not committed shall come along", args)
	}
	name, err := besideName(words[0], "")
	if err != nil {
		return command.Outcome{}, err
	}
	if here.name == name {
		return command.Outcome{}, fmt.Errorf("this session works in %s already", name)
	}
	return w.move(ctx, &moveError{tree: name, carry: len(words) == 2})
}

func (w worktreeCommand) known() string {
	if names := w.names(); len(names) > 0 {
		return "Worktrees of this project: " + strings.Join(names, ", ") + "."
	}
	return "There is no other worktree."
}

// move ends the chat here and lets it go on elsewhere.
func (w worktreeCommand) move(ctx context.Context, to *moveError) (command.Outcome, error) {
	conv := w.board.Open()
	if conv == nil {
		return command.Outcome{}, errors.New("not before the session is ready")
	}
	switch {
	case conv.Private():
		return command.Outcome{}, fmt.Errorf("%w, worktrees included", core.ErrPrivate)
	case conv.State().Busy:
		return command.Outcome{}, errors.New("the session is at work: interrupt it, or wait until the turn has ended")
	case slices.ContainsFunc(conv.Agents().List(), roster.State.Running):
		return command.Outcome{}, errors.New("agents of this session are at work here: wait for them, or end them first (/agents)")
	}
	to.session, to.mode, to.model = conv.ID(), string(conv.Mode()), conv.OwnModel()
	if to.tree == "" && to.session != "" {
		home := w.here.cwd
		if err := w.store.Update(ctx, to.session, session.Change{Cwd: &home}); err != nil {
			return command.Outcome{}, err
		}
	}
	if to.tree == anyTree { // it is called as the session
		if row, err := w.store.Get(ctx, to.session); err == nil {
			if name, err := besideName("", row.Title); err == nil {
				to.tree += name
			}
		}
	}
	w.leave(to)
	return command.Outcome{}, to
}

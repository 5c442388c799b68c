package worktreescli

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

// Command is /worktree: where the session works.
type Command struct {
	Here  Place
	Trees string // the folder of the worktrees of sessions
	Store *session.Store
	Board *board.Board
	Leave context.CancelCauseFunc // ends the chat with where it goes on
}

// List implements command.Source.
func (w Command) List() []command.Command {
	return []command.Command{{
		Name: "worktree", Hint: "[name [carry]|merge|leave|move name]", Run: w.run, Verbs: w.verbs(),
		Complete:    func(_ context.Context, args string) []string { return slicex.WithPrefix(w.names(), args) },
		Apart:       func(args string) bool { return strings.TrimSpace(args) != "" },
		Description: "work in a git worktree of your own, merge it, or go elsewhere",
	}}
}

// verbs are the words of /worktree; others name a worktree.
func (w Command) verbs() command.Verbs {
	return command.Verbs{
		{Name: "merge", Help: "merge the changes of this worktree into the checkout"},
		{Name: "leave", Help: "go on in the checkout"},
		{Name: "move", Hint: "NAME", Help: "go on in the worktree of that name", Complete: func(context.Context, string) []string { return w.names() }},
	}
}

// names returns the worktrees that sessions of the project have left.
func (w Command) names() (out []string) {
	entries, err := os.ReadDir(w.Trees)
	if err != nil {
		return nil // there is none yet
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (w Command) run(ctx context.Context, args string) (command.Outcome, error) {
	words := strings.Fields(args)
	first := ""
	if len(words) > 0 {
		first = words[0]
	}
	here := w.Here
	switch first {
	case "merge", "leave":
		if here.Name == "" {
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
		said, err := here.Merge(ctx, w.Board.Session())
		if err != nil {
			return command.Outcome{}, err
		}
		w.Board.Tell("The user had the changes of this worktree merged into " + here.Root + ".")
		return command.Outcome{Notice: text.Visible(said) + "\n/undo takes that back; /worktree leave goes on in the checkout."}, nil
	case "leave":
		return w.move(ctx, &Move{})
	case "":
		if here.Name == "" {
			return w.move(ctx, &Move{Tree: AnyName})
		}
		_, left, err := here.Settled(ctx)
		if err != nil {
			return command.Outcome{}, err
		}
		if left == "" {
			left = "nothing that is not in the checkout"
		}
		return command.Outcome{Page: "Worktree", Notice: fmt.Sprintf("This session works in the worktree %s: %s, branch %s, a copy of %s.\nIt holds %s.\n%s", here.Name, here.Dir, here.Branch, here.Root, left, w.known())}, nil
	}
	if len(words) > 2 || len(words) == 2 && words[1] != "carry" {
		return command.Outcome{}, fmt.Errorf("/worktree %s: say a name, and carry if what is not committed shall come along", args)
	}
	name, err := NameFor(words[0], "")
	if err != nil {
		return command.Outcome{}, err
	}
	if here.Name == name {
		return command.Outcome{}, fmt.Errorf("this session works in %s already", name)
	}
	return w.move(ctx, &Move{Tree: name, Carry: len(words) == 2})
}

func (w Command) known() string {
	if names := w.names(); len(names) > 0 {
		return "Worktrees of this project: " + strings.Join(names, ", ") + "."
	}
	return "There is no other worktree."
}

// move ends the chat here and lets it go on elsewhere.
func (w Command) move(ctx context.Context, to *Move) (command.Outcome, error) {
	conv := w.Board.Open()
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
	to.Session, to.Mode, to.Model = conv.ID(), string(conv.Mode()), conv.OwnModel()
	if to.Tree == "" && to.Session != "" {
		home := w.Here.Cwd
		if err := w.Store.Update(ctx, to.Session, session.Change{Cwd: &home}); err != nil {
			return command.Outcome{}, err
		}
	}
	if to.Tree == AnyName { // it is called as the session
		if row, err := w.Store.Get(ctx, to.Session); err == nil {
			if name, err := NameFor("", row.Title); err == nil {
				to.Tree += name
			}
		}
	}
	w.Leave(to)
	return command.Outcome{}, to
}

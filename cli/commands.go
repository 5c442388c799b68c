package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/cli/core"
	"jcode/cli/manual"
	rolescli "jcode/cli/roles"
	skillscli "jcode/cli/skills"
	"jcode/cli/typed"
	"jcode/cli/undo"
	"jcode/cli/usage"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/mcp"
	"jcode/session"
	"jcode/session/export"
	"jcode/tools/command"
)

// personCommands are the slash commands that need more than the terminal.
type personCommands struct {
	s        *sessions
	flags    *flags
	std      Streams
	store    *session.Store
	board    *board.Board
	guidance *skillscli.Guidance
	mcp      *mcp.Manager // nil with --no-mcp
	drafts   typed.History
	undoing  undo.Turns
	// beginPrivate says whether new conversations are private.
	beginPrivate *atomic.Bool
}

func newPersonCommands(a *app, s *sessions) personCommands {
	return personCommands{s, a.flags, a.std, a.store, &a.board, a.guidance, a.mcp, newHistory(a), newUndoing(a), &a.private}
}

// List implements command.Source.
func (p personCommands) List() []command.Command {
	inRole := rolescli.ChatCommand{Open: p.s.conv}
	list := []command.Command{
		{Name: "undo", Description: "restore the files changed by the last turn", Run: p.undo},
		{Name: "redo", Description: "redo the changes that the last /undo reverted", Run: p.redo},
		{Name: "rewind", Hint: "<message> [files|both]", Description: "go back to before an earlier message", Run: p.rewind},
		{Name: "regenerate", Description: "ask again for the last answer", Run: p.regenerate},
		{Name: "continue", Description: "let the model continue a cut answer", Run: p.goOn},
		{Name: "export", Hint: "[file.md|.json|.html]", Description: "write this session to a file", Run: p.export},
		{Name: "usage", Hint: "[days] [day|model|project|session]", Complete: func(_ context.Context, args string) []string { return slicex.WithPrefix(usage.Words(), args) }, Description: "tokens and money used in the last days", Run: p.usage},
		{Name: "doctor", Description: "look at configuration, keys, endpoint, database, terminal and servers", Run: p.doctor},
		{Name: "role", Hint: "[name|off|info|set name value]", Description: "work in a role, show it, or change one of its values", Run: inRole.Run, Complete: inRole.Complete},
		{Name: "private", Hint: "[on|off]", Description: "keep nothing of this conversation on the disk", Run: p.private, Verbs: command.Verbs{
			{Name: "on", Help: "keep nothing on the disk; before the first message"},
			{Name: "off", Help: "keep the conversation after all; before the first message"},
		}},
		{Name: "save", Description: "keep a private conversation after all, from its beginning", Run: p.save},
		{Name: "btw", Hint: "<question>", Description: "ask about this conversation; nothing of it is kept but what it costs", Work: p.aside},
		{Name: "manual", Hint: "[page, heading or words]", Description: "read the manual", Run: manual.Show, Complete: manual.Complete},
		{Name: "set", Hint: "[key value]", Description: "settings of this session", Run: p.set},
	}
	if !p.flags.NoSkills {
		list = append(list, command.Command{Name: "reload-skills", Description: "read all skills and command files again", Run: p.reloadSkills})
	}
	return list
}

func (p personCommands) undo(ctx context.Context, _ string) (command.Outcome, error) {
	said, err := p.undoing.Undo(ctx, p.s.id())
	return command.Outcome{Notice: said}, err
}

func (p personCommands) redo(ctx context.Context, _ string) (command.Outcome, error) {
	said, err := p.undoing.Redo(ctx, p.s.id())
	return command.Outcome{Notice: said}, err
}

func (p personCommands) rewind(ctx context.Context, args string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil || conv.ID() == "" {
		return command.Outcome{}, core.ErrNoMessages
	}
	number, what, _ := strings.Cut(args, " ")
	rows, err := p.store.History().All(ctx, conv.ID())
	if err != nil {
		return command.Outcome{}, err
	}
	prompts := undo.Prompts(rows)
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(prompts) {
		return command.Outcome{Page: "Rewind", Notice: "Rewind to before which message? /rewind NUMBER takes the conversation back, /rewind NUMBER both the files too, /rewind NUMBER files only those.\n" + numbered(prompts)}, nil
	}
	what = strings.TrimSpace(what)
	if what != "" && what != "files" && what != "both" {
		return command.Outcome{}, fmt.Errorf("/rewind %d %s: say files, both, or nothing", n, what)
	}
	return p.undoing.Rewind(ctx, conv, prompts[n-1], what)
}

func numbered(prompts []session.Message) string {
	var b strings.Builder
	for i, m := range prompts {
		fmt.Fprintf(&b, "%d. %s\n", i+1, text.Headline(m.Shown()))
	}
	return strings.TrimSpace(b.String())
}

func (p personCommands) regenerate(ctx context.Context, _ string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil {
		return command.Outcome{}, core.ErrNoMessages
	}
	return command.Outcome{}, conv.Regenerate(ctx)
}

func (p personCommands) goOn(context.Context, string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil || conv.ID() == "" {
		return command.Outcome{}, core.ErrNoMessages
	}
	conv.Continue()
	return command.Outcome{}, nil
}

func (p personCommands) export(ctx context.Context, args string) (command.Outcome, error) {
	id := p.s.id()
	if id == "" {
		return command.Outcome{}, core.ErrNoMessages
	}
	path := strings.TrimSpace(args)
	if path == "" {
		path = "jcode-" + session.ShortID(id) + ".md"
	}
	format, err := export.FormatOf(path)
	if err != nil {
		return command.Outcome{}, err
	}
	doc, err := export.Load(ctx, p.store, id)
	if err != nil {
		return command.Outcome{}, err
	}
	if err := export.WriteFile(path, format, doc); err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Notice: "Written to " + path}, nil
}

func (p personCommands) reloadSkills(context.Context, string) (command.Outcome, error) {
	return command.Outcome{Notice: p.guidance.Reload()}, nil
}

// aside answers a question about the conversation, which leaves no trace in it.
func (p personCommands) aside(ctx context.Context, args string, _ func(string)) (command.Outcome, error) {
	conv := p.s.conv()
	switch {
	case strings.TrimSpace(args) == "":
		return command.Outcome{}, errors.New("usage: /btw QUESTION")
	case conv == nil:
		return command.Outcome{}, core.ErrNoMessages
	}
	answer, err := agent.AskAbout(ctx, conv, strings.TrimSpace(args))
	if err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Page: "By the way: " + text.OneLine(text.Clean(args)), Notice: strings.TrimSpace(text.Clean(answer))}, nil
}

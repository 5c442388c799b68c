package editorscli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/internal/text"
	"jcode/tools/command"
)

// Commands are the commands of the terminal that an editor has as well: its lists as text, and what is done
// with the conversation.
type Commands struct {
	Open   func() *agent.Conversation // nil for none yet
	Panels func() []command.Panel     // of the chat
}

// lists are the lists that an editor has.
func (c Commands) lists() (out []command.Command) {
	for _, panel := range c.Panels() {
		if !slices.Contains([]string{"agents", "permissions", "mcp", "tools", "skills", "jobs"}, panel.Name) {
			continue
		}
		out = append(out, command.Command{Name: panel.Name, Description: panel.Help, Hint: panel.Verbs.Hint(), Run: func(ctx context.Context, args string) (command.Outcome, error) {
			return listed(ctx, panel, args)
		}})
	}
	return out
}

// listed does what the words after a list's name say, or returns its rows as text.
func listed(ctx context.Context, panel command.Panel, args string) (command.Outcome, error) {
	if args != "" {
		answer, err := panel.Do(ctx, args)
		switch {
		case err != nil:
			return command.Outcome{}, err
		case answer.Edit != nil:
			return command.Outcome{}, fmt.Errorf("/%s %s opens an editor of the terminal, which is not here", panel.Name, args)
		case !answer.Search:
			return command.Outcome{Notice: answer.Notice}, nil
		}
	}
	rows, err := panel.Rows(ctx)
	if err != nil {
		return command.Outcome{}, err
	}
	lines := []string{panel.Title}
	for _, r := range rows {
		if !r.Contains(strings.ToLower(args)) {
			continue
		}
		line := strings.TrimRight(fmt.Sprintf("- %s  %s  %s", r.Name, r.Info, r.State), " ")
		lines = append(lines, text.Visible(line))
	}
	if len(rows) == 0 {
		lines = append(lines, panel.Empty)
	}
	return command.Outcome{Notice: strings.Join(lines, "\n")}, nil
}

// List implements command.Source.
func (c Commands) List() []command.Command {
	return append(c.lists(),
		command.Command{Name: "compact", Hint: "[what to keep]", Description: "summarise the conversation so far, to save room", Run: c.compact},
		command.Command{Name: "context", Description: "what fills the model's context window", Run: c.context},
	)
}

func (c Commands) compact(ctx context.Context, keep string) (command.Outcome, error) {
	conv := c.Open()
	if conv == nil {
		return command.Outcome{}, core.ErrNoMessages
	}
	if err := conv.Compact(ctx, keep); err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Notice: "The conversation was summarised."}, nil
}

func (c Commands) context(ctx context.Context, _ string) (command.Outcome, error) {
	conv := c.Open()
	if conv == nil {
		return command.Outcome{}, core.ErrNoMessages
	}
	use, err := conv.ContextUse(ctx)
	if err != nil {
		return command.Outcome{}, err
	}
	var lines []string
	for _, part := range use.Parts {
		lines = append(lines, fmt.Sprintf("- %s: %d tokens", part.Name, part.Tokens))
	}
	total := fmt.Sprintf("The next request has about %d tokens", use.Total)
	if use.Window > 0 {
		total += fmt.Sprintf(" of %d", use.Window)
	}
	return command.Outcome{Notice: total + ":\n" + strings.Join(lines, "\n")}, nil
}

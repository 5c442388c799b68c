package cli

import (
	"context"
	"errors"
	"strings"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/internal/text"
	"jcode/tools/command"
)

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

package rolescli

import (
	"context"
	"errors"
	"strings"

	"jcode/agent"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/session/role"
	"jcode/tools/command"
)

// ChatCommand is /role.
type ChatCommand struct {
	Open func() *agent.Conversation // nil for none yet
}

// Run runs /role outside the terminal's own form of it, and /role info and set in both.
func (c ChatCommand) Run(ctx context.Context, args string) (command.Outcome, error) {
	conv := c.Open()
	if conv == nil {
		return command.Outcome{}, errors.New("not before the session is ready")
	}
	word, rest, _ := strings.Cut(args, " ")
	switch rest = strings.TrimSpace(rest); {
	case word == "" || word == "info" && rest == "":
		notice, err := roleInfo(conv.Role())
		return command.Outcome{Notice: notice}, err
	case word == "set":
		key, value, _ := strings.Cut(rest, " ")
		if key == "" {
			return command.Outcome{}, errors.New("say /role set NAME VALUE; without a value the default holds again")
		}
		err := conv.SetRoleValue(ctx, key, strings.TrimSpace(value))
		return command.Outcome{}, err
	case rest != "":
		return command.Outcome{}, errors.New("say /role NAME, off, info, or set NAME VALUE")
	case word == "off":
		word = ""
	}
	return command.Outcome{}, conv.SetRole(ctx, word)
}

// Complete completes the words of /role that are not names of roles.
func (c ChatCommand) Complete(_ context.Context, args string) []string {
	conv := c.Open()
	if conv == nil || conv.Role().Name == "" {
		return nil
	}
	words := []string{"off", "info"}
	if r, err := role.FromSnapshot(conv.Role().Snapshot); err == nil {
		for _, v := range r.Variables {
			words = append(words, "set "+v.Name)
		}
	}
	return slicex.WithPrefix(words, args)
}

// roleInfo describes the role that a session is in.
func roleInfo(in agent.Role) (string, error) {
	if in.Name == "" {
		return "The session is in no role: /role NAME enters one, /roles lists them.", nil
	}
	r, err := role.FromSnapshot(in.Snapshot)
	if err != nil {
		return "", err
	}
	head := "Role " + r.Name
	if r.Source != "" {
		head += " (" + string(r.Source) + ")"
	}
	if r.Description != "" {
		head += ": " + text.OneLine(r.Description)
	}
	lines := []string{head}
	for _, f := range []struct{ key, value string }{
		{"file", r.Path}, {"model", r.Model}, {"mode", r.Mode}, {"tools", strings.Join(r.Tools, ", ")}, {"MCP servers", strings.Join(in.Servers, ", ")},
	} {
		if f.value != "" {
			lines = append(lines, "  "+f.key+": "+f.value)
		}
	}
	for i, v := range r.Variables {
		if i == 0 {
			lines = append(lines, "  values, which /role set NAME VALUE changes:")
		}
		value, has := in.Values[v.Name]
		switch {
		case has:
		case v.Default != nil:
			value = *v.Default + " (default)"
		default:
			value = "(none)"
		}
		lines = append(lines, "    "+v.String()+" = "+text.Ellipsis(text.OneLine(value), 200))
	}
	return strings.Join(lines, "\n"), nil
}

package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/wire"
	"jcode/tools"
	"jcode/tools/command"
)

// promptWait bounds how long a prompt or a completion may take.
const (
	promptWait     = 30 * time.Second
	completionWait = 2 * time.Second
)

// Commands returns the prompts of connected servers as slash commands.
func (m *Manager) Commands() command.Source { return promptSource{m} }

type promptSource struct{ m *Manager }

// List returns one command per prompt, by server and in the server's order.
func (s promptSource) List() []command.Command {
	views, _ := s.m.running()
	var out []command.Command
	for _, server := range slices.Sorted(maps.Keys(views)) {
		v := views[server]
		if v.session == nil {
			continue
		}
		for _, p := range v.prompts {
			out = append(out, s.command(server, v.session, p))
		}
	}
	return out
}

func (s promptSource) command(server string, live *session, p PromptInfo) command.Command {
	hints := make([]string, 0, len(p.Arguments))
	for _, a := range p.Arguments {
		if a.Required {
			hints = append(hints, "<"+a.Name+">")
		} else {
			hints = append(hints, "["+a.Name+"]")
		}
	}
	name := config.PromptName(server, p.Name)
	description := p.Description
	if description == "" {
		description = p.Title
	}
	c := command.Command{
		Name: name, Description: description, Hint: strings.Join(hints, " "), Origin: "prompt of MCP server " + server,
		Run: func(ctx context.Context, args string) (command.Outcome, error) {
			values, err := s.arguments(ctx, server, p, args)
			if err != nil {
				return command.Outcome{}, err
			}
			ctx, cancel := context.WithTimeout(ctx, promptWait)
			defer cancel()
			prompt, err := live.prompt(ctx, p.Name, values)
			if err != nil {
				return command.Outcome{}, fmt.Errorf("prompt %s of MCP server %s: %s", p.Name, server, wire.ErrorText(err))
			}
			return command.Outcome{Prompt: prompt, Shown: strings.TrimSpace("/" + name + " " + args)}, nil
		},
	}
	if live.info.completions && len(p.Arguments) > 0 {
		c.Complete = func(ctx context.Context, args string) []string { return live.completePrompt(ctx, p, args) }
	}
	return c
}

// arguments maps what was typed to the prompt's arguments: by position, or by name=value. The last one takes
// the rest of the line. The person is asked for missing required ones.
func (s promptSource) arguments(ctx context.Context, server string, p PromptInfo, typed string) (map[string]string, error) {
	values := map[string]string{}
	rest := strings.TrimSpace(typed)
	for i, a := range p.Arguments {
		if rest == "" {
			break
		}
		word, after := nextWord(rest)
		if name, value, ok := strings.Cut(word, "="); ok && slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == name }) {
			values[name] = value
			rest = after
			continue
		}
		if _, taken := values[a.Name]; taken {
			continue
		}
		if i == len(p.Arguments)-1 {
			word, after = strings.Trim(rest, `"`), ""
		}
		values[a.Name], rest = word, after
	}
	var missing []tools.FormField
	for _, a := range p.Arguments {
		if _, has := values[a.Name]; a.Required && !has {
			missing = append(missing, tools.FormField{Name: a.Name, Description: a.Description, Kind: tools.FieldText, Required: true})
		}
	}
	if len(missing) == 0 {
		return values, nil
	}
	names := make([]string, len(missing))
	for i, f := range missing {
		names[i] = f.Name
	}
	problem := fmt.Errorf("prompt %s of MCP server %s needs %s", p.Name, server, strings.Join(names, ", "))
	if s.m.opt.Elicitor == nil {
		return nil, problem
	}
	answer, err := s.m.opt.Elicitor.Elicit(ctx, ElicitQuestion{Server: server, Message: "Arguments of the prompt " + p.Name, Fields: missing})
	if err != nil || answer.Action != tools.FormAccept {
		return nil, problem
	}
	for _, f := range missing {
		value, _ := answer.Values[f.Name].(string)
		if value == "" {
			return nil, problem
		}
		values[f.Name] = value
	}
	return values, nil
}

// nextWord splits a word, or a text in double quotes, off the front.
func nextWord(s string) (word, rest string) {
	if strings.HasPrefix(s, `"`) {
		if end := strings.IndexByte(s[1:], '"'); end >= 0 {
			return s[1 : end+1], strings.TrimSpace(s[end+2:])
		}
	}
	word, rest, _ = strings.Cut(s, " ")
	return word, strings.TrimSpace(rest)
}

// completePrompt asks the server for values of the argument that is being typed, and returns
// the completed lines.
func (s *session) completePrompt(ctx context.Context, p PromptInfo, typed string) []string {
	words := strings.Fields(typed)
	if strings.HasSuffix(typed, " ") || len(words) == 0 {
		words = append(words, "")
	}
	i := min(len(words), len(p.Arguments)) - 1
	ctx, cancel := context.WithTimeout(ctx, completionWait)
	defer cancel()
	res, err := s.cs.Complete(ctx, &sdk.CompleteParams{
		Ref:      &sdk.CompleteReference{Type: "ref/prompt", Name: p.Name},
		Argument: sdk.CompleteParamsArgument{Name: p.Arguments[i].Name, Value: words[len(words)-1]},
	})
	if err != nil {
		return nil // a completion that fails offers nothing
	}
	before := strings.Join(words[:len(words)-1], " ")
	lines := make([]string, 0, len(res.Completion.Values))
	for _, v := range res.Completion.Values {
		lines = append(lines, strings.TrimSpace(before+" "+text.Clean(v)))
	}
	return lines
}

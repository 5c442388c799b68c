package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/jsonerr"
	"jcode/internal/rawjson"
	"jcode/internal/text"
)

// PromptInfo is one prompt of a server.
type PromptInfo struct {
	Name        string
	Title       string
	Description string
	Arguments   []PromptArgument
}

// PromptArgument is one argument of a prompt.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// listPrompts lists all prompts; broken ones are left out.
func (s *session) listPrompts(ctx context.Context) ([]PromptInfo, error) {
	var out []PromptInfo
	seen := map[string]bool{}
	_, err := s.pages(ctx, "prompts/list",
		func(ctx context.Context, cursor string) error {
			_, err := s.cs.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			return err
		},
		func(raw json.RawMessage) (int, string, error) {
			var page struct {
				Prompts    []json.RawMessage `json:"prompts"`
				NextCursor json.RawMessage   `json:"nextCursor"`
			}
			if err := json.Unmarshal(raw, &page); err != nil {
				return 0, "", fmt.Errorf("read prompts/list: %w", jsonerr.Plain(err))
			}
			for _, item := range page.Prompts {
				if p := readPrompt(item); p.Name != "" && !seen[p.Name] {
					seen[p.Name] = true
					out = append(out, p)
				}
			}
			return len(page.Prompts), rawjson.String(page.NextCursor), nil
		})
	return out, err
}

func readPrompt(raw json.RawMessage) PromptInfo {
	f := rawjson.Members(raw)
	p := PromptInfo{
		Name:        rawjson.String(f["name"]),
		Title:       text.FirstLine(rawjson.String(f["title"]), 200),
		Description: text.FirstLine(rawjson.String(f["description"]), 200),
	}
	args, _ := rawjson.Items(f["arguments"])
	for _, a := range args {
		f := rawjson.Members(a)
		if name := rawjson.String(f["name"]); name != "" {
			p.Arguments = append(p.Arguments, PromptArgument{name, text.FirstLine(rawjson.String(f["description"]), 200), rawjson.Bool(f["required"])})
		}
	}
	return p
}

// prompt returns a prompt's messages as one text for the person's input.
func (s *session) prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	raw, _, err := s.request(ctx, "prompts/get", func(ctx context.Context) error {
		_, err := s.cs.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
		return err
	})
	if err != nil {
		return "", err
	}
	var messages []json.RawMessage
	if err := json.Unmarshal(rawjson.Member(raw, "messages"), &messages); err != nil {
		return "", fmt.Errorf("read prompt %s: its messages are %s", name, rawjson.Kind(rawjson.Member(raw, "messages")))
	}
	var out string
	for _, m := range messages {
		content := rawjson.Member(m, "content")
		var lines string
		for _, item := range contentItems(content) {
			piece := converter{}.item(item)
			if lines != "" {
				lines += "\n"
			}
			lines += piece.text
		}
		if role := rawjson.String(rawjson.Member(m, "role")); role == "assistant" {
			lines = "Assistant: " + lines
		}
		if out != "" {
			out += "\n\n"
		}
		out += lines
	}
	return text.Clean(out), nil
}

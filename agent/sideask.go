package agent

import (
	"context"

	"jcode/agent/model"
)

// AskAside sends one request to the small model of a conversation, or its own, beside the conversation: without its
// history and without tools. The answer is bounded; what it costs is counted.
func AskAside(ctx context.Context, c *Conversation, system, text string) (string, error) {
	resp, err := askBeside(ctx, c, c.current(), model.Request{
		Purpose: model.PurposeSummary, System: system,
		Messages: []model.Message{{Role: model.RoleUser, Text: text}},
	})
	if err != nil {
		return "", err
	}
	return resp.Text, nil
}

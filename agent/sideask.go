package agent

import (
	"context"

	"jcode/agent/history"
	"jcode/agent/model"
)

// AskAside sends one request to a conversation's model, beside the conversation: without its history and without
// tools. The answer is bounded; what it costs is counted.
func AskAside(ctx context.Context, c *Conversation, system, text string) (string, error) {
	c.mu.Lock()
	m := c.settings.model
	c.mu.Unlock()
	resp, err := m.Client.Stream(ctx, model.Request{
		Model: m.ID, Purpose: model.PurposeSummary, System: system,
		Messages: []model.Message{{Role: model.RoleUser, Text: text}},
	}, func(model.Event) {})
	if err != nil {
		return "", err
	}
	cost, _ := m.price(resp)
	c.countUsage(history.UsageRow(resp.Usage, resp.Model, cost))
	return resp.Text, nil
}

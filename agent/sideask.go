package agent

import (
	"context"

	"jcode/agent/history"
	"jcode/agent/model"
)

// aboutPrompt is what a model is told that answers a question about a conversation.
const aboutPrompt = "A user works with a coding agent. Below is their conversation so far, then a question of the user that is not part of it. Answer the question briefly, from the conversation and what you know. You have no tools, and nothing is changed: if the answer is not known, say so."

// AskAbout asks the model of a conversation a question about it. The question and the answer leave no trace in it; what
// they cost is counted. It may be called while a turn runs, and sees what is committed then.
func AskAbout(ctx context.Context, c *Conversation, question string) (string, error) {
	m, said := c.current(), ""
	if id := c.ID(); id != "" {
		rows, err := c.opt.Store.History().All(ctx, id)
		if err != nil {
			return "", err
		}
		h := history.Of(history.Sent(rows))
		messages := h.Messages()
		for m.Window > 0 && len(messages) > 1 && history.Tokens(messages) > m.Window/2 {
			messages = messages[len(messages)/4+1:] // the end of it matters most
		}
		said = history.WriteOut(messages)
	}
	m.Small = nil
	resp, err := askBeside(ctx, c, m, model.Request{
		Purpose: model.PurposeSummary, System: aboutPrompt,
		Messages: []model.Message{{Role: model.RoleUser, Text: "<conversation>\n" + said + "</conversation>\n\nThe question: " + question}},
	})
	if err != nil {
		return "", err
	}
	return resp.Text, nil
}

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

package mcpcli

import (
	"context"
	"fmt"

	"jcode/agent"
	"jcode/cli/board"
	"jcode/internal/browser"
	"jcode/mcp"
	"jcode/tools"
)

// Elicitor shows a server's questions to the person of the open conversation. Without one they are
// declined.
type Elicitor struct {
	Board          *board.Board
	Browser        browser.Browser
	Unattended     bool // a single run: nobody is asked
	AcceptDefaults bool // without a person, questions are answered with their defaults
}

// Elicit shows the form, or asks for consent to a visit.
func (e Elicitor) Elicit(ctx context.Context, q mcp.ElicitQuestion) (tools.FormAnswer, error) {
	conv := e.Board.Open()
	if conv == nil || e.Unattended {
		return mcp.Unattended{AcceptDefaults: e.AcceptDefaults}.Elicit(ctx, q)
	}
	if q.URL != "" {
		return e.visit(ctx, conv, q)
	}
	return conv.Person().AskForm(ctx, tools.Form{From: "MCP server " + q.Server, Text: q.Message, Fields: q.Fields})
}

// visit shows the whole address; nothing is opened before the person consents.
func (e Elicitor) visit(ctx context.Context, conv *agent.Conversation, q mcp.ElicitQuestion) (tools.FormAnswer, error) {
	const yes, no = "open it", "decline"
	text := fmt.Sprintf("It wants you to visit %s\n\n%s\n\n%s", q.Domain, q.URL, q.Message)
	reply, err := conv.Person().AskPerson(ctx, "MCP server "+q.Server, text, []string{yes, no})
	if err != nil || reply != yes {
		return tools.FormAnswer{Action: tools.FormDecline}, err
	}
	if err := e.Browser.Open(ctx, q.URL); err != nil {
		e.Board.Say("info", "open this address yourself: %s", q.URL)
	}
	return tools.FormAnswer{Action: tools.FormAccept}, nil
}

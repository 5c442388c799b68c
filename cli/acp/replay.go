package acp

import (
	"encoding/base64"
	"encoding/json"

	"github.com/coder/acp-go-sdk"
	"github.com/google/uuid"

	"jcode/session"
	"jcode/tools"
)

// replay sends the content of a stored session as updates, in order.
func (o *openSession) replay() {
	for _, m := range o.w.Rows {
		if m.Broken != "" {
			o.say("A message could not be read and is left out: " + m.Broken)
			continue
		}
		switch m.Role {
		case session.RoleUser:
			o.replayPrompt(m)
		case session.RoleAssistant:
			o.replayAnswer(m)
		case session.RoleSummary:
			o.say("The conversation up to here was summarised.\n\n" + m.Text())
		}
	}
	if items := o.conv.Todo(); len(items) > 0 {
		o.plan(items)
	}
	o.w.Rows = nil
}

func (o *openSession) replayPrompt(m session.Message) {
	id := uuid.NewString()
	chunk := func(block acp.ContentBlock) {
		o.update(acp.SessionUpdate{UserMessageChunk: &acp.SessionUpdateUserMessageChunk{Content: block, MessageId: &id}})
	}
	if text := m.Shown(); text != "" {
		chunk(acp.TextBlock(text))
	}
	for _, p := range m.Parts {
		if p.Kind == session.PartImage {
			chunk(acp.ImageBlock(base64.StdEncoding.EncodeToString(p.Data), p.MIME))
		}
	}
}

func (o *openSession) replayAnswer(m session.Message) {
	for _, p := range m.Parts {
		switch p.Kind {
		case session.PartReasoning:
			o.think(p.Text)
		case session.PartText:
			o.text(p.Text)
		}
	}
	o.nextMessage()
	for _, c := range m.Calls {
		o.replayCall(c)
	}
}

func (o *openSession) replayCall(c session.Call) {
	args := json.RawMessage(c.Arguments)
	if !json.Valid(args) {
		args = nil
	}
	d := describe(c.Name, args, o.cwd)
	start := &acp.SessionUpdateToolCall{
		ToolCallId: acp.ToolCallId(c.ID), Title: d.title, Kind: d.kind, Status: acp.ToolCallStatusInProgress, Locations: d.locations,
	}
	if args != nil {
		start.RawInput = args
	}
	o.update(acp.SessionUpdate{ToolCall: start})
	res := tools.Result{Text: c.Result, Failed: c.Status == session.StatusFailed}
	if len(c.Display) > 0 && json.Unmarshal(c.Display, &res.Display) != nil {
		res.Display = tools.Display{} // what cannot be read is omitted: the text is shown
	}
	for _, p := range c.Parts {
		res.Parts = append(res.Parts, tools.Part{MIME: p.MIME, Data: p.Data})
	}
	o.update(acp.SessionUpdate{ToolCallUpdate: endOf(c.ID, c.Name, args, res, string(c.Status), o.cwd, sideNone)})
}

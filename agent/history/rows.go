package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// Sent returns the rows of a session without those that are left out of what is sent.
func Sent(rows []session.Message) []session.Message {
	var out []int64
	for _, row := range rows {
		for _, p := range row.Parts {
			var list []int64
			if p.Kind == session.PartLeftOut && json.Unmarshal([]byte(p.Text), &list) == nil { // otherwise they are sent
				out = append(out, list...)
			}
		}
	}
	if out == nil {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row session.Message) bool { return slices.Contains(out, row.Seq) })
}

// FromRow returns the messages of a stored row: calls with their results.
func FromRow(row session.Message) []model.Message {
	m := model.Message{}
	for _, p := range row.Parts {
		switch p.Kind {
		case session.PartText:
			m.Text += p.Text
		case session.PartReasoning:
			if p.MIME != session.Foreign {
				m.Reasoning += p.Text
			}
		case session.PartImage:
			m.Images = append(m.Images, model.Image{MIME: p.MIME, Data: p.Data, Text: p.Text})
		case session.PartRefused:
			m.Text = AppendLine(m.Text, cmp.Or(p.Text, refusedPicture))
		case session.PartTools:
			var change ToolChange
			if json.Unmarshal([]byte(p.Text), &change) == nil { // otherwise they are listed at the beginning of the request
				m.ToolsAdded, m.ToolsRemoved = change.Added, change.Removed
			}
		case session.PartOpaque:
			var o model.Opaque
			if json.Unmarshal([]byte(p.Text), &o) == nil { // otherwise the message is sent without it, as to another model
				m.Opaque = append(m.Opaque, o)
			}
		}
	}
	switch row.Role {
	case session.RoleAssistant:
		m.Role = model.RoleAssistant
	case session.RoleUser:
		m.Role = model.RoleUser
	case session.RoleSystem:
		if len(row.Parts) == 0 { // it is kept for its usage
			return nil
		}
		m.Role, m.Text = model.RoleUser, noticeText(m.Text)
	case session.RoleSummary:
		m.Role, m.Text = model.RoleUser, summaryText(m.Text)
	default:
		if len(row.Calls) == 0 {
			return nil
		}
		m.Role = model.RoleAssistant
	}
	out := []model.Message{m}
	for _, call := range row.Calls {
		out[0].Calls = append(out[0].Calls, model.Call{ID: call.ID, Name: call.Wire, Arguments: call.Arguments})
		result := model.Message{Role: model.RoleTool, CallID: call.ID, Name: call.Wire, Text: call.Result, Failed: call.Status != session.StatusDone}
		for _, p := range call.Parts {
			if p.Kind == session.PartRefused {
				result.Text = AppendLine(result.Text, cmp.Or(p.Text, refusedPicture))
				continue
			}
			result.Images = append(result.Images, model.Image{MIME: p.MIME, Data: p.Data, Text: p.Text})
		}
		out = append(out, result)
	}
	return out
}

// noticeText marks what jcode itself tells the model, so that it is not mistaken for the person's words.
func noticeText(said string) string { return "[jcode] " + said }

// summaryText introduces a summary of earlier messages.
func summaryText(said string) string {
	return summaryHead + said
}

const summaryHead = "[jcode] Summary of the conversation so far; the messages it stands for are no longer shown.\n\n"

// ToolChange lists the tools that were added and removed at one point of the conversation.
type ToolChange struct {
	Added   []model.Tool `json:"added,omitempty"`
	Removed []string     `json:"removed,omitempty"` // wire names
}

// UsageRow converts a usage to its stored form.
func UsageRow(u model.Usage, id string, cost float64) *session.Usage {
	return &session.Usage{
		Input: u.Input, Output: u.Output, Cached: u.Cached, Written: u.Written + u.WrittenHour, Searches: u.Searches,
		Estimated: u.Estimated, Model: id, Cost: cost,
	}
}

// Result is a finished call as the model reads it.
func Result(call model.Call, res tools.Result) model.Message {
	m := model.Message{Role: model.RoleTool, CallID: call.ID, Name: call.Name, Text: text.Valid(res.Text), Failed: res.Failed}
	if Blank(m.Text) {
		m.Text = resultEmpty
	}
	for _, part := range res.Parts {
		m.Images = append(m.Images, model.Image{MIME: part.MIME, Data: part.Data, Text: part.Text})
	}
	return m
}

// Prompt returns a message of the person, as it is stored and as the model reads it.
func Prompt(p event.Prompt) (session.Message, model.Message) {
	row := session.Message{Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: text.Valid(p.Text)}}}
	if p.Shown != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartShown, Text: text.Valid(p.Shown)})
	}
	if p.Skill != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartSkill, Text: p.Skill})
	}
	for _, img := range p.Images {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartImage, MIME: img.MIME, Data: img.Data, Text: img.Text})
	}
	return row, model.Message{Role: model.RoleUser, Text: text.Valid(p.Text), Images: p.Images}
}

// PromptOf turns a stored message back into its prompt.
func PromptOf(row session.Message) event.Prompt {
	p := event.Prompt{Text: row.Text()}
	for _, part := range row.Parts {
		switch part.Kind {
		case session.PartShown:
			p.Shown = part.Text
		case session.PartSkill:
			p.Skill = part.Text
		case session.PartImage:
			p.Images = append(p.Images, model.Image{MIME: part.MIME, Data: part.Data, Text: part.Text})
		}
	}
	return p
}

// Notice returns a line of jcode's own for the model, with the tools that it announces.
func Notice(said string, change ToolChange) (session.Message, model.Message, error) {
	parts := []session.Part{{Kind: session.PartText, Text: text.Valid(said)}}
	if len(change.Added)+len(change.Removed) > 0 {
		b, err := json.Marshal(change)
		if err != nil {
			return session.Message{}, model.Message{}, fmt.Errorf("store notice: %w", err)
		}
		parts = append(parts, session.Part{Kind: session.PartTools, Text: string(b)})
	}
	m := model.Message{Role: model.RoleUser, Text: noticeText(text.Valid(said)), ToolsAdded: change.Added, ToolsRemoved: change.Removed}
	return session.Message{Role: session.RoleSystem, Parts: parts}, m, nil
}

// Answer returns an answer with its calls, as it is stored and as the model reads it. Its usage is of all attempts.
func Answer(resp model.Response, calls []session.Call, cost float64) (session.Message, model.Message, error) {
	row := session.Message{Role: session.RoleAssistant, Calls: calls}
	if resp.Reasoning != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartReasoning, Text: text.Valid(resp.Reasoning)})
	}
	if resp.Text != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartText, Text: text.Valid(resp.Text)})
	}
	for _, o := range resp.Opaque {
		b, err := json.Marshal(o)
		if err != nil {
			return session.Message{}, model.Message{}, fmt.Errorf("store answer: %w", err)
		}
		row.Parts = append(row.Parts, session.Part{Kind: session.PartOpaque, Text: string(b)})
	}
	row.Usage = UsageRow(resp.Usage.Plus(resp.Wasted), resp.Model, cost)
	m := model.Message{Role: model.RoleAssistant, Text: text.Valid(resp.Text), Reasoning: text.Valid(resp.Reasoning), Opaque: resp.Opaque}
	for _, call := range calls {
		m.Calls = append(m.Calls, model.Call{ID: call.ID, Name: call.Wire, Arguments: call.Arguments})
	}
	return row, m, nil
}

// Says reports whether an answer has anything that is sent again.
func Says(m *model.Message) bool { return len(m.Calls) > 0 || !Blank(m.Text) || len(m.Opaque) > 0 }

// refusedPicture replaces a picture that a provider refused.
const refusedPicture = "[a picture was left out: the provider refused it]"

// AppendLine adds a line to a text that does not end with it, in place of a bare "interrupted".
func AppendLine(said, line string) string {
	switch said {
	case "", "interrupted", line:
		return line
	}
	return said + "\n" + line
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// record is the stored part of a conversation: the session's row and its messages, and the history that is
// sent to the model.
type record struct {
	c     *Conversation
	row   session.Session
	saved bool // the row is in the store
	hold  *session.Hold
	rows  []session.Message // as read by load, until they are taken
	total model.Usage
	cost  float64
	turns int
	// history is owned by the conversation's goroutine.
	history transcript
}

// load reads the stored session into the history. Calls that a crash left open are closed first; rows that
// cannot be read are skipped with a notice.
func (r *record) load(ctx context.Context) error {
	if !r.c.State().ReadOnly {
		if _, err := r.c.opt.Store.History().InterruptOpenCalls(ctx, r.row.ID, resultMissing); err != nil {
			return err
		}
	}
	rows, err := r.c.opt.Store.History().All(ctx, r.row.ID)
	if err != nil {
		return err
	}
	r.history = newTranscript()
	r.c.measured.forget()
	// The session's own totals, not the sum of its messages: they include what sub-agents used and what was
	// rewound since, and exclude what a fork copied.
	kept, err := r.c.opt.Store.Get(ctx, r.row.ID)
	if err != nil {
		return err
	}
	total, turns := model.Usage{Input: int(kept.InputTokens), Output: int(kept.OutputTokens), Cached: int(kept.CachedTokens), Written: int(kept.WrittenTokens), Estimated: kept.Estimated}, 0
	live := sent(rows)
	for _, row := range live { // summaries first: they replace what came before
		if row.Role == session.RoleSummary && row.Archived == 0 {
			r.history.push(row.Seq, fromRow(row)...)
		}
	}
	for _, row := range rows {
		if row.Broken != "" {
			r.c.Notify(event.LevelWarn, "message %d of this session could not be read and is passed over: %s", row.Seq, row.Broken)
		}
		if row.Role == session.RoleUser {
			turns++
		}
	}
	for _, row := range live {
		if row.Archived == 0 && row.Role != session.RoleSummary {
			r.history.push(row.Seq, fromRow(row)...)
		}
	}
	var todo []tools.TodoItem
	items, err := r.c.opt.Store.Todos().Get(ctx, r.row.ID)
	if err == nil && len(items) > 0 {
		err = json.Unmarshal(items, &todo)
	}
	if err != nil {
		r.c.Notify(event.LevelWarn, "the stored plan could not be read: %v", err)
	}
	r.c.opt.Extensions.loaded(r.row.ID, live)
	r.c.mu.Lock()
	r.rows, r.turns, r.c.todo, r.total, r.cost = rows, turns, todo, total, kept.Cost
	r.c.mu.Unlock()
	return nil
}

// TakeRows returns the stored messages as they were read when the conversation was resumed, once: a caller
// that shows them shares their text with the history instead of reading it again. It returns nil for a new
// session, and after the first prompt.
func (r *record) TakeRows() []session.Message {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	rows := r.rows
	r.rows = nil
	return rows
}

func (r *record) countUsage(u *session.Usage) {
	if u == nil {
		return
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.total.Input += u.Input
	r.total.Output += u.Output
	r.total.Cached += u.Cached
	r.total.Written += u.Written
	r.total.Searches += u.Searches
	r.total.Estimated = r.total.Estimated || u.Estimated
	r.cost += u.Cost
	if r.c.parent != nil { // what a sub-agent uses is charged to its parent at once: one cap holds for all
		r.c.parent.countUsage(u)
	}
}

// fromRow returns the messages of a stored row: calls with their results.
func fromRow(row session.Message) []model.Message {
	m := model.Message{}
	for _, p := range row.Parts {
		switch p.Kind {
		case session.PartText:
			m.Text += p.Text
		case session.PartReasoning:
			m.Reasoning += p.Text
		case session.PartImage:
			m.Images = append(m.Images, model.Image{MIME: p.MIME, Data: p.Data, Text: p.Text})
		case session.PartRefused:
			m.Text = appendLine(m.Text, cmp.Or(p.Text, refusedPicture))
		case session.PartTools:
			var change toolChange
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
				result.Text = appendLine(result.Text, cmp.Or(p.Text, refusedPicture))
				continue
			}
			result.Images = append(result.Images, model.Image{MIME: p.MIME, Data: p.Data, Text: p.Text})
		}
		out = append(out, result)
	}
	return out
}

// noticeText marks what jcode itself tells the model, so that it is not mistaken for the person's words.
func noticeText(text string) string { return "[jcode] " + text }

// summaryText introduces a summary of earlier messages.
func summaryText(text string) string {
	return summaryHead + text
}

const summaryHead = "[jcode] Summary of the conversation so far; the messages it stands for are no longer shown.\n\n"

// appendUser commits a message of the person, creating the session's row first if necessary.
func (r *record) appendUser(ctx context.Context, p event.Prompt) (int64, error) {
	row := session.Message{Session: r.row.ID, Role: session.RoleUser, Parts: []session.Part{{Kind: session.PartText, Text: clean(p.Text)}}}
	if p.Shown != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartShown, Text: clean(p.Shown)})
	}
	if p.Skill != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartSkill, Text: p.Skill})
	}
	for _, img := range p.Images {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartImage, MIME: img.MIME, Data: img.Data, Text: img.Text})
	}
	seq, err := r.appendFirst(ctx, row)
	if err != nil {
		return 0, fmt.Errorf("store message: %w", err)
	}
	r.firstTitle(p)
	r.history.push(seq, model.Message{Role: model.RoleUser, Text: clean(p.Text), Images: p.Images})
	if p.Skill != "" {
		r.c.opt.Extensions.skillGiven(r.row.ID, p.Skill)
	}
	return seq, nil
}

// firstTitle shows the title that the store derives from a session's first prompt.
func (r *record) firstTitle(p event.Prompt) {
	r.c.mu.Lock()
	first := r.c.state.Title == ""
	if first {
		r.c.state.Title = session.ShortTitle(shown(p))
	}
	r.c.mu.Unlock()
	if first {
		r.c.emitState()
	}
}

// appendFirst commits a message of the person. The first message and the session's row are written in one
// transaction, so no kill and no full disk leaves a session without a message.
func (r *record) appendFirst(ctx context.Context, m session.Message) (int64, error) {
	r.c.mu.Lock()
	saved, row := r.saved, r.row
	r.rows = nil // nobody has taken them
	row.Model, row.Mode = r.c.model.Name, string(r.c.mode)
	r.c.mu.Unlock()
	if saved {
		return r.c.opt.Store.History().Append(ctx, m)
	}
	var err error
	if row.ID = r.c.opt.Session; row.ID == "" {
		if row.ID, err = session.NewID(); err != nil {
			return 0, err
		}
	}
	if r.c.Private() {
		if err := r.c.opt.Store.Memory().Keep(ctx, row.ID); err != nil {
			return 0, err
		}
	}
	hold, err := r.c.opt.Store.Hold(row.ID)
	if err != nil {
		return 0, err
	}
	row, seq, err := r.c.opt.Store.Begin(ctx, row, m)
	if err != nil {
		return 0, errors.Join(err, hold.Release())
	}
	r.c.mu.Lock()
	r.hold, r.row, r.saved = hold, row, true
	r.c.state.Session = row.ID
	r.c.mu.Unlock()
	r.c.emitState()
	return seq, nil
}

// appendNotice commits a line of jcode's own for the model.
func (r *record) appendNotice(ctx context.Context, text string) error {
	return r.appendChange(ctx, text, toolChange{})
}

// toolChange lists the tools that were added and removed at one point of the conversation.
type toolChange struct {
	Added   []model.Tool `json:"added,omitempty"`
	Removed []string     `json:"removed,omitempty"` // wire names
}

// appendChange commits a line of jcode's own together with the tools that it announces.
func (r *record) appendChange(ctx context.Context, text string, change toolChange) error {
	parts := []session.Part{{Kind: session.PartText, Text: clean(text)}}
	if len(change.Added)+len(change.Removed) > 0 {
		b, err := json.Marshal(change)
		if err != nil {
			return fmt.Errorf("store notice: %w", err)
		}
		parts = append(parts, session.Part{Kind: session.PartTools, Text: string(b)})
	}
	seq, err := r.c.opt.Store.History().Append(ctx, session.Message{Session: r.row.ID, Role: session.RoleSystem, Parts: parts})
	if err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	r.history.push(seq, model.Message{Role: model.RoleUser, Text: noticeText(clean(text)), ToolsAdded: change.Added, ToolsRemoved: change.Removed})
	return nil
}

// appendAnswer commits an answer with its calls, all pending. An answer without text and
// calls is kept for its usage only and never sent.
func (r *record) appendAnswer(ctx context.Context, resp model.Response, calls []pendingCall, cost float64) (int64, error) {
	row := session.Message{Session: r.row.ID, Role: session.RoleAssistant}
	if resp.Reasoning != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartReasoning, Text: clean(resp.Reasoning)})
	}
	if resp.Text != "" {
		row.Parts = append(row.Parts, session.Part{Kind: session.PartText, Text: clean(resp.Text)})
	}
	for _, o := range resp.Opaque {
		b, err := json.Marshal(o)
		if err != nil {
			return 0, fmt.Errorf("store answer: %w", err)
		}
		row.Parts = append(row.Parts, session.Part{Kind: session.PartOpaque, Text: string(b)})
	}
	u := resp.Usage.Plus(resp.Wasted)
	row.Usage = usageRow(u, resp.Model, cost)
	for i, p := range calls {
		row.Calls = append(row.Calls, session.Call{
			Index: i, ID: p.ID, Name: p.canonical, Wire: p.Name, Arguments: clean(p.Arguments), Status: session.StatusPending,
		})
	}
	seq, err := r.c.opt.Store.History().Append(ctx, row)
	if err != nil {
		return 0, fmt.Errorf("store answer: %w", err)
	}
	m := model.Message{Role: model.RoleAssistant, Text: clean(resp.Text), Reasoning: clean(resp.Reasoning), Opaque: resp.Opaque}
	for _, p := range calls {
		m.Calls = append(m.Calls, model.Call{ID: p.ID, Name: p.Name, Arguments: clean(p.Arguments)})
	}
	if len(m.Calls) > 0 || !blank(m.Text) || len(m.Opaque) > 0 {
		r.history.push(seq, m)
	}
	return seq, nil
}

// usageRow converts a usage to its stored form.
func usageRow(u model.Usage, id string, cost float64) *session.Usage {
	return &session.Usage{
		Input: u.Input, Output: u.Output, Cached: u.Cached, Written: u.Written + u.WrittenHour, Searches: u.Searches,
		Estimated: u.Estimated, Model: id, Cost: cost,
	}
}

// resultMessage is a finished call as the model reads it.
func resultMessage(p pendingCall, res tools.Result) model.Message {
	m := model.Message{Role: model.RoleTool, CallID: p.ID, Name: p.Name, Text: clean(res.Text), Failed: res.Failed}
	if blank(m.Text) {
		m.Text = resultEmpty
	}
	for _, part := range res.Parts {
		m.Images = append(m.Images, model.Image{MIME: part.MIME, Data: part.Data, Text: part.Text})
	}
	return m
}

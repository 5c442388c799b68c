package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/internal/text"
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
	history history.Transcript
}

// load reads the stored session into the history. Calls that a crash left open are closed first; rows that
// cannot be read are skipped with a notice.
func (r *record) load(ctx context.Context) error {
	if !r.c.State().ReadOnly {
		if _, err := r.c.opt.Store.History().InterruptOpenCalls(ctx, r.row.ID, history.ResultMissing); err != nil {
			return err
		}
	}
	rows, err := r.c.opt.Store.History().All(ctx, r.row.ID)
	if err != nil {
		return err
	}
	r.history = history.Transcript{}
	r.c.measured.Forget()
	// The session's own totals, not the sum of its messages: they include what sub-agents used and what was
	// rewound since, and exclude what a fork copied.
	kept, err := r.c.opt.Store.Get(ctx, r.row.ID)
	if err != nil {
		return err
	}
	total, turns := model.Usage{Input: int(kept.InputTokens), Output: int(kept.OutputTokens), Cached: int(kept.CachedTokens), Written: int(kept.WrittenTokens), Estimated: kept.Estimated}, 0
	live := history.Sent(rows)
	for _, row := range live { // summaries first: they replace what came before
		if row.Role == session.RoleSummary && row.Archived == 0 {
			r.history.Push(row.Seq, history.FromRow(row)...)
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
			r.history.Push(row.Seq, history.FromRow(row)...)
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

// appendUser commits a message of the person, creating the session's row first if necessary.
func (r *record) appendUser(ctx context.Context, p event.Prompt) (int64, error) {
	row, m := history.Prompt(p)
	row.Session = r.row.ID
	seq, err := r.appendFirst(ctx, row)
	if err != nil {
		return 0, fmt.Errorf("store message: %w", err)
	}
	r.firstTitle(p)
	r.history.Push(seq, m)
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
	return r.appendChange(ctx, text, history.ToolChange{})
}

// appendChange commits a line of jcode's own together with the tools that it announces.
func (r *record) appendChange(ctx context.Context, text string, change history.ToolChange) error {
	row, m, err := history.Notice(text, change)
	if err != nil {
		return err
	}
	row.Session = r.row.ID
	seq, err := r.c.opt.Store.History().Append(ctx, row)
	if err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	r.history.Push(seq, m)
	return nil
}

// appendAnswer commits an answer with its calls, all pending. An answer without text and
// calls is kept for its usage only and never sent.
func (r *record) appendAnswer(ctx context.Context, resp model.Response, calls []pendingCall, cost float64) (int64, error) {
	var stored []session.Call
	for i, p := range calls {
		stored = append(stored, session.Call{
			Index: i, ID: p.ID, Name: p.canonical, Wire: p.Name, Arguments: text.Valid(p.Arguments), Status: session.StatusPending,
		})
	}
	row, m, err := history.Answer(resp, stored, cost)
	if err != nil {
		return 0, err
	}
	row.Session = r.row.ID
	seq, err := r.c.opt.Store.History().Append(ctx, row)
	if err != nil {
		return 0, fmt.Errorf("store answer: %w", err)
	}
	if history.Says(&m) {
		r.history.Push(seq, m)
	}
	return seq, nil
}

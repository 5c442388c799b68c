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

// load reads the stored session into the history. Calls that a crash left open are closed first; rows that
// cannot be read are skipped with a notice.
func (c *Conversation) load(ctx context.Context) error {
	if !c.State().ReadOnly {
		if _, err := c.opt.Store.History().InterruptOpenCalls(ctx, c.record.row.ID, history.ResultMissing); err != nil {
			return err
		}
	}
	rows, err := c.opt.Store.History().All(ctx, c.record.row.ID)
	if err != nil {
		return err
	}
	// The session's own totals, not the sum of its messages: they include what sub-agents used and what was
	// rewound since, and exclude what a fork copied.
	kept, err := c.opt.Store.Get(ctx, c.record.row.ID)
	if err != nil {
		return err
	}
	live := history.Sent(rows)
	for _, row := range rows {
		if row.Broken != "" {
			c.Notify(event.LevelWarn, "message %d of this session could not be read and is passed over: %s", row.Seq, row.Broken)
		}
	}
	c.out.history = history.Of(live)
	c.out.measured.Forget()
	var todo []tools.TodoItem
	items, err := c.opt.Store.Todos().Get(ctx, c.record.row.ID)
	if err == nil && len(items) > 0 {
		err = json.Unmarshal(items, &todo)
	}
	if err != nil {
		c.Notify(event.LevelWarn, "the stored plan could not be read: %v", err)
	}
	c.opt.Extensions.loaded(c.record.row.ID, live)
	c.mu.Lock()
	c.todo = todo
	c.record.read(rows)
	c.mu.Unlock()
	c.spent.read(kept)
	return nil
}

// TakeRows returns the stored messages as they were read when the conversation was resumed, once: a caller
// that shows them shares their text with the history instead of reading it again. It returns nil for a new
// session, and after the first prompt.
func (c *Conversation) TakeRows() []session.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record.takeRows()
}

// Rename sets the title that the person chose.
func (c *Conversation) Rename(title string) error {
	c.mu.Lock()
	saved, id := c.record.saved, c.record.row.ID
	c.record.rename(title)
	c.state.Title = title
	c.mu.Unlock()
	if saved {
		if err := c.opt.Store.Rename(c.ctx, id, title); err != nil {
			return err
		}
	}
	c.emitState()
	return nil
}

// appendUser commits a message of the person, creating the session's row first if necessary.
func (t *turn) appendUser(ctx context.Context, p event.Prompt) (int64, error) {
	c := t.c
	row, m := history.Prompt(p)
	row.Session = c.record.row.ID
	seq, err := t.appendFirst(ctx, row)
	if err != nil {
		return 0, fmt.Errorf("store message: %w", err)
	}
	t.firstTitle(p)
	c.out.history.Push(seq, m)
	if p.Skill != "" {
		c.opt.Extensions.skillGiven(c.record.row.ID, p.Skill)
	}
	return seq, nil
}

// firstTitle shows the title that the store derives from a session's first prompt.
func (t *turn) firstTitle(p event.Prompt) {
	c := t.c
	c.mu.Lock()
	first := c.state.Title == ""
	if first {
		c.state.Title = session.ShortTitle(p.Display())
	}
	c.mu.Unlock()
	if first {
		c.emitState()
	}
}

// appendFirst commits a message of the person. The first message and the session's row are written in one
// transaction, so no kill and no full disk leaves a session without a message.
func (t *turn) appendFirst(ctx context.Context, m session.Message) (int64, error) {
	c := t.c
	c.mu.Lock()
	saved, row := c.record.saved, c.record.row
	c.record.takeRows() // nobody has taken them
	c.settings.write(&row)
	c.mu.Unlock()
	if saved {
		return c.opt.Store.History().Append(ctx, m)
	}
	var err error
	if row.ID = c.opt.Session; row.ID == "" {
		if row.ID, err = session.NewID(); err != nil {
			return 0, err
		}
	}
	if c.Private() {
		if err := c.opt.Store.Memory().Keep(ctx, row.ID); err != nil {
			return 0, err
		}
	}
	hold, err := c.opt.Store.Hold(row.ID)
	if err != nil {
		return 0, err
	}
	row, seq, err := c.opt.Store.Begin(ctx, row, m)
	if err != nil {
		return 0, errors.Join(err, hold.Release())
	}
	c.mu.Lock()
	c.record.began(row, hold)
	c.state.Session = row.ID
	c.mu.Unlock()
	c.emitState()
	return seq, nil
}

// appendNotice commits a line of jcode's own for the model.
func (t *turn) appendNotice(ctx context.Context, text string) error {
	return t.appendChange(ctx, text, history.ToolChange{})
}

// appendChange commits a line of jcode's own together with the tools that it announces.
func (t *turn) appendChange(ctx context.Context, text string, change history.ToolChange) error {
	c := t.c
	row, m, err := history.Notice(text, change)
	if err != nil {
		return err
	}
	row.Session = c.record.row.ID
	seq, err := c.opt.Store.History().Append(ctx, row)
	if err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	c.out.history.Push(seq, m)
	return nil
}

// appendAnswer commits an answer with its calls, all pending. An answer without text and
// calls is kept for its usage only and never sent.
func (t *turn) appendAnswer(ctx context.Context, resp model.Response, calls []pendingCall, cost float64) (int64, error) {
	c := t.c
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
	row.Session = c.record.row.ID
	seq, err := c.opt.Store.History().Append(ctx, row)
	if err != nil {
		return 0, fmt.Errorf("store answer: %w", err)
	}
	if history.Says(&m) {
		c.out.history.Push(seq, m)
	}
	return seq, nil
}

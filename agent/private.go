package agent

import (
	"context"
	"errors"
	"slices"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
)

// ErrBegun is returned once a conversation has messages: whether it is stored or private is then final.
var ErrBegun = errors.New("the conversation has begun: /new begins another")

// Private reports whether the conversation is kept in memory only. A sub-agent's follows its parent.
func (c *Conversation) Private() bool {
	for c.parent != nil {
		c = c.parent
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Private
}

// SetPrivate decides before the first message whether the conversation is kept in memory only.
func (c *Conversation) SetPrivate(on bool) error {
	c.mu.Lock()
	begun := c.record.saved && c.state.Private != on
	if !c.record.saved {
		c.state.Private = on
	}
	c.mu.Unlock()
	if begun {
		return ErrBegun
	}
	c.emitState()
	return nil
}

// Keep stores a private conversation from its beginning, and from then on like any other. It waits for a
// running turn to end.
func (c *Conversation) Keep(ctx context.Context) error {
	return c.do(ctx, func(ctx context.Context) error {
		c.mu.Lock()
		saved, id := c.record.saved, c.record.row.ID
		c.mu.Unlock()
		var hold *session.Hold
		if saved && c.opt.Store.Memory().Has(id) {
			if err := c.opt.Store.Memory().Persist(ctx, id); err != nil {
				return err
			}
			var err error
			if hold, err = c.opt.Store.Hold(id); err != nil {
				c.Notify(event.LevelWarn, "%v", err) // it is saved all the same
			}
		}
		c.mu.Lock()
		if hold != nil {
			c.record.hold = hold
		}
		c.state.Private = false
		c.mu.Unlock()
		c.emitState()
		return nil
	})
}

// unlasting removes the answers that would be stored on disk from a question, and returns a func that maps
// the chosen option back to its original index.
func unlasting(q tools.Question) (tools.Question, func(tools.Answer) tools.Answer) {
	var places []int
	var left []tools.AnswerOption
	for i, o := range q.Options {
		if o.Scope != tools.AnswerProject {
			left, places = append(left, o), append(places, i)
		}
	}
	q.Options = slices.Clip(left)
	return q, func(a tools.Answer) tools.Answer {
		if a.Option >= 0 && a.Option < len(places) {
			a.Option = places[a.Option]
		}
		if a.Scope == tools.AnswerProject {
			a.Scope = tools.AnswerOnce
		}
		return a
	}
}

package agent

import (
	"context"
	"errors"
	"sync/atomic"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/agent/model"
	"jcode/session"
)

// Small is a model that is asked in place of a larger one where little depends on the answer: for titles, and drafts of
// notes.
type Small struct {
	// Name is the person's name for it, ID the endpoint's.
	Name, ID string
	Client   model.Client
	// ReasoningEffort is how much it thinks about such a question; "" leaves that to the model.
	ReasoningEffort string
	// Cost returns the price of a usage in US dollars, and false if it is unknown. May be nil.
	Cost func(answered string, u model.Usage) (usd float64, known bool)

	refused atomic.Bool // the provider does not give it to this person: the larger one is asked
}

// refuses reports whether an error says that a model is not to be had: another request to it would end in the same way.
func refuses(err error) bool {
	var bad *model.Error
	if !errors.As(err, &bad) {
		return false
	}
	return bad.Class == model.ClassAuth || bad.Class == model.ClassCredit || bad.Class == model.ClassRequest
}

// askBeside sends a request beside the conversation, to the small model where there is one. If that is refused, the
// conversation's own model is asked, now and from then on. What the answer used is counted, and kept under the name of
// the model that gave it.
func askBeside(ctx context.Context, c *Conversation, m Model, req model.Request) (model.Response, error) {
	silent := func(model.Event) {}
	if s := m.Small; s != nil && !s.refused.Load() {
		own := req
		own.Model, own.ReasoningEffort = s.ID, s.ReasoningEffort
		resp, err := s.Client.Stream(ctx, own, silent)
		if !refuses(err) || ctx.Err() != nil {
			resp.Model = s.ID // whatever the endpoint calls it
			paidBeside(ctx, c, resp, Model{Cost: s.Cost})
			return resp, err
		}
		if !s.refused.Swap(true) {
			c.Notify(event.LevelWarn, "the small model %s is not to be had (%v): %s is asked for titles, drafts of notes and the like; small_model in config.json names another", s.Name, err, m.Name)
		}
	}
	req.Model = m.ID
	resp, err := m.Client.Stream(ctx, req, silent)
	paidBeside(ctx, c, resp, m)
	return resp, err
}

// paidBeside counts and keeps what an answer from beside the conversation used.
func paidBeside(ctx context.Context, c *Conversation, resp model.Response, m Model) {
	used := resp.Usage.Plus(resp.Wasted)
	if used == (model.Usage{}) {
		return
	}
	if resp.Model == "" {
		resp.Model = m.ID
	}
	cost, _ := m.price(resp) // if it is unknown, the turn's answer says so
	row := history.UsageRow(used, resp.Model, cost)
	countBeside(c, row)
	c.mu.Lock()
	saved, id := c.record.saved, c.record.row.ID
	c.mu.Unlock()
	if !saved {
		return
	}
	kept := session.Message{Session: id, Role: session.RoleSystem, Usage: row} // without words, it is never sent or shown
	if _, err := c.opt.Store.History().Append(context.WithoutCancel(ctx), kept); err != nil {
		c.Notify(event.LevelWarn, "what %s used could not be stored: %v", resp.Model, err)
	}
}

// countBeside counts what a request beside the steps used, and says so at once.
func countBeside(c *Conversation, row *session.Usage) {
	c.spent.count(row)
	u := c.Usage()
	u.Beside = true
	c.emit(u)
}

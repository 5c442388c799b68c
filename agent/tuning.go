package agent

import (
	"context"
	"time"

	"jcode/agent/event"
	"jcode/session"
	"jcode/tools"
)

// Tuning holds the settings of a session besides model, role and mode. Nil and zero mean the provider's or
// the program's default.
type Tuning struct {
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	MaxSteps        int
	MaxCost         float64
}

// change changes the settings, stores what belongs to the session's row, and tells the subscribers.
func (c *Conversation) change(what string, set func(s *settings) session.Change) {
	c.mu.Lock()
	ch := set(&c.settings)
	if ch.Model != nil {
		c.state.Model = *ch.Model
	}
	saved, id := c.record.saved, c.record.row.ID
	c.mu.Unlock()
	if saved {
		c.write(what, func(ctx context.Context) error { return c.opt.Store.Update(ctx, id, ch) })
	}
	c.emitState()
}

// SetMode changes the approval mode, also for the remaining calls of this turn. A role that allows less still
// applies: State reports what is in force.
func (c *Conversation) SetMode(m tools.Mode) {
	c.change("store mode", func(s *settings) session.Change { return s.setMode(m) })
}

// SetModel changes the model from the next request on. Temperature and the like stay as they were set. The
// choice takes precedence over a role's model, even after the role ends.
func (c *Conversation) SetModel(name string) error {
	m, err := c.opt.Resolve(name)
	if err == nil {
		c.change("store model", func(s *settings) session.Change { return s.setModel(m) })
	}
	return err
}

// current returns the current model.
func (c *Conversation) current() Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.model
}

// Window returns the context window of the current model in tokens, 0 when unknown.
func (c *Conversation) Window() int { return c.current().Window }

// Sees reports whether the current model accepts images.
func (c *Conversation) Sees() bool { return c.current().Sees }

// Mode returns the approval mode that the person chose; a role may allow less.
func (c *Conversation) Mode() tools.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.mode
}

// Usage returns what the session has used so far, its sub-agents included, in the form in which steps report
// it. What the next request needs is known only after the first step.
func (c *Conversation) Usage() event.Usage {
	total, cost := c.spent.sum()
	c.mu.Lock()
	counted := c.counted
	c.mu.Unlock()
	return event.Usage{Total: total, Context: counted.context, Window: c.Window(), Cost: cost, Priced: cost > 0 || counted.priced}
}

// Tuning returns the settings in force.
func (c *Conversation) Tuning() Tuning {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.settings.model
	return Tuning{
		Temperature: m.Temperature, TopP: m.TopP, ReasoningEffort: m.ReasoningEffort,
		MaxOutputTokens: m.MaxOutputTokens, MaxSteps: c.opt.MaxSteps, MaxCost: c.opt.MaxCost,
	}
}

// Tune puts other settings in force from the next request on.
func (c *Conversation) Tune(t Tuning) {
	if t.MaxSteps <= 0 {
		t.MaxSteps = DefaultMaxSteps
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settings.tune(t)
	c.opt.MaxSteps, c.opt.MaxCost = t.MaxSteps, t.MaxCost
	c.spent.limit(t.MaxCost)
}

// windowWait limits the search for a model's window.
const windowWait = 15 * time.Second

// findWindow looks up the window of a model whose window is unknown: once, in the background, so that no
// request waits for it.
func (t *turn) findWindow() {
	c := t.c
	c.mu.Lock()
	m, seek := c.settings.seekWindow()
	c.mu.Unlock()
	if !seek {
		return
	}
	c.background.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, windowWait)
		defer cancel()
		if window := m.FindWindow(ctx); window > 0 {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.settings.foundWindow(m, window)
		}
	})
}

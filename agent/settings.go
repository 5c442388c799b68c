package agent

import (
	"context"

	"jcode/session"
	"jcode/tools"
)

// SetMode changes the approval mode, also for calls that are still to come in this turn.
// A role that allows less holds all the same: State says what is in force.
func (c *Conversation) SetMode(m tools.Mode) {
	c.mu.Lock()
	c.mode = m
	c.state.Mode = m.Under(c.scope.Ceiling())
	saved, id := c.saved, c.row.ID
	c.mu.Unlock()
	if saved {
		mode := string(m)
		c.write("store mode", func(ctx context.Context) error {
			return c.opt.Store.Update(ctx, id, session.Change{Mode: &mode})
		})
	}
	c.emitState()
}

// Window is the context window of the current model in tokens, 0 when unknown.
func (c *Conversation) Window() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model.Window
}

// Sees reports whether the current model takes images.
func (c *Conversation) Sees() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model.Sees
}

// Mode is the approval mode that the person chose; a role may allow less.
func (c *Conversation) Mode() tools.Mode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// SetModel changes the model from the next request on. Temperature and the like stay as
// they were set. It goes before a role's model, also when the role ends.
func (c *Conversation) SetModel(name string) error {
	m, err := c.opt.Resolve(name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.model = m.tunedAs(c.model)
	c.own.Model = m.Name
	c.chosen++
	c.state.Model = m.Name
	saved, id := c.saved, c.row.ID
	c.mu.Unlock()
	if saved {
		c.write("store model", func(ctx context.Context) error {
			return c.opt.Store.Update(ctx, id, session.Change{Model: &m.Name})
		})
	}
	c.emitState()
	return nil
}

// Rename sets the title that the person chose.
func (c *Conversation) Rename(title string) error {
	c.mu.Lock()
	saved, id := c.saved, c.row.ID
	c.row.Title, c.row.TitleSource = title, "user"
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

package agent

import (
	"context"
	"fmt"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/tools"
)

// Role is a role with all names resolved, ready to be put in force. The zero value is the bare session.
type Role struct {
	Name string
	// Template, when set, holds the pieces of text around the placeholders for the user message.
	Template []string
	// Prompt is the role's part of the system prompt.
	Prompt string
	// FewShot are example turns that precede the history.
	FewShot []model.Message
	// Model is the model's name; "" keeps the current one.
	Model           string
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	// MaxSteps bounds the requests of a sub-agent in the role; 0 means that the role sets no limit.
	MaxSteps int
	// Scope is what the role may use; nil means everything.
	Scope *tools.Scope
	// Servers are the MCP servers that must run for it; nil leaves them as they are.
	Servers []string
	// Snapshot is the role as stored with the session.
	Snapshot string
	// Values are the values of the role's variables, by name. They are kept with the session.
	Values map[string]string
}

// Leaser acquires MCP servers by name for as long as they are needed.
type Leaser interface {
	// Acquire starts what is missing, in parallel, and returns when all are usable. On an error nothing is held.
	Acquire(ctx context.Context, names []string) (release func(), err error)
}

// SetRole switches to a role, or with "" back to the session's own settings. The switch is atomic: servers
// are acquired while the old scope still holds its own, and any failure leaves everything as it was. During a
// turn it takes effect at the next step.
func (c *Conversation) SetRole(ctx context.Context, name string) error {
	return c.SetRoleWith(ctx, name, nil)
}

// EnterRole switches to a role that is already resolved, as SetRole does: the role of a stored session, as it
// was then.
func (c *Conversation) EnterRole(ctx context.Context, role Role) error {
	if err := c.putInForce(ctx, role); err != nil {
		return err
	}
	c.mu.Lock()
	ch := c.settings.enter(role)
	saved, id := c.record.saved, c.record.row.ID
	c.mu.Unlock()
	if !saved {
		return nil
	}
	if err := c.opt.Store.Update(context.WithoutCancel(ctx), id, ch); err != nil {
		return fmt.Errorf("store role: %w", err)
	}
	return nil
}

// Role returns the session's current role, ignoring one that applies to a single message.
func (c *Conversation) Role() Role {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.standing
}

// OwnModel returns the session's own model, which applies without a role.
func (c *Conversation) OwnModel() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.ownModel()
}

// announceRole rebuilds the system prompt after a switch, and tells the model once.
func (t *turn) announceRole(ctx context.Context) error {
	c := t.c
	c.mu.Lock()
	role := c.settings.takeEntered()
	c.mu.Unlock()
	if role == nil {
		return nil
	}
	first := !c.out.prompted // nothing has been sent yet that could differ
	c.out.prompted = false
	if first {
		return nil
	}
	return t.appendNotice(ctx, roleLine(*role))
}

func roleLine(role Role) string {
	if role.Name == "" {
		return "The role ended; the session's own settings apply again."
	}
	return "The user switched to the role " + role.Name + "."
}

// putInForce acquires a role's servers and model, swaps the scope, and releases the old one.
func (c *Conversation) putInForce(ctx context.Context, role Role) error {
	c.mu.Lock()
	m := c.settings.beforeRole()
	c.mu.Unlock()
	if role.Model != "" && role.Model != m.Name {
		var err error
		if m, err = c.opt.Resolve(role.Model); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
	}
	var release func()
	if role.Servers != nil && c.opt.Leases != nil {
		var err error
		if release, err = c.opt.Leases.Acquire(ctx, role.Servers); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
		if ctx.Err() != nil { // cancelled at the last moment
			release()
			return fmt.Errorf("role %s: %w", role.Name, ctx.Err())
		}
	}
	c.mu.Lock()
	old := c.lease
	c.lease = release
	c.settings.putInForce(role, m)
	c.state.Model = m.Name
	c.mu.Unlock()
	if old != nil {
		old()
	}
	c.opt.Extensions.scoped(role.Scope)
	c.emitState()
	return nil
}

// borrowRole applies a role for one message; the function it returns restores the previous one,
// equally atomically.
func (t *turn) borrowRole(ctx context.Context, name string) (func(), error) {
	c := t.c
	c.mu.Lock()
	before, switches, m, chosen := c.settings.role, c.settings.switches, c.settings.model, c.settings.chosen
	own, kept := c.settings.own, c.settings.valuesOf(name)
	c.mu.Unlock()
	role, err := c.roles.named(ctx, name, own, kept, nil)
	if err != nil {
		return nil, err
	}
	if err := c.putInForce(ctx, role); err != nil {
		return nil, err
	}
	if err := t.storeValues(ctx, role); err != nil {
		c.Notify(event.LevelWarn, "the values of role %s are not kept: %v", role.Name, err)
	}
	c.out.prompted = false
	lent := c.State().Model
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), finalWrites)
		defer cancel()
		c.mu.Lock()
		switched := c.settings.switches != switches
		if before.Name == "" {
			before = c.settings.own
		}
		m := c.settings.backTo(m, lent, chosen)
		before.Model = "" // the previous one is restored, whoever set it
		c.mu.Unlock()
		if switched { // the person has chosen another role meanwhile: that one stays
			return
		}
		if err := c.putInForce(ctx, before); err != nil {
			c.Notify(event.LevelError, "restore role: %v", err)
		}
		c.mu.Lock()
		c.settings.model = m
		c.state.Model = m.Name
		c.mu.Unlock()
		c.emitState()
		c.out.prompted = false
	}, nil
}

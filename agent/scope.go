package agent

import (
	"context"
	"fmt"

	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// Role is a role with all names resolved, as a conversation puts it in force. The zero
// value is the bare session.
type Role struct {
	Name string
	// Template, when set, are the texts around the places that a user message is put into.
	Template []string
	// Prompt is the role's part of the system prompt.
	Prompt string
	// FewShot are example turns that stand before the history.
	FewShot []model.Message
	// Model is the model's name; "" keeps the current one.
	Model           string
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	// MaxSteps bounds the requests of a sub-agent in the role, 0 for none of its own.
	MaxSteps int
	// Scope is what the role may use; nil means everything.
	Scope *tools.Scope
	// Servers are the MCP servers that must run for it; nil leaves them as they are.
	Servers []string
	// Snapshot is the role as stored with the session.
	Snapshot string
	// Values are those of the role's variables, by name. They are kept with the session.
	Values map[string]string
}

// Leaser acquires MCP servers by name for as long as they are needed.
type Leaser interface {
	// Acquire starts what is missing, in parallel, and returns when all are usable. On an
	// error nothing is held.
	Acquire(ctx context.Context, names []string) (release func(), err error)
}

// SetRole switches to a role, or with "" back to the session's own settings. The switch is
// atomic: servers are acquired while the old scope still holds its own, and any failure
// leaves everything as it was. During a turn it takes effect from the next step on.
func (c *Conversation) SetRole(ctx context.Context, name string) error {
	return c.SetRoleWith(ctx, name, nil)
}

// EnterRole switches to a role as SetRole does, for a role that was not found by its name:
// the one that a stored session was in, as it was then.
func (c *Conversation) EnterRole(ctx context.Context, role Role) error {
	if err := c.putInForce(ctx, role); err != nil {
		return err
	}
	c.mu.Lock()
	saved, id := c.saved, c.row.ID
	c.entered = &role
	c.standing = role
	c.switches++
	c.row.RoleName, c.row.RoleSnapshot = role.Name, role.Snapshot
	values := c.keepValues(role)
	c.mu.Unlock()
	if !saved {
		return nil
	}
	if err := c.opt.Store.Update(context.WithoutCancel(ctx), id, session.Change{RoleName: &role.Name, RoleSnapshot: &role.Snapshot, RoleValues: &values}); err != nil {
		return fmt.Errorf("store role: %w", err)
	}
	return nil
}

// Role is the role that the session is in, apart from one that holds for a single message.
func (c *Conversation) Role() Role {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.standing
}

// OwnModel is the name of the session's own model, which holds without a role.
func (c *Conversation) OwnModel() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.role.Name == "" {
		return c.model.Name
	}
	return c.own.Model
}

// announceRole builds the system prompt afresh after a switch, and tells the model once.
func (c *Conversation) announceRole(ctx context.Context) error {
	c.mu.Lock()
	role := c.entered
	c.entered = nil
	c.mu.Unlock()
	if role == nil {
		return nil
	}
	first := !c.prompted // nothing was sent yet that could differ
	c.prompted = false
	if first {
		return nil
	}
	return c.appendNotice(ctx, roleLine(*role))
}

func roleLine(role Role) string {
	if role.Name == "" {
		return "The role ended; the session's own settings hold again."
	}
	return "The person switched to the role " + role.Name + "."
}

func (c *Conversation) findRole(ctx context.Context, name string) (Role, error) {
	if name == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.own, nil
	}
	return c.requestRole(ctx, RoleRequest{Name: name, Kept: c.RoleValues(name)})
}

// putInForce acquires a role's servers and model, swaps the scope, and releases the old one.
func (c *Conversation) putInForce(ctx context.Context, role Role) error {
	c.mu.Lock()
	m, wasRole := c.model, c.role.Name != ""
	c.mu.Unlock()
	if !wasRole {
		c.keepOwn(m)
	}
	if role.Model != "" && role.Model != m.Name {
		var err error
		if m, err = c.opt.Resolve(role.Model); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
	}
	m.Temperature, m.TopP, m.ReasoningEffort, m.MaxOutputTokens = role.Temperature, role.TopP, role.ReasoningEffort, role.MaxOutputTokens
	var release func()
	if role.Servers != nil && c.opt.Leases != nil {
		var err error
		if release, err = c.opt.Leases.Acquire(ctx, role.Servers); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
		if ctx.Err() != nil { // taken back in the last moment
			release()
			return fmt.Errorf("role %s: %w", role.Name, ctx.Err())
		}
	}
	c.mu.Lock()
	old := c.lease
	c.role, c.scope, c.model, c.lease = role, role.Scope, m, release
	c.state.Role, c.state.Model = role.Name, m.Name
	c.state.Mode = c.mode.Under(role.Scope.Ceiling())
	c.mu.Unlock()
	if old != nil {
		old()
	}
	if c.opt.Scoped != nil {
		c.opt.Scoped(role.Scope)
	}
	c.emitState()
	return nil
}

// keepOwn remembers the session's own settings before the first role.
func (c *Conversation) keepOwn(m Model) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own = Role{Model: m.Name, Temperature: m.Temperature, TopP: m.TopP, ReasoningEffort: m.ReasoningEffort, MaxOutputTokens: m.MaxOutputTokens}
}

// borrowRole puts a role in force for one message; the function it returns restores what
// was before, in the same atomic way.
func (c *Conversation) borrowRole(ctx context.Context, name string) (func(), error) {
	c.mu.Lock()
	before, switches, m, chosen := c.role, c.switches, c.model, c.chosen
	c.mu.Unlock()
	role, err := c.findRole(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := c.putInForce(ctx, role); err != nil {
		return nil, err
	}
	if err := c.storeValues(ctx, role); err != nil {
		c.Notify(LevelWarn, "the values of role %s are not kept: %v", role.Name, err)
	}
	c.prompted = false
	lent := c.State().Model
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), finalWrites)
		defer cancel()
		c.mu.Lock()
		switched := c.switches != switches
		if before.Name == "" {
			before = c.own
		}
		m := c.backTo(m, lent, chosen)
		before.Model = "" // the one from before is put back, whoever set it
		c.mu.Unlock()
		if switched { // the person has chosen another role meanwhile: that one holds
			return
		}
		if err := c.putInForce(ctx, before); err != nil {
			c.Notify(LevelError, "restore role: %v", err)
		}
		c.mu.Lock()
		c.model = m
		c.state.Model = m.Name
		c.mu.Unlock()
		c.emitState()
		c.prompted = false
	}, nil
}

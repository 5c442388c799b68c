package agent

import (
	"context"
	"fmt"

	"jcode/agent/event"
	"jcode/agent/model"
	"jcode/session"
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

// roleState is the part of a conversation that knows its role and the resulting scope.
type roleState struct {
	c        *Conversation
	scope    *tools.Scope
	role     Role  // in force
	standing Role  // entered by the person; role differs from it while a message in another role is worked on
	switches int   // how often a role was entered
	own      Role  // the session's own settings, in force without a role
	entered  *Role // a switch that the model has not been told of yet
	lease    func()
}

// SetRole switches to a role, or with "" back to the session's own settings. The switch is atomic: servers
// are acquired while the old scope still holds its own, and any failure leaves everything as it was. During a
// turn it takes effect at the next step.
func (rs *roleState) SetRole(ctx context.Context, name string) error {
	return rs.SetRoleWith(ctx, name, nil)
}

// EnterRole switches to a role that is already resolved, as SetRole does: the role of a stored session, as it
// was then.
func (rs *roleState) EnterRole(ctx context.Context, role Role) error {
	if err := rs.putInForce(ctx, role); err != nil {
		return err
	}
	rs.c.mu.Lock()
	saved, id := rs.c.saved, rs.c.row.ID
	rs.entered = &role
	rs.standing = role
	rs.switches++
	rs.c.row.RoleName, rs.c.row.RoleSnapshot = role.Name, role.Snapshot
	values := rs.keepValues(role)
	rs.c.mu.Unlock()
	if !saved {
		return nil
	}
	if err := rs.c.opt.Store.Update(context.WithoutCancel(ctx), id, session.Change{RoleName: &role.Name, RoleSnapshot: &role.Snapshot, RoleValues: &values}); err != nil {
		return fmt.Errorf("store role: %w", err)
	}
	return nil
}

// Role returns the session's current role, ignoring one that applies to a single message.
func (rs *roleState) Role() Role {
	rs.c.mu.Lock()
	defer rs.c.mu.Unlock()
	return rs.standing
}

// OwnModel returns the session's own model, which applies without a role.
func (rs *roleState) OwnModel() string {
	rs.c.mu.Lock()
	defer rs.c.mu.Unlock()
	if rs.role.Name == "" {
		return rs.c.model.Name
	}
	return rs.own.Model
}

// announceRole rebuilds the system prompt after a switch, and tells the model once.
func (rs *roleState) announceRole(ctx context.Context) error {
	rs.c.mu.Lock()
	role := rs.entered
	rs.entered = nil
	rs.c.mu.Unlock()
	if role == nil {
		return nil
	}
	first := !rs.c.prompted // nothing has been sent yet that could differ
	rs.c.prompted = false
	if first {
		return nil
	}
	return rs.c.appendNotice(ctx, roleLine(*role))
}

func roleLine(role Role) string {
	if role.Name == "" {
		return "The role ended; the session's own settings hold again."
	}
	return "The person switched to the role " + role.Name + "."
}

// findRole resolves a role with values for its variables; "" means the session's own settings.
func (rs *roleState) findRole(ctx context.Context, name string, given map[string]string) (Role, error) {
	if name == "" {
		rs.c.mu.Lock()
		defer rs.c.mu.Unlock()
		return rs.own, nil
	}
	return rs.requestRole(ctx, RoleRequest{Name: name, Kept: rs.RoleValues(name), Given: given})
}

// putInForce acquires a role's servers and model, swaps the scope, and releases the old one.
func (rs *roleState) putInForce(ctx context.Context, role Role) error {
	rs.c.mu.Lock()
	m, wasRole := rs.c.model, rs.role.Name != ""
	rs.c.mu.Unlock()
	if !wasRole {
		rs.keepOwn(m)
	}
	if role.Model != "" && role.Model != m.Name {
		var err error
		if m, err = rs.c.opt.Resolve(role.Model); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
	}
	m.Temperature, m.TopP, m.ReasoningEffort, m.MaxOutputTokens = role.Temperature, role.TopP, role.ReasoningEffort, role.MaxOutputTokens
	var release func()
	if role.Servers != nil && rs.c.opt.Leases != nil {
		var err error
		if release, err = rs.c.opt.Leases.Acquire(ctx, role.Servers); err != nil {
			return fmt.Errorf("role %s: %w", role.Name, err)
		}
		if ctx.Err() != nil { // cancelled at the last moment
			release()
			return fmt.Errorf("role %s: %w", role.Name, ctx.Err())
		}
	}
	rs.c.mu.Lock()
	old := rs.lease
	rs.role, rs.scope, rs.c.model, rs.lease = role, role.Scope, m, release
	rs.c.state.Role, rs.c.state.Model = role.Name, m.Name
	rs.c.state.Mode = rs.c.mode.Under(role.Scope.Ceiling())
	rs.c.mu.Unlock()
	if old != nil {
		old()
	}
	rs.c.opt.Extensions.scoped(role.Scope)
	rs.c.emitState()
	return nil
}

// keepOwn saves the session's own settings before the first role.
func (rs *roleState) keepOwn(m Model) {
	rs.c.mu.Lock()
	defer rs.c.mu.Unlock()
	rs.own = Role{Model: m.Name, Temperature: m.Temperature, TopP: m.TopP, ReasoningEffort: m.ReasoningEffort, MaxOutputTokens: m.MaxOutputTokens}
}

// borrowRole applies a role for one message; the function it returns restores the previous one,
// equally atomically.
func (rs *roleState) borrowRole(ctx context.Context, name string) (func(), error) {
	rs.c.mu.Lock()
	before, switches, m, chosen := rs.role, rs.switches, rs.c.model, rs.c.chosen
	rs.c.mu.Unlock()
	role, err := rs.findRole(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	if err := rs.putInForce(ctx, role); err != nil {
		return nil, err
	}
	if err := rs.storeValues(ctx, role); err != nil {
		rs.c.Notify(event.LevelWarn, "the values of role %s are not kept: %v", role.Name, err)
	}
	rs.c.prompted = false
	lent := rs.c.State().Model
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(rs.c.ctx), finalWrites)
		defer cancel()
		rs.c.mu.Lock()
		switched := rs.switches != switches
		if before.Name == "" {
			before = rs.own
		}
		m := rs.c.backTo(m, lent, chosen)
		before.Model = "" // the previous one is restored, whoever set it
		rs.c.mu.Unlock()
		if switched { // the person has chosen another role meanwhile: that one stays
			return
		}
		if err := rs.putInForce(ctx, before); err != nil {
			rs.c.Notify(event.LevelError, "restore role: %v", err)
		}
		rs.c.mu.Lock()
		rs.c.model = m
		rs.c.state.Model = m.Name
		rs.c.mu.Unlock()
		rs.c.emitState()
		rs.c.prompted = false
	}, nil
}

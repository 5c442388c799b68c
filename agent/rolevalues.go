package agent

import (
	"context"
	"errors"
	"fmt"

	"jcode/session"
	"jcode/tools"
)

// RoleRequest asks for a role, with the known values of its variables.
type RoleRequest struct {
	Name string
	// Kept are values that the session already has, Given those that come with this request. Given values take
	// precedence, and one that does not fit is an error.
	Kept, Given map[string]string
	// Unset is a variable whose kept value no longer applies; "" for none.
	Unset string
	// Ask shows the person a form for what is missing; nil when there is nobody to ask.
	Ask func(ctx context.Context, f tools.Form) (tools.FormAnswer, error)
	// Agent says that the request comes from a tool call, for a sub-agent.
	Agent bool
}

// ErrNotEntered is returned when the person cancelled the switch to a role.
var ErrNotEntered = errors.New("the switch was taken back")

// SetRoleWith switches to a role as SetRole does, with values for its variables.
func (c *Conversation) SetRoleWith(ctx context.Context, name string, given map[string]string) error {
	c.mu.Lock()
	own, kept := c.settings.own, c.settings.valuesOf(name)
	c.mu.Unlock()
	role, err := c.roles.named(ctx, name, own, kept, given)
	if err != nil {
		return err
	}
	return c.EnterRole(ctx, role)
}

// SetRoleValue changes the value of a variable of the session's current role, and re-enters the role. ""
// restores the variable's default.
func (c *Conversation) SetRoleValue(ctx context.Context, key, value string) error {
	name := c.Role().Name
	if name == "" {
		return errors.New("the session is in no role: /role NAME enters one")
	}
	want := RoleRequest{Name: name, Kept: c.RoleValues(name), Given: map[string]string{key: value}}
	if value == "" {
		want.Given, want.Unset = nil, key
	}
	role, err := c.roles.request(ctx, want)
	if err != nil {
		return err
	}
	return c.EnterRole(ctx, role)
}

// TakeRoleValues copies the values that another conversation keeps for the variables of roles.
func (c *Conversation) TakeRoleValues(from *Conversation) {
	from.mu.Lock()
	kept := from.settings.values
	from.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settings.values = kept
}

// RoleValues returns the values that the session keeps for the variables of a role.
func (c *Conversation) RoleValues(role string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings.valuesOf(role)
}

// storeValues stores the values of a role that applies to one message.
func (t *turn) storeValues(ctx context.Context, role Role) error {
	c := t.c
	c.mu.Lock()
	before := c.settings.values
	values := c.settings.keepValues(role)
	saved, id := c.record.saved, c.record.row.ID
	c.mu.Unlock()
	if !saved || values == before {
		return nil
	}
	return c.opt.Store.Update(context.WithoutCancel(ctx), id, session.Change{RoleValues: &values})
}

// roleFinder finds roles by name. The form of a role is shown to the person, if one is there.
type roleFinder struct {
	find     func(ctx context.Context, want RoleRequest) (Role, error) // nil: there are no roles
	headless bool
	watched  func() bool
	person   *Person
}

// request finds a role.
func (f roleFinder) request(ctx context.Context, want RoleRequest) (Role, error) {
	if f.find == nil {
		return Role{}, fmt.Errorf("unknown role %q", want.Name)
	}
	if !want.Agent && !f.headless && f.watched() {
		want.Ask = f.person.AskForm
	}
	return f.find(ctx, want)
}

// named resolves a role with values for its variables, kept are those of the session; "" means own, the session's own
// settings.
func (f roleFinder) named(ctx context.Context, name string, own Role, kept, given map[string]string) (Role, error) {
	if name == "" {
		return own, nil
	}
	return f.request(ctx, RoleRequest{Name: name, Kept: kept, Given: given})
}

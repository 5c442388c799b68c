package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"jcode/session"
	"jcode/tools"
)

// RoleRequest asks for a role, with what is known of the values of its variables.
type RoleRequest struct {
	Name string
	// Kept are values that the session has from before. Given ones come now: they go first,
	// and one that does not fit is an error.
	Kept, Given map[string]string
	// Unset is a variable whose kept value no longer counts; "" is none.
	Unset string
	// Ask puts a form to the person, for what is missing; nil where there is no one to ask.
	Ask func(ctx context.Context, f tools.Form) (tools.FormAnswer, error)
	// Agent says that a tool call asks, for a sub-agent.
	Agent bool
}

// ErrNotEntered says that the person took the switch to a role back.
var ErrNotEntered = errors.New("the switch was taken back")

// SetRoleWith switches to a role as SetRole does, with values for its variables.
func (c *Conversation) SetRoleWith(ctx context.Context, name string, given map[string]string) error {
	if name == "" {
		role, err := c.findRole(ctx, "")
		if err != nil {
			return err
		}
		return c.EnterRole(ctx, role)
	}
	role, err := c.requestRole(ctx, RoleRequest{Name: name, Kept: c.RoleValues(name), Given: given})
	if err != nil {
		return err
	}
	return c.EnterRole(ctx, role)
}

// SetRoleValue changes the value of a variable of the role that the session is in, and enters
// the role anew. With "" the variable's default holds again.
func (c *Conversation) SetRoleValue(ctx context.Context, key, value string) error {
	name := c.Role().Name
	if name == "" {
		return errors.New("the session is in no role: /role NAME enters one")
	}
	want := RoleRequest{Name: name, Kept: c.RoleValues(name), Given: map[string]string{key: value}}
	if value == "" {
		want.Given, want.Unset = nil, key
	}
	role, err := c.requestRole(ctx, want)
	if err != nil {
		return err
	}
	return c.EnterRole(ctx, role)
}

// TakeRoleValues takes over what another conversation keeps for the variables of roles.
func (c *Conversation) TakeRoleValues(from *Conversation) {
	from.mu.Lock()
	kept := from.row.RoleValues
	from.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row.RoleValues = kept
}

// RoleValues returns the values that the session keeps for the variables of a role.
func (c *Conversation) RoleValues(role string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(readValues(c.row.RoleValues)[role])
}

// readValues reads what the session's row keeps. What can't be read is asked for again.
func readValues(kept string) map[string]map[string]string {
	all := map[string]map[string]string{}
	if kept == "" || json.Unmarshal([]byte(kept), &all) != nil || all == nil {
		return map[string]map[string]string{}
	}
	return all
}

// keepValues puts the values of a role with those that the session keeps, and returns the text
// for its row. The caller holds the lock.
func (c *Conversation) keepValues(role Role) string {
	all := readValues(c.row.RoleValues)
	if len(role.Values) == 0 && all[role.Name] == nil {
		return c.row.RoleValues
	}
	all[role.Name] = role.Values
	if b, err := json.Marshal(all); err == nil { // maps of strings are always JSON
		c.row.RoleValues = string(b)
	}
	return c.row.RoleValues
}

// storeValues keeps the values of a role that holds for one message.
func (c *Conversation) storeValues(ctx context.Context, role Role) error {
	c.mu.Lock()
	before := c.row.RoleValues
	values := c.keepValues(role)
	saved, id := c.saved, c.row.ID
	c.mu.Unlock()
	if !saved || values == before {
		return nil
	}
	return c.opt.Store.Update(context.WithoutCancel(ctx), id, session.Change{RoleValues: &values})
}

// requestRole finds a role. Its form is put to the person of this conversation.
func (c *Conversation) requestRole(ctx context.Context, want RoleRequest) (Role, error) {
	if c.opt.Roles == nil {
		return Role{}, fmt.Errorf("unknown role %q", want.Name)
	}
	if !want.Agent && !c.opt.Headless && c.broker.watched() {
		want.Ask = c.AskForm
	}
	return c.opt.Roles(ctx, want)
}

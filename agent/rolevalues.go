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
func (rs *roleState) SetRoleWith(ctx context.Context, name string, given map[string]string) error {
	role, err := rs.findRole(ctx, name, given)
	if err != nil {
		return err
	}
	return rs.EnterRole(ctx, role)
}

// SetRoleValue changes the value of a variable of the session's current role, and re-enters the role. ""
// restores the variable's default.
func (rs *roleState) SetRoleValue(ctx context.Context, key, value string) error {
	name := rs.Role().Name
	if name == "" {
		return errors.New("the session is in no role: /role NAME enters one")
	}
	want := RoleRequest{Name: name, Kept: rs.RoleValues(name), Given: map[string]string{key: value}}
	if value == "" {
		want.Given, want.Unset = nil, key
	}
	role, err := rs.requestRole(ctx, want)
	if err != nil {
		return err
	}
	return rs.EnterRole(ctx, role)
}

// TakeRoleValues copies the values that another conversation keeps for the variables of roles.
func (rs *roleState) TakeRoleValues(from *Conversation) {
	from.mu.Lock()
	kept := from.row.RoleValues
	from.mu.Unlock()
	rs.c.mu.Lock()
	defer rs.c.mu.Unlock()
	rs.c.row.RoleValues = kept
}

// RoleValues returns the values that the session keeps for the variables of a role.
func (rs *roleState) RoleValues(role string) map[string]string {
	rs.c.mu.Lock()
	defer rs.c.mu.Unlock()
	return maps.Clone(readValues(rs.c.row.RoleValues)[role])
}

// readValues reads what the session's row keeps. Values that can't be read are asked for again.
func readValues(kept string) map[string]map[string]string {
	all := map[string]map[string]string{}
	if kept == "" || json.Unmarshal([]byte(kept), &all) != nil || all == nil {
		return map[string]map[string]string{}
	}
	return all
}

// keepValues adds the values of a role to those that the session keeps, and returns the text for its row. The
// caller holds the lock.
func (rs *roleState) keepValues(role Role) string {
	all := readValues(rs.c.row.RoleValues)
	if len(role.Values) == 0 && all[role.Name] == nil {
		return rs.c.row.RoleValues
	}
	all[role.Name] = role.Values
	if b, err := json.Marshal(all); err == nil { // maps of strings are always JSON
		rs.c.row.RoleValues = string(b)
	}
	return rs.c.row.RoleValues
}

// storeValues stores the values of a role that applies to one message.
func (rs *roleState) storeValues(ctx context.Context, role Role) error {
	rs.c.mu.Lock()
	before := rs.c.row.RoleValues
	values := rs.keepValues(role)
	saved, id := rs.c.saved, rs.c.row.ID
	rs.c.mu.Unlock()
	if !saved || values == before {
		return nil
	}
	return rs.c.opt.Store.Update(context.WithoutCancel(ctx), id, session.Change{RoleValues: &values})
}

// requestRole finds a role. Its form is shown to the person of this conversation.
func (rs *roleState) requestRole(ctx context.Context, want RoleRequest) (Role, error) {
	if rs.c.opt.Roles == nil {
		return Role{}, fmt.Errorf("unknown role %q", want.Name)
	}
	if !want.Agent && !rs.c.opt.Headless && rs.c.broker.Watched() {
		want.Ask = rs.c.AskForm
	}
	return rs.c.opt.Roles(ctx, want)
}

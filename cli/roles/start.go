package rolescli

import (
	"context"
	"errors"
	"fmt"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/session"
	"jcode/session/role"
)

// Starts enters the role in which a conversation begins or continues.
type Starts struct {
	Flags   Flags
	Board   *board.Board
	Store   *session.Store
	Layers  func() *role.Layers
	Scopes  Scopes
	First   *First
	Prelude func() string // the setting prelude.role
}

// Flags are what the command line says of the role of its first conversation.
type Flags struct {
	Role   *string   // of --role; "" once it was entered
	Values *[]string // of --var
	Print  bool      // -p
}

// Begin starts a conversation in the role that --role or the configuration names.
func (a Starts) Begin(ctx context.Context, opt agent.Options) (*agent.Conversation, error) {
	conv, err := agent.New(opt)
	if err != nil {
		return nil, err
	}
	return a.InRole(ctx, conv, "")
}

// InRole returns a conversation in the role in which it begins, or continues after resumed; on an error it closes
// the conversation.
func (a Starts) InRole(ctx context.Context, conv *agent.Conversation, resumed string) (*agent.Conversation, error) {
	if err := a.begInRole(ctx, conv, resumed); err != nil {
		conv.Close()
		return nil, err
	}
	return conv, nil
}

// beginRole enters the role that --role names, otherwise the stored role of a resumed session, in the version
// that the session used.
func (a Starts) begInRole(ctx context.Context, conv *agent.Conversation, resumed string) error {
	given, err := a.givenValues()
	if err != nil {
		return err
	}
	if name := *a.Flags.Role; name != "" {
		*a.Flags.Role, *a.Flags.Values = "", nil // for the first conversation only
		return a.enterOrAsk(ctx, conv, name, given)
	}
	if resumed == "" {
		return a.preludeRole(ctx, conv)
	}
	row, err := a.Store.Get(ctx, resumed)
	if err != nil || row.RoleName == "" {
		return err
	}
	kept, err := role.FromSnapshot(row.RoleSnapshot)
	if err != nil {
		return conv.SetRole(ctx, row.RoleName)
	}
	if err := a.enterKept(ctx, conv, kept); err != nil {
		a.Board.Say(event.LevelWarn, "the session's role can't be entered: %v", err)
		return nil
	}
	if now, err := a.Layers().Get(ctx, row.RoleName); err != nil || !now.SameAs(kept) {
		a.Board.Say(event.LevelWarn, "role %s has changed since this session entered it; /role %s enters it again", row.RoleName, row.RoleName)
	}
	return nil
}

// ToEnter is a role that needs values before a form can be shown.
type ToEnter struct {
	Name  string
	Given map[string]string
}

// First holds a role that asks for values until there is a screen on which to enter it.
type First struct {
	Forms bool // there will be a screen that shows forms
	role  *ToEnter
}

// Take returns the role, once; nil for none.
func (f *First) Take() *ToEnter {
	role := f.role
	f.role = nil
	return role
}

// enterOrAsk enters a role of the command line or the configuration. Its questions are asked once there is a
// screen for the form; a run without a person ends.
func (a Starts) enterOrAsk(ctx context.Context, conv *agent.Conversation, name string, given map[string]string) error {
	err := conv.SetRoleWith(ctx, name, given)
	var missing *role.MissingError
	switch {
	case !errors.As(err, &missing):
		return err
	case a.First.Forms:
		a.First.role = &ToEnter{name, given}
		return nil
	}
	return fmt.Errorf("%w. Give each as --var NAME=VALUE", err)
}

// preludeRole enters the role that the configuration begins with. The person did not request it now, so if it
// can't be entered they are told and continue without it; a run without a person ends.
func (a Starts) preludeRole(ctx context.Context, conv *agent.Conversation) error {
	name := a.Prelude()
	if name == "" {
		return nil
	}
	err := a.enterOrAsk(ctx, conv, name, nil)
	if err == nil || a.Flags.Print {
		return err
	}
	a.Board.Say(event.LevelError, "the prelude's role is not entered: %v", err)
	return nil
}

// enterKept enters a role as a session stored it. The session must not be lost because a server, a tool or a
// skill is; the role still narrows what is available.
func (a Starts) enterKept(ctx context.Context, conv *agent.Conversation, kept role.Role) error {
	values, missing, err := kept.Values(conv.RoleValues(kept.Name), nil)
	if err == nil && missing != nil {
		err = missingValues(kept, missing)
	}
	if err != nil {
		return err
	}
	role, unknown, err := a.Scopes.resolveRole(ctx, kept, values)
	if err != nil {
		return err
	}
	if unknown != nil {
		a.Board.Say(event.LevelWarn, "the role %s of this session continues without what is gone: %s", kept.Name, problemText(unknown))
	}
	if err = conv.EnterRole(ctx, role); err == nil || role.Servers == nil {
		return err
	}
	a.Board.Say(event.LevelWarn, "the role %s of this session continues without its servers: %v", kept.Name, err)
	role.Servers = nil
	return conv.EnterRole(ctx, role)
}

package plain

import (
	"context"

	"jcode/tui/front"
)

// role runs /role.
func (p *shell) role(ctx context.Context, args string) error {
	switch key, value, set := front.RoleValue(args); {
	case set:
		p.enterRole(ctx, func(ctx context.Context) error { return p.conv.SetRoleValue(ctx, key, value) })
	case args == "" || args == "info":
		return p.elsewhere(ctx, "role", args, "/role "+args)
	case args == "off":
		p.enterRole(ctx, func(ctx context.Context) error { return p.conv.SetRole(ctx, "") })
	default:
		p.enterRole(ctx, func(ctx context.Context) error { return p.conv.SetRole(ctx, args) })
	}
	return nil
}

// enterRole switches the role in the background: it may show a form, which the next lines fill in. Other lines
// wait until it has ended.
func (p *shell) enterRole(ctx context.Context, enter func(context.Context) error) {
	p.entered = make(chan error, 1)
	p.work.Go(func() { p.entered <- enter(ctx) })
}

// roleEntered ends a switch, and returns its error once it was shown.
func (p *shell) roleEntered(err error) error {
	p.entered = nil
	if err != nil {
		p.say("Error: " + err.Error())
	}
	p.prompt()
	return err
}

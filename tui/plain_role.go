package tui

import (
	"context"
	"strings"
)

// role runs /role.
func (p *plain) role(ctx context.Context, args string) error {
	switch key, value, set := roleValue(args); {
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
func (p *plain) enterRole(ctx context.Context, enter func(context.Context) error) {
	p.entered = make(chan error, 1)
	p.work.Go(func() { p.entered <- enter(ctx) })
}

// roleEntered ends a switch, and returns its error once it was shown.
func (p *plain) roleEntered(err error) error {
	p.entered = nil
	if err != nil {
		p.say("Error: " + err.Error())
	}
	p.prompt()
	return err
}

// roleValue parses `set NAME VALUE` after /role.
func roleValue(args string) (key, value string, ok bool) {
	rest, ok := strings.CutPrefix(args, "set ")
	if !ok {
		return "", "", false
	}
	key, value, _ = strings.Cut(strings.TrimSpace(rest), " ")
	return key, strings.TrimSpace(value), key != ""
}

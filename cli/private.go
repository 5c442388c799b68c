package cli

import (
	"context"
	"errors"
	"fmt"

	"jcode/cli/console"
	"jcode/session"
	"jcode/tools/command"
)

// privateNotice says once what a private conversation means.
const privateNotice = "This conversation is private: nothing of it is kept on the disk. A crash, and the end of jcode, lose it; /save keeps it after all, from its beginning."

// privateNow reports whether nothing that is said now may be written to disk.
func (a *app) privateNow() bool {
	if conv := a.board.Open(); conv != nil {
		return conv.Private()
	}
	return a.private.Load()
}

// checkPrivate refuses flags that continue something stored.
func (f *flags) checkPrivate() error {
	if f.Private && (f.Continue || f.Resume != "" || f.Fork) {
		return console.Usage("--private begins a conversation that is not kept: -c, -r and --fork continue a kept one")
	}
	return nil
}

// private runs /private.
func (p personCommands) private(ctx context.Context, args string) (command.Outcome, error) {
	conv := p.s.conv()
	if conv == nil {
		return command.Outcome{}, errors.New("not before the session is ready")
	}
	on := false
	switch args {
	case "":
		if conv.Private() {
			return command.Outcome{Page: "Private", Notice: privateNotice}, nil
		}
		return command.Outcome{Page: "Private", Notice: "This conversation is kept. /private on, before its first message, keeps nothing of one on the disk."}, nil
	case "on":
		on = true
	case "off":
	default:
		return command.Outcome{}, fmt.Errorf("/private %s: say on or off", args)
	}
	if err := conv.SetPrivate(on); err != nil {
		if !on {
			return command.Outcome{}, fmt.Errorf("%w; /save keeps this one", err)
		}
		return command.Outcome{}, err
	}
	p.beginPrivate.Store(on)
	if on {
		if err := p.drafts.SetDraft(ctx, ""); err != nil { // the text in the input is removed too
			return command.Outcome{}, err
		}
		return command.Outcome{Notice: privateNotice}, nil
	}
	return command.Outcome{Notice: "This conversation is kept, from its first message on."}, nil
}

// save runs /save.
func (p personCommands) save(ctx context.Context, _ string) (command.Outcome, error) {
	conv := p.s.conv()
	switch {
	case conv == nil:
		return command.Outcome{}, errors.New("not before the session is ready")
	case !conv.Private():
		return command.Outcome{Notice: "This conversation is kept already."}, nil
	}
	if err := conv.Keep(ctx); err != nil {
		return command.Outcome{}, err
	}
	if conv.ID() == "" {
		return command.Outcome{Notice: "This conversation is kept, from its first message on."}, nil
	}
	return command.Outcome{Notice: "Saved from the beginning: jcode -r " + session.ShortID(conv.ID()) + " continues it."}, nil
}

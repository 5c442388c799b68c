package permissionscli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent/event"
	"jcode/cli/config"
	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// Untrusted is the content of a project that stays off until the person trusts it.
type Untrusted struct {
	Say        func(level event.Level, format string, args ...any)
	Trust      *permission.Trust
	Root       string
	Extensions *core.Extensions
	Settings   Held
	Started    <-chan struct{} // closed when the extensions have begun
	Settle     func()          // marks the question about the folder as settled
}

// Items lists what the project's files would run or widen if they were trusted: settings, MCP servers, Lua,
// allowed-tools of skills, commands with shell lines, roles that choose a model or servers.
func (a Untrusted) Items() []tools.TrustItem {
	return append(a.Settings.inert(), a.Extensions.Inert()...)
}

// wake puts into force what has just been trusted: settings last, since they may apply to what the extensions
// add.
func (a Untrusted) wake(ctx context.Context, items []tools.TrustItem) error {
	if err := errors.Join(a.Extensions.Wake(items), a.Settings.wake(ctx, items)); err != nil {
		return fmt.Errorf("trusted, but: %w", err)
	}
	return nil
}

// Held are settings of the project that wait for trust.
type Held struct {
	List  func() []config.Held
	Apply func(ctx context.Context) error // rereads the settings and puts them into force
}

func (h Held) inert() []tools.TrustItem {
	return slicex.Map(h.List(), func(s config.Held) tools.TrustItem {
		return tools.TrustItem{Kind: tools.TrustConfig, Name: s.Key, Hash: s.Hash, File: s.File, Runs: s.Lines()}
	})
}

func (h Held) wake(ctx context.Context, items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustConfig)) == 0 {
		return nil
	}
	return h.Apply(ctx)
}

// SayOff reports what stays off, in a run that cannot ask.
func (a Untrusted) SayOff(ctx context.Context) {
	notice, err := a.Trust.Notice(ctx, a.Items())
	if err != nil {
		notice = err.Error()
	}
	if notice != "" {
		a.Say(event.LevelWarn, "%s", notice)
	}
}

// Question is the one question about this folder, nil when nothing needs an answer.
func (a Untrusted) Question(ctx context.Context) *command.Trust {
	select {
	case <-a.Started: // the files of servers have been read
	case <-ctx.Done():
		return nil
	}
	items := a.Items()
	q, ok, err := a.Trust.Question(ctx, items)
	if err != nil {
		a.Say(event.LevelError, "trust: %v", err)
	}
	if err != nil || !ok {
		a.sayRefused(ctx, items)
		a.Settle()
		return nil
	}
	return a.ask(q)
}

// sayRefused reports what stays off because the person said so in an earlier run.
func (a Untrusted) sayRefused(ctx context.Context, items []tools.TrustItem) {
	names, err := a.Trust.Refused(ctx, items)
	if err != nil || len(names) == 0 {
		return // the error was said
	}
	a.Say(event.LevelInfo, "not trusted here, as you answered before, and not running: %s; /trust asks again", text.Truncate(strings.Join(names, ", "), 200, "…"))
}

// Again is the question about everything that is not trusted here, whatever was answered before.
func (a Untrusted) Again(ctx context.Context) (*command.Trust, error) {
	q, ok, err := a.Trust.Again(ctx, a.Items())
	if err != nil || !ok {
		return nil, err
	}
	return a.ask(q), nil
}

func (a Untrusted) ask(q permission.TrustQuestion) *command.Trust {
	list := make([]command.Row, len(q.Items))
	for i, item := range q.Items {
		list[i] = command.Row{ID: item.Name, Name: item.Name, State: string(item.Kind), Info: rows(item.Runs)}
		if item.Changed {
			list[i].State += " (changed)"
		}
	}
	return &command.Trust{
		Folder: a.Root, Items: list,
		Decide: func(ctx context.Context, trusted bool) error {
			defer a.Settle()
			if !trusted {
				return a.Trust.Decline(ctx, q.All(), true)
			}
			if err := a.Trust.Accept(ctx, q.All(), true); err != nil {
				return err
			}
			return a.wake(ctx, q.All())
		},
		Later: func(ctx context.Context) error {
			defer a.Settle()
			return a.Trust.Decline(ctx, q.All(), false)
		},
	}
}

// rows writes each of what would run on a line of its own; further lines of one are indented, so that they can't be
// taken for others.
func rows(runs []string) string {
	return strings.Join(slicex.Map(runs, func(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }), "\n")
}

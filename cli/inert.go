package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent"
	"jcode/skills"
	"jcode/tools"
	"jcode/tui"
)

// dormant is what a project brings that stays off until the person trusts it.
type dormant struct{ *app }

// inert lists what the project's files would run or widen, were they trusted: settings,
// MCP servers, Lua, allowed-tools of skills, commands with shell lines, roles that pick a model
// or servers.
func (a dormant) inert() []tools.TrustItem {
	var items []tools.TrustItem
	for _, h := range a.held {
		items = append(items, tools.TrustItem{
			Kind: tools.TrustConfig, Name: h.Key, Hash: h.Hash, File: h.File, Runs: []string{h.Value},
		})
	}
	return append(items, a.list.inert()...)
}

// pins are the rights that the project's skills and commands ask for.
func (l *learning) pins() []skills.Pin {
	var out []skills.Pin
	if !l.flags.NoSkills {
		for _, e := range l.skills.Entries() {
			pin := e.Pin()
			if e.Waits {
				pin.Replaces = e.By
			}
			if (e.State == skills.Active || e.Waits) && pin.Project && pin.Asks() {
				out = append(out, pin)
			}
		}
	}
	for _, f := range l.files.Files() {
		pin := f.Pin()
		if f.Waits {
			pin.Replaces = f.By
		}
		if (f.State == skills.Active || f.Waits) && pin.Project && pin.Asks() {
			out = append(out, pin)
		}
	}
	return out
}

// sayInert tells a run that cannot ask what stays off.
func (a dormant) sayInert(ctx context.Context) {
	notice, err := a.trust.Notice(ctx, a.inert())
	if err != nil {
		notice = err.Error()
	}
	if notice != "" {
		a.board.say(agent.LevelWarn, "%s", notice)
	}
}

// folderQuestion is the one question about this folder, nil when nothing waits for an
// answer.
func (a dormant) folderQuestion(ctx context.Context) *tui.Trust {
	select {
	case <-a.started: // the files of servers are read
	case <-ctx.Done():
		return nil
	}
	q, ok, err := a.trust.Question(ctx, a.inert())
	if err != nil {
		a.board.say(agent.LevelError, "trust: %v", err)
	}
	if err != nil || !ok {
		a.settle()
		return nil
	}
	rows := make([]tui.Row, len(q.Items))
	for i, item := range q.Items {
		rows[i] = tui.Row{ID: item.Name, Name: item.Name, State: string(item.Kind), Info: strings.Join(item.Runs, " · ")}
		if item.Changed {
			rows[i].State += " (changed)"
		}
	}
	return &tui.Trust{
		Folder: a.root, Items: rows,
		Decide: func(ctx context.Context, trusted bool) error {
			defer a.settle()
			if !trusted {
				a.trust.Decline(q.All())
				return nil
			}
			if err := a.trust.Accept(ctx, q.All(), true); err != nil {
				return err
			}
			return a.wake(ctx, q.All())
		},
	}
}

// settle marks the question about the folder as settled.
func (a dormant) settle() {
	a.settling.Do(func() { close(a.settled) })
}

// wake puts into force what has just been trusted. Skills and commands check trust themselves
// when they are used.
func (a dormant) wake(ctx context.Context, items []tools.TrustItem) error {
	var errs []error
	settings, learned := 0, false
	for _, item := range items {
		switch item.Kind {
		case tools.TrustConfig:
			settings++
		case tools.TrustMCP:
			if err := a.mcp.Approve(item.Name, item.Hash, false); err != nil {
				errs = append(errs, err)
			}
		case tools.TrustLuaTool:
			errs = append(errs, a.lua.room.Reload(""))
		case tools.TrustBundle:
			errs = append(errs, a.bundles.store.Accept(item.Name, item.Hash))
			newPluginLife(a.app).look()
		case tools.TrustHook:
			a.happenings.reload()
		case tools.TrustSkill, tools.TrustCommand:
			learned = true
		default: // asks for itself when it is used
		}
	}
	if learned { // a name may be the project's now
		a.learning.skills.Reload()
		a.learning.files.Reload()
		a.learning.sayReplaced()
	}
	if settings > 0 {
		errs = append(errs, a.loadConfig(ctx))
		rules, err := a.rules()
		if err == nil {
			a.gate.SetRules(rules)
		}
		errs = append(errs, err)
		a.board.say(agent.LevelInfo, "rules of this project hold now; its other settings hold from the next start")
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("trusted, but: %w", err)
	}
	return nil
}

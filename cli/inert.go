package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/agent/event"
	"jcode/cli/board"
	"jcode/cli/config"
	"jcode/cli/core"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// dormant is the content of a project that stays off until the person trusts it.
type dormant struct {
	board    *board.Board
	trust    *permission.Trust
	root     string
	list     *core.Extensions
	settings heldSettings
	started  <-chan struct{} // closed when the extensions have begun
	settle   func()          // marks the question about the folder as settled
}

func newDormant(a *app) dormant {
	return dormant{
		&a.board, a.trust, a.root, &a.list,
		heldSettings{&a.held, a.applySettings},
		a.started,
		func() { a.settling.Do(func() { close(a.settled) }) },
	}
}

// inert lists what the project's files would run or widen if they were trusted: settings, MCP servers, Lua,
// allowed-tools of skills, commands with shell lines, roles that choose a model or servers.
func (a dormant) inert() []tools.TrustItem {
	return append(a.settings.inert(), a.list.Inert()...)
}

// wake puts into force what has just been trusted: settings last, since they may apply to what the extensions
// add.
func (a dormant) wake(ctx context.Context, items []tools.TrustItem) error {
	if err := errors.Join(a.list.Wake(items), a.settings.wake(ctx, items)); err != nil {
		return fmt.Errorf("trusted, but: %w", err)
	}
	return nil
}

// heldSettings are settings of the project that wait for trust.
type heldSettings struct {
	held  *[]config.Held
	apply func(ctx context.Context) error // rereads the settings and puts them into force
}

func (h heldSettings) inert() []tools.TrustItem {
	return slicex.Map(*h.held, func(s config.Held) tools.TrustItem {
		return tools.TrustItem{Kind: tools.TrustConfig, Name: s.Key, Hash: s.Hash, File: s.File, Runs: []string{s.Value}}
	})
}

func (h heldSettings) wake(ctx context.Context, items []tools.TrustItem) error {
	if len(core.OfKind(items, tools.TrustConfig)) == 0 {
		return nil
	}
	return h.apply(ctx)
}

// sayInert reports what stays off, in a run that cannot ask.
func (a dormant) sayInert(ctx context.Context) {
	notice, err := a.trust.Notice(ctx, a.inert())
	if err != nil {
		notice = err.Error()
	}
	if notice != "" {
		a.board.Say(event.LevelWarn, "%s", notice)
	}
}

// folderQuestion is the one question about this folder, nil when nothing needs an answer.
func (a dormant) folderQuestion(ctx context.Context) *command.Trust {
	select {
	case <-a.started: // the files of servers have been read
	case <-ctx.Done():
		return nil
	}
	items := a.inert()
	q, ok, err := a.trust.Question(ctx, items)
	if err != nil {
		a.board.Say(event.LevelError, "trust: %v", err)
	}
	if err != nil || !ok {
		a.sayRefused(ctx, items)
		a.settle()
		return nil
	}
	return a.ask(q)
}

// sayRefused reports what stays off because the person said so in an earlier run.
func (a dormant) sayRefused(ctx context.Context, items []tools.TrustItem) {
	names, err := a.trust.Refused(ctx, items)
	if err != nil || len(names) == 0 {
		return // the error was said
	}
	a.board.Say(event.LevelInfo, "not trusted here, as you answered before, and not running: %s; /trust asks again", text.Truncate(strings.Join(names, ", "), 200, "…"))
}

// again is the question about everything that is not trusted here, whatever was answered before.
func (a dormant) again(ctx context.Context) (*command.Trust, error) {
	q, ok, err := a.trust.Again(ctx, a.inert())
	if err != nil || !ok {
		return nil, err
	}
	return a.ask(q), nil
}

func (a dormant) ask(q permission.TrustQuestion) *command.Trust {
	rows := make([]command.Row, len(q.Items))
	for i, item := range q.Items {
		rows[i] = command.Row{ID: item.Name, Name: item.Name, State: string(item.Kind), Info: strings.Join(item.Runs, " · ")}
		if item.Changed {
			rows[i].State += " (changed)"
		}
	}
	return &command.Trust{
		Folder: a.root, Items: rows,
		Decide: func(ctx context.Context, trusted bool) error {
			defer a.settle()
			if !trusted {
				return a.trust.Decline(ctx, q.All(), true)
			}
			if err := a.trust.Accept(ctx, q.All(), true); err != nil {
				return err
			}
			return a.wake(ctx, q.All())
		},
		Later: func(ctx context.Context) error {
			defer a.settle()
			return a.trust.Decline(ctx, q.All(), false)
		},
	}
}

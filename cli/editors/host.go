package editorscli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"jcode/agent/event"
	"jcode/agent/model/provider"
	"jcode/cli/acp"
	"jcode/internal/slicex"
	"jcode/session"
	"jcode/tools/command"
)

// Host opens the conversations of an editor. It implements acp.Host.
type Host struct{ Jcode Jcode }

// Version implements acp.Host.
func (h Host) Version() string { return h.Jcode.Version }

// Ready implements acp.Host.
func (h Host) Ready(ctx context.Context) error { return authError(h.Jcode.Model(ctx)) }

// authError says what to set when no model can be reached.
func authError(err error) error {
	if errors.Is(err, provider.ErrNoProvider) || errors.Is(err, provider.ErrNoKey) {
		return fmt.Errorf("%w: %w; start jcode once in a terminal to enter a key", acp.ErrAuthRequired, err)
	}
	return err
}

// Open implements acp.Host.
func (h Host) Open(ctx context.Context, o acp.Opening) (*acp.Workspace, error) {
	opened, err := h.Jcode.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	begun := begunSessions{opened.Sessions.Data}
	conv, err := opened.Sessions.open(ctx, o)
	if err != nil {
		opened.Close()
		return nil, authError(err)
	}
	work, finish := background()
	opened.OnClose(finish)
	w := &acp.Workspace{
		Conversation: conv, Rows: conv.TakeRows(),
		Commands: opened.Commands,
		Prompt:   opened.Prompt,
		Models:   opened.models, ListModels: opened.listed, Roles: opened.roles, Trust: opened.trust,
		Start: func() {
			opened.Board.Attach(conv)
			opened.Start()
			lent := servers{opened.Board, opened.Dispatcher}
			for name, entry := range o.Servers {
				work(func(ctx context.Context) { lent.connect(ctx, conv, name, entry) })
			}
		},
		Close: func() {
			conv.Close()
			if _, err := opened.Sessions.Store.Get(context.WithoutCancel(ctx), conv.ID()); err == nil {
				begun.drop(conv.ID()) // it is stored now
			}
			opened.Close()
		},
	}
	return w, nil
}

// background returns a func that runs functions in the background, and one that cancels them and waits for
// all.
func background() (run func(func(context.Context)), finish func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	return func(f func(context.Context)) { work.Go(func() { f(ctx) }) }, func() {
		cancel()
		work.Wait()
	}
}

// listed asks the endpoint for its models.
func (o Opened) listed(ctx context.Context) []acp.Choice {
	rows, err := o.Listed(ctx)
	if err != nil {
		return nil // the model in use is an option in any case
	}
	out := make([]acp.Choice, 0, len(rows))
	for _, r := range rows {
		out = append(out, acp.Choice{Value: r.ID, Name: r.Name, Description: r.Info})
	}
	return out
}

// models lists what is known without asking an endpoint: the current model comes first.
func (o Opened) models(context.Context) []acp.Choice {
	return slicex.Map(o.Models(), func(id string) acp.Choice { return acp.Choice{Value: id, Name: id} })
}

func (o Opened) roles(ctx context.Context) []acp.Choice {
	rows, err := o.Roles(ctx)
	if err != nil {
		o.Board.Say(event.LevelWarn, "roles: %v", err)
	}
	return slicex.Map(rows, func(r command.Row) acp.Choice { return acp.Choice{Value: r.ID, Name: r.Name, Description: r.Info} })
}

// trust returns the question about what the folder contains, nil if there is nothing to ask.
func (o Opened) trust(ctx context.Context) *acp.Trust {
	q := o.Question(ctx)
	if q == nil {
		return nil
	}
	t := &acp.Trust{Folder: q.Folder, Accept: func(ctx context.Context) error { return q.Decide(ctx, true) }, Later: q.Later}
	for _, row := range q.Items {
		t.Items = append(t.Items, strings.TrimSpace(row.State+" "+row.Name+": "+row.Info))
	}
	return t
}

// kept opens only what is stored, for requests that need no folder.
func (h Host) kept(ctx context.Context, f func(Kept) error) error {
	k, err := h.Jcode.Kept(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	return f(k)
}

// List implements acp.Host.
func (h Host) List(ctx context.Context, cwd string) (rows []session.Session, err error) {
	filter := session.Filter{All: cwd == ""}
	if cwd != "" {
		if filter.ProjectID, _, err = session.ProjectID(cwd); err != nil {
			return nil, err
		}
	}
	err = h.kept(ctx, func(k Kept) error {
		rows, err = k.Store.List(ctx, filter)
		return err
	})
	return rows, err
}

// Fork implements acp.Host.
func (h Host) Fork(ctx context.Context, id, cwd string) (copied string, created bool, err error) {
	project, _, err := session.ProjectID(cwd)
	if err != nil {
		return "", false, err
	}
	err = h.kept(ctx, func(k Kept) error {
		v, err := k.Store.Fork(ctx, id, 0)
		switch {
		case errors.Is(err, session.ErrNotFound) && (begunSessions{k.Data}).has(id):
			created = true
			v.ID, err = session.NewID()
		case err == nil:
			err = k.Store.Update(ctx, v.ID, session.Change{Cwd: &cwd, ProjectID: &project})
		}
		copied = v.ID
		return err
	})
	return copied, created, err
}

// Delete implements acp.Host.
func (h Host) Delete(ctx context.Context, id string) error {
	return h.kept(ctx, func(k Kept) error {
		begunSessions{k.Data}.drop(id)
		if _, err := k.Store.Get(ctx, id); err != nil {
			return err
		}
		hold, err := k.Store.Hold(id)
		if err != nil {
			return err
		}
		return errors.Join(k.Forget(ctx, id), hold.Release())
	})
}

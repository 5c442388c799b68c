package agent

import (
	"cmp"
	"context"
	"errors"

	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/session"
	"jcode/tools"
)

// taskSteps caps the turn of a sub-agent.
const taskSteps = 50

// host is a conversation as its sub-agents know it. It implements crew.Host.
type host struct{ c *Conversation }

func (h host) ID() string    { return h.c.ID() }
func (h host) Label() string { return h.c.opt.Label }

func (h host) Emit(ev event.Event) { h.c.emit(ev) }

func (h host) Write(what string, f func(ctx context.Context) error) bool { return h.c.write(what, f) }

func (h host) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	return h.c.person.Ask(ctx, q)
}

func (h host) AskPerson(ctx context.Context, label, question string, options []string) (string, error) {
	return h.c.person.AskPerson(ctx, label, question, options)
}

func (h host) AskForm(ctx context.Context, form tools.Form) (tools.FormAnswer, error) {
	return h.c.person.AskForm(ctx, form)
}

// Open starts a sub-agent's conversation.
func (h host) Open(ctx context.Context, task tools.Task, asks crew.Person) (crew.Opened, error) {
	child, site, err := h.open(ctx, task, asks)
	if err != nil {
		return crew.Opened{}, err
	}
	opened := crew.Opened{Child: child, Session: child.opt.Session, Label: child.opt.Label}
	if site != nil {
		opened.Site = site
	}
	return opened, nil
}

// Reopen continues the stored session of a sub-agent.
func (h host) Reopen(ctx context.Context, s roster.State, at crew.Site, asks crew.Person) (crew.Child, error) {
	opt := h.options(tools.Task{Name: s.Name}, asks)
	site, _ := at.(Site) // all sites of the crew are of this kind
	if site != nil {
		site.Equip(&opt)
	}
	if s.Model != "" {
		opt.Model = s.Model
	}
	child, err := resume(ctx, opt, s.Session, h.c)
	if err != nil {
		return nil, err
	}
	if site != nil {
		site.Begin(child)
	}
	return child, nil
}

// newCrew returns the sub-agents of a conversation.
func newCrew(c *Conversation) *crew.Crew {
	opt := crew.Options{Store: c.opt.Store, Cwd: c.opt.Cwd, Project: c.opt.Project, Most: c.opt.MaxAgents, Forget: c.opt.Forget}
	if isolate := c.opt.Isolate; isolate != nil {
		opt.Isolate = func(ctx context.Context, name string, carry bool) (crew.Site, error) {
			return isolate(ctx, name, carry)
		}
	}
	if reopen := c.opt.Reopen; reopen != nil {
		opt.Reopen = func(ctx context.Context, row session.Agent) (crew.Site, error) { return reopen(ctx, row) }
	}
	var above *crew.Crew
	if c.parent != nil {
		above = c.parent.agents
	}
	return crew.New(c.ctx, host{c}, opt, above)
}

// options returns the options of a sub-agent's conversation. This conversation's own extensions are not
// passed on.
func (h host) options(task tools.Task, asker tools.Asker) Options {
	c := h.c
	c.mu.Lock()
	defer c.mu.Unlock()
	opt := c.opt
	most := opt.MaxSteps
	opt.Session, opt.Parent, opt.Label = "", c.record.row.ID, cmp.Or(roster.Name(task.Name), "task")
	opt.Root = cmp.Or(c.opt.Root, c.record.row.ID)
	opt.Without = append([]string{"todo"}, opt.Without...)
	if h.depth()+1 == crew.MaxDepth {
		opt.Without = append([]string{"task"}, opt.Without...)
	}
	opt.MaxSteps = min(max(task.MaxSteps, 0), most)
	if opt.MaxSteps == 0 {
		opt.MaxSteps = min(taskSteps, most)
	}
	opt.Extensions = opt.AgentExtensions
	if opt.ChildLeases != nil {
		opt.Leases = opt.ChildLeases
	}
	opt.Model, opt.Mode = c.settings.model.Name, c.settings.mode
	if opt.Asker != nil || !opt.Headless {
		opt.Asker = asker
	}
	return opt
}

// open creates the sub-agent's conversation, and the site it works in if it is isolated.
func (h host) open(ctx context.Context, task tools.Task, asker tools.Asker) (child *Conversation, site Site, err error) {
	c := h.c
	opt := h.options(task, asker)
	if opt.Session, err = session.NewID(); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			if child != nil {
				child.Close()
			}
			if site != nil {
				err = errors.Join(err, crew.RemoveSite(ctx, site))
			}
			child, site = nil, nil
		}
	}()
	if task.Isolation == tools.IsolationWorktree {
		if c.opt.Isolate == nil {
			return nil, nil, tools.Errorf(tools.KindInvalidArgs, "there are no worktrees here: leave isolation out")
		}
		if site, err = c.opt.Isolate(ctx, roster.Name(task.Name), task.Uncommitted); err != nil {
			return nil, nil, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		site.Equip(&opt)
	}
	if child, err = begin(opt, c); err != nil {
		return nil, site, err
	}
	c.mu.Lock()
	role := c.settings.role
	c.mu.Unlock()
	if task.Role == "" && len(task.Variables) > 0 {
		return child, site, tools.Errorf(tools.KindInvalidArgs, "variables are those of a role: name it in role, or leave variables out")
	}
	if task.Role != "" {
		want := RoleRequest{Name: task.Role, Kept: c.RoleValues(task.Role), Given: task.Variables, Agent: true}
		if role, err = child.roles.request(ctx, want); err != nil {
			return child, site, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		if task.Name == "" {
			child.opt.Label, child.person.label = role.Name, role.Name
		}
	}
	if task.Model != "" {
		role.Model = task.Model
	}
	if role.MaxSteps > 0 && task.MaxSteps <= 0 {
		child.opt.MaxSteps = min(role.MaxSteps, c.Tuning().MaxSteps)
	}
	// A sub-agent never gets more than the role in force allows.
	role.Scope = role.Scope.Within(c.Scope())
	if err := child.putInForce(ctx, role); err != nil {
		if task.Model != "" {
			err = tools.Errorf(tools.KindInvalidArgs, "model %s: %w", task.Model, err)
		}
		return child, site, err
	}
	if site != nil {
		site.Begin(child)
	}
	return child, site, nil
}

// depth counts the conversations above this one.
func (h host) depth() (n int) {
	for c := h.c.parent; c != nil; c = c.parent {
		n++
	}
	return n
}

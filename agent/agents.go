package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/tools"
)

// Agents lists the background sub-agents, including those of sub-agents, in start order.
func (c *Conversation) Agents() []roster.State { return c.agents.all.List("") }

// AgentOutput returns the output that is kept of an agent.
func (c *Conversation) AgentOutput(name string) string {
	m, err := c.agents.all.Find("", name)
	if err != nil {
		return ""
	}
	return c.agents.all.Output(m)
}

// MessageAgent sends a message that the agent reads at its next step. An agent that has ended goes on with it;
// one whose worktree was merged or removed in a new one, with the files as they are now.
func (c *Conversation) MessageAgent(ctx context.Context, name, said string) error {
	m, err := c.agents.all.Find("", name)
	if err != nil {
		return err
	}
	if strings.TrimSpace(said) == "" {
		return fmt.Errorf("the message to %s is empty: say what it should do", name)
	}
	state, _ := c.agents.all.Get(m)
	if parent := c.agents.parent(state); parent != nil {
		parent.agents.moves.Lock() // a conversation that is being closed reads nothing
		defer parent.agents.moves.Unlock()
	}
	state, w := c.agents.all.Get(m)
	switch {
	case w.child != nil:
		w.child.Prompt(event.Prompt{Text: said})
		return nil
	case state.Running():
		return fmt.Errorf("%s is still being started: send this again when it works", name)
	case !w.moved:
		return fmt.Errorf("%s was left behind by a program that ended: resume it first", name)
	}
	return c.agents.wake(ctx, m, said)
}

// StopAgent stops an agent and the agents that it started. Their changes stay.
func (c *Conversation) StopAgent(name string) error {
	m, err := c.agents.all.Find("", name)
	if err != nil {
		return err
	}
	state, w := c.agents.all.Get(m)
	if w.child != nil {
		w.child.Interrupt()
		for _, below := range c.agents.all.List(state.Session) {
			if below.Running() {
				if err := c.StopAgent(below.Name); err != nil {
					return err
				}
			}
		}
		ctx, cancel := context.WithTimeout(c.ctx, taskClose)
		defer cancel()
		c.agents.all.Wait(ctx, state.Parent, name, false)
	}
	return nil
}

// mergeable finds an agent whose changes can be merged now.
func (a *agents) mergeable(name string) (*member, Site, error) {
	m, err := a.all.Find("", name)
	if err != nil {
		return nil, nil, err
	}
	state, w := a.all.Get(m)
	switch {
	case w.site == nil && state.Dir != "":
		return nil, nil, tools.Errorf(tools.KindInvalidArgs, "the worktree of %s can't be used: %s. If it can't be put right, discard %s", name, state.Dir, name)
	case w.site == nil:
		return nil, nil, tools.Errorf(tools.KindInvalidArgs, "%s has no worktree: what it changed is in these files already", name)
	case state.Running():
		return nil, nil, tools.Errorf(tools.KindInvalidArgs, "%s is still working: wait for it, or stop it", name)
	}
	return m, w.site, nil
}

// MergeAgent applies the changes in an agent's worktree to the files of the parent conversation, atomically
// and as one change, and removes the worktree.
func (c *Conversation) MergeAgent(ctx context.Context, call tools.Call, name string) (string, error) {
	m, site, err := c.agents.mergeable(name)
	if err != nil {
		return "", err
	}
	said, left, err := site.Merge(ctx, call)
	if err != nil {
		return "", err
	}
	if len(left) > 0 {
		return said + fmt.Sprintf("\nNot merged: %s. The worktree %s stays for it: copy what is needed from there, then discard %s.", strings.Join(left, ", "), site.Dir(), name), nil
	}
	if err := c.agents.removed(ctx, m); err != nil { // the merge is done all the same
		said += fmt.Sprintf("\nIts worktree is left: %v. Then discard %s.", err, name)
	}
	return said, nil
}

// DiffAgent returns what an agent changed in its worktree.
func (c *Conversation) DiffAgent(ctx context.Context, name string) (string, error) {
	m, err := c.agents.all.Find("", name)
	if err != nil {
		return "", err
	}
	_, w := c.agents.all.Get(m)
	if w.site == nil {
		if _, _, err := c.agents.mergeable(name); err != nil {
			return "", err
		}
	}
	diff, left, err := w.site.Diff(ctx)
	if len(left) > 0 {
		diff = strings.TrimLeft(diff+"\nNot merged, only in "+w.site.Dir()+": "+strings.Join(left, ", ")+"\n", "\n")
	}
	return diff, err
}

// DiscardAgent removes an agent's worktree and its changes.
func (c *Conversation) DiscardAgent(ctx context.Context, name string) error {
	m, err := c.agents.all.Find("", name)
	if err != nil {
		return err
	}
	if state, w := c.agents.all.Get(m); w.site == nil && state.Dir != "" && !state.Running() {
		return c.agents.forget(ctx, m)
	}
	if m, _, err = c.agents.mergeable(name); err != nil {
		return err
	}
	return c.agents.removed(ctx, m)
}

// forget removes what is left of a worktree that can't be opened.
func (a *agents) forget(ctx context.Context, m *member) error {
	state, _ := a.all.Get(m)
	rows, err := a.c.opt.Store.Agents().List(ctx, state.Parent)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Session == state.Session && a.c.opt.Forget != nil {
			if err := a.c.opt.Forget(ctx, row); err != nil {
				return err
			}
		}
	}
	return a.removed(ctx, m)
}

// removed removes the worktree of an agent.
func (a *agents) removed(ctx context.Context, m *member) error {
	state, _ := a.all.Get(m)
	if parent := a.parent(state); parent != nil {
		parent.agents.moves.Lock()
		defer parent.agents.moves.Unlock()
	}
	_, w := a.all.Get(m)
	if w.child != nil {
		w.child.Close()
	}
	if err := removeSite(ctx, w.site); err != nil {
		return err
	}
	a.all.Change(m, func(s *roster.State, w *worker) {
		*w = worker{moved: true}
		s.Dir, s.Changed = "", false
	})
	return a.c.opt.Store.Agents().Drop(context.WithoutCancel(ctx), state.Session)
}

// restore lists the agents that an earlier run of this session left behind.
func (a *agents) restore(ctx context.Context) error {
	rows, err := a.c.opt.Store.Agents().List(ctx, a.c.ID())
	if err != nil {
		return err
	}
	for _, row := range rows {
		state := roster.State{
			Name: row.Name, Session: row.Session, Parent: row.Parent, Role: row.Role, Model: row.Model, Status: roster.Status(row.State),
			Dir: row.Dir, Started: row.Created,
		}
		if state.Running() {
			state.Status = roster.Left
		}
		var w worker
		if row.Dir != "" && a.c.opt.Reopen != nil {
			if w.site, err = a.c.opt.Reopen(ctx, row); err != nil {
				w.site = nil
				a.c.Notify(event.LevelWarn, "agent %s: %v", row.Name, err)
			} else {
				diff, left, err := w.site.Diff(ctx)
				state.Changed = diff != "" || len(left) > 0 || err != nil
			}
		}
		if state.Status == roster.Left {
			a.c.Notify(event.LevelWarn, "agent %s was running when jcode ended: /agents resumes it", row.Name)
		}
		a.all.Restore(state, w)
	}
	return nil
}

// parent returns the conversation that an agent works for, or nil when it is not open.
func (a *agents) parent(s roster.State) *Conversation {
	if s.Parent == a.c.ID() {
		return a.c
	}
	for _, m := range a.all.Members("") {
		if state, w := a.all.Get(m); state.Session == s.Parent {
			return w.child
		}
	}
	return nil
}

// ResumeAgent resumes an agent that an earlier run left unfinished.
func (c *Conversation) ResumeAgent(ctx context.Context, name string) error {
	m, err := c.agents.all.Find("", name)
	if err != nil {
		return err
	}
	if state, w := c.agents.all.Get(m); w.child != nil || w.moved {
		return fmt.Errorf("%s needs no resuming: it is %s", name, state.Status)
	}
	return c.agents.wake(ctx, m, "Look at what is done, and go on with your assignment.")
}

// wake opens the session of an agent that no conversation runs any more, and sends it a prompt.
func (a *agents) wake(ctx context.Context, m *member, said string) error {
	state, w := a.all.Get(m)
	switch parent := a.parent(state); {
	case parent == nil:
		return fmt.Errorf("%s works for another agent, which was left behind too: resume that first", state.Name)
	case parent != a.c:
		return parent.agents.wake(ctx, m, said)
	}
	note, site := "The program that ran you ended.", w.site
	var err error
	switch {
	case w.moved && a.c.opt.Isolate != nil:
		if site, err = a.c.opt.Isolate(ctx, state.Name, true); err != nil {
			return err
		}
		note = "Your worktree was removed; what was merged of it is in the files. You are in a new one, " + site.Dir() + ", with the files as they are now: read again what you rely on."
	case site == nil && state.Dir != "":
		return fmt.Errorf("the worktree of %s can't be used: %s. If it can't be put right, discard %s", state.Name, state.Dir, state.Name)
	}
	child, err := a.reopen(ctx, m, site)
	if err != nil {
		if w.moved {
			err = errors.Join(err, removeSite(ctx, site))
		}
		return err
	}
	a.all.Change(m, func(s *roster.State, w *worker) {
		*w = worker{child: child, site: site}
		s.Status, s.Started, s.Ended = roster.Working, time.Now(), time.Time{}
		if site != nil {
			s.Dir = site.Dir()
		}
	})
	if err := a.keep(ctx, m); err != nil {
		return err
	}
	a.follow(m, child, "", event.Prompt{Text: note + "\n\n" + said})
	return nil
}

// reopen opens the session of an agent in its site, which may be nil.
func (a *agents) reopen(ctx context.Context, m *member, site Site) (*Conversation, error) {
	state, _ := a.all.Get(m)
	opt := a.c.childOptions(tools.Task{Name: state.Name}, &asksFor{a, m})
	if site != nil {
		site.Equip(&opt)
	}
	if state.Model != "" {
		opt.Model = state.Model
	}
	child, err := Resume(ctx, opt, state.Session)
	if err != nil {
		return nil, err
	}
	child.parent = a.c
	if site != nil {
		site.Begin(child)
	}
	return child, nil
}

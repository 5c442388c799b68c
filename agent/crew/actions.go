package crew

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

// List lists the background sub-agents, including those of sub-agents, in start order.
func (c *Crew) List() []roster.State { return c.all.List("") }

// Output returns the output that is kept of an agent.
func (c *Crew) Output(name string) string {
	m, err := c.all.Find("", name)
	if err != nil {
		return ""
	}
	return c.all.Output(m)
}

// Message sends a message that the agent reads at its next step. An agent that has ended goes on with it;
// one whose worktree was merged or removed in a new one, with the files as they are now.
func (c *Crew) Message(ctx context.Context, name, said string) error {
	m, err := c.all.Find("", name)
	if err != nil {
		return err
	}
	if strings.TrimSpace(said) == "" {
		return fmt.Errorf("the message to %s is empty: say what it should do", name)
	}
	state, _ := c.all.Get(m)
	if parent := c.parent(state); parent != nil {
		parent.moves.Lock() // a conversation that is being closed reads nothing
		defer parent.moves.Unlock()
	}
	state, w := c.all.Get(m)
	switch {
	case w.child != nil:
		w.child.Prompt(event.Prompt{Text: said})
		return nil
	case state.Running():
		return fmt.Errorf("%s is still being started: send this again when it works", name)
	case !w.moved:
		return fmt.Errorf("%s was left behind by a program that ended: resume it first", name)
	}
	return c.wake(ctx, m, said)
}

// Stop stops an agent and the agents that it started. Their changes stay.
func (c *Crew) Stop(ctx context.Context, name string) error {
	m, err := c.all.Find("", name)
	if err != nil {
		return err
	}
	state, w := c.all.Get(m)
	if w.child != nil {
		w.child.Interrupt()
		for _, below := range c.all.List(state.Session) {
			if below.Running() {
				if err := c.Stop(ctx, below.Name); err != nil {
					return err
				}
			}
		}
		ctx, cancel := context.WithTimeout(ctx, closeWait)
		defer cancel()
		defer context.AfterFunc(c.life, cancel)()
		c.all.Wait(ctx, state.Parent, name, false)
	}
	return nil
}

// mergeable finds an agent whose changes can be merged now.
func (c *Crew) mergeable(name string) (*member, Site, error) {
	m, err := c.all.Find("", name)
	if err != nil {
		return nil, nil, err
	}
	state, w := c.all.Get(m)
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

// Merge applies the changes in an agent's worktree to the files of the parent conversation, atomically
// and as one change, and removes the worktree.
func (c *Crew) Merge(ctx context.Context, call tools.Call, name string) (string, error) {
	m, site, err := c.mergeable(name)
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
	if err := c.removed(ctx, m); err != nil { // the merge is done all the same
		said += fmt.Sprintf("\nIts worktree is left: %v. Then discard %s.", err, name)
	}
	return said, nil
}

// Diff returns what an agent changed in its worktree.
func (c *Crew) Diff(ctx context.Context, name string) (string, error) {
	m, err := c.all.Find("", name)
	if err != nil {
		return "", err
	}
	_, w := c.all.Get(m)
	if w.site == nil {
		if _, _, err := c.mergeable(name); err != nil {
			return "", err
		}
	}
	diff, left, err := w.site.Diff(ctx)
	if len(left) > 0 {
		diff = strings.TrimLeft(diff+"\nNot merged, only in "+w.site.Dir()+": "+strings.Join(left, ", ")+"\n", "\n")
	}
	return diff, err
}

// Discard removes an agent's worktree and its changes.
func (c *Crew) Discard(ctx context.Context, name string) error {
	m, err := c.all.Find("", name)
	if err != nil {
		return err
	}
	if state, w := c.all.Get(m); w.site == nil && state.Dir != "" && !state.Running() {
		return c.forget(ctx, m)
	}
	if m, _, err = c.mergeable(name); err != nil {
		return err
	}
	return c.removed(ctx, m)
}

// forget removes what is left of a worktree that can't be opened.
func (c *Crew) forget(ctx context.Context, m *member) error {
	state, _ := c.all.Get(m)
	rows, err := c.opt.Store.Agents().List(ctx, state.Parent)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Session == state.Session && c.opt.Forget != nil {
			if err := c.opt.Forget(ctx, row); err != nil {
				return err
			}
		}
	}
	return c.removed(ctx, m)
}

// removed removes the worktree of an agent.
func (c *Crew) removed(ctx context.Context, m *member) error {
	state, _ := c.all.Get(m)
	if parent := c.parent(state); parent != nil {
		parent.moves.Lock()
		defer parent.moves.Unlock()
	}
	_, w := c.all.Get(m)
	if w.child != nil {
		w.child.Close()
	}
	if err := RemoveSite(ctx, w.site); err != nil {
		return err
	}
	c.all.Change(m, func(s *roster.State, w *worker) {
		*w = worker{moved: true}
		s.Dir, s.Changed = "", false
		count(s, "")
	})
	return c.opt.Store.Agents().Drop(context.WithoutCancel(ctx), state.Session)
}

// Restore lists the agents that an earlier run of this session left behind.
func (c *Crew) Restore(ctx context.Context) error {
	rows, err := c.opt.Store.Agents().List(ctx, c.host.ID())
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
		if row.Dir != "" && c.opt.Reopen != nil {
			if w.site, err = c.opt.Reopen(ctx, row); err != nil {
				w.site = nil
				c.notify(event.LevelWarn, "agent %s: %v", row.Name, err)
			} else {
				diff, left, err := w.site.Diff(ctx)
				state.Changed = diff != "" || len(left) > 0 || err != nil
				count(&state, diff)
			}
		}
		if state.Status == roster.Left {
			c.notify(event.LevelWarn, "agent %s was running when jcode ended: /agents resumes it", row.Name)
		}
		c.all.Restore(state, w)
	}
	return nil
}

// parent returns the crew that an agent belongs to, or nil when its conversation is not open.
func (c *Crew) parent(s roster.State) *Crew {
	if s.Parent == c.host.ID() {
		return c
	}
	for _, m := range c.all.Members("") {
		if state, w := c.all.Get(m); state.Session == s.Parent {
			if w.child == nil {
				return nil
			}
			return w.child.Agents()
		}
	}
	return nil
}

// Resume resumes an agent that an earlier run left unfinished.
func (c *Crew) Resume(ctx context.Context, name string) error {
	m, err := c.all.Find("", name)
	if err != nil {
		return err
	}
	if state, w := c.all.Get(m); w.child != nil || w.moved {
		return fmt.Errorf("%s needs no resuming: it is %s", name, state.Status)
	}
	return c.wake(ctx, m, "Look at what is done, and continue with your assignment.")
}

// wake opens the session of an agent that no conversation runs any more, and sends it a prompt.
func (c *Crew) wake(ctx context.Context, m *member, said string) error {
	state, w := c.all.Get(m)
	switch parent := c.parent(state); {
	case parent == nil:
		return fmt.Errorf("%s works for another agent, which was left behind too: resume that first", state.Name)
	case parent != c:
		return parent.wake(ctx, m, said)
	}
	note, site := "The program that ran you ended.", w.site
	var err error
	switch {
	case w.moved && c.opt.Isolate != nil:
		if site, err = c.opt.Isolate(ctx, state.Name, true); err != nil {
			return err
		}
		note = "Your worktree was removed; what was merged of it is in the files. You are in a new one, " + site.Dir() + ", with the files as they are now: read again what you rely on."
	case site == nil && state.Dir != "":
		return fmt.Errorf("the worktree of %s can't be used: %s. If it can't be put right, discard %s", state.Name, state.Dir, state.Name)
	}
	child, err := c.host.Reopen(ctx, state, site, &asks{to: c.top().host, crew: c, member: m})
	if err != nil {
		if w.moved {
			err = errors.Join(err, RemoveSite(ctx, site))
		}
		return err
	}
	c.all.Change(m, func(s *roster.State, w *worker) {
		*w = worker{child: child, site: site}
		s.Status, s.Started, s.Ended = roster.Working, time.Now(), time.Time{}
		if site != nil {
			s.Dir = site.Dir()
		}
	})
	if err := c.keep(ctx, m); err != nil {
		return err
	}
	c.follow(m, child, "", event.Prompt{Text: note + "\n\n" + said})
	return nil
}

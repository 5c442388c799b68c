package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/tools"
)

// PlanAgents implements tools.Desk: a merge changes files, all else changes none.
func (c *Conversation) PlanAgents(ctx context.Context, order tools.AgentOrder) (tools.Plan, error) {
	if order.Action != "merge" {
		return tools.Plan{}, nil
	}
	h, err := c.agents.mergeable(order.Name)
	if err != nil {
		return tools.Plan{}, err
	}
	return h.site.Plan(ctx)
}

// OrderAgents implements tools.Desk.
func (c *Conversation) OrderAgents(ctx context.Context, call tools.Call, order tools.AgentOrder) (tools.Result, error) {
	a := c.agents
	switch order.Action {
	case "list":
		return tools.Result{Text: a.table(), Data: a.c.Agents()}, nil
	case "wait":
		if order.Name != "" {
			if _, err := a.find(order.Name); err != nil {
				return tools.Result{}, err
			}
		}
		a.wait(ctx, order.Name, order.Any)
		if ctx.Err() != nil {
			return tools.Result{}, ctx.Err()
		}
		return tools.Result{Text: strings.TrimSpace(a.takeNews() + "\n\n" + a.table())}, nil
	}
	h, err := a.find(order.Name)
	if err != nil {
		return tools.Result{}, err
	}
	switch order.Action {
	case "output":
		return tools.Result{Text: a.output(h)}, nil
	case "message":
		if err := c.MessageAgent(order.Name, order.Text); err != nil {
			return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		return tools.Result{Text: "Sent: " + order.Name + " reads it at its next step."}, nil
	case "stop":
		if err := c.StopAgent(order.Name); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: order.Name + " was stopped."}, nil
	case "merge":
		said, err := c.MergeAgent(ctx, call, order.Name)
		return tools.Result{Text: said}, err
	case "discard":
		if err := c.DiscardAgent(ctx, order.Name); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: "The worktree of " + order.Name + " is removed with its changes."}, nil
	}
	return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "there is no action %q", order.Action)
}

// table lists the agents a line each.
func (a *agents) table() string {
	var b strings.Builder
	for _, s := range a.c.Agents() {
		fmt.Fprintf(&b, "%s: %s", s.Name, s.Status)
		if s.Call != "" {
			fmt.Fprintf(&b, ", in %s", s.Call)
		}
		if s.Changed {
			b.WriteString(", its worktree has changes to merge or discard")
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "There are no agents."
	}
	return strings.TrimSpace(b.String())
}

// output returns what an agent did since the last look.
func (a *agents) output(h *helper) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := strings.TrimSpace(h.out[min(h.seen, len(h.out)):])
	h.seen = len(h.out)
	if out == "" {
		out = "(nothing since the last look)"
	}
	return fmt.Sprintf("%s is %s.\n%s", h.state.Name, h.state.Status, out)
}

// AgentOutput returns all that is kept of what an agent did.
func (c *Conversation) AgentOutput(name string) string {
	h, err := c.agents.find(name)
	if err != nil {
		return ""
	}
	c.agents.mu.Lock()
	defer c.agents.mu.Unlock()
	return h.out
}

// MessageAgent sends a message that the agent reads at its next step. One that has ended goes
// on with it.
func (c *Conversation) MessageAgent(name, said string) error {
	h, err := c.agents.find(name)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(said) == "":
		return fmt.Errorf("the message to %s is empty: say what it should do", name)
	case h.child == nil:
		return fmt.Errorf("%s was left behind by a program that ended: resume it first", name)
	}
	h.child.Prompt(Prompt{Text: said})
	return nil
}

// StopAgent ends what an agent does; what it changed stays.
func (c *Conversation) StopAgent(name string) error {
	h, err := c.agents.find(name)
	if err != nil {
		return err
	}
	if h.child != nil {
		h.child.Interrupt()
		ctx, cancel := context.WithTimeout(c.ctx, taskClose)
		defer cancel()
		c.agents.wait(ctx, name, false)
	}
	return nil
}

// mergeable finds an agent whose changes can be merged now.
func (a *agents) mergeable(name string) (*helper, error) {
	h, err := a.find(name)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case h.site == nil:
		return nil, tools.Errorf(tools.KindInvalidArgs, "%s has no worktree: what it changed is in these files already", name)
	case h.state.Running():
		return nil, tools.Errorf(tools.KindInvalidArgs, "%s is still working: wait for it, or stop it", name)
	}
	return h, nil
}

// MergeAgent makes the changes of an agent's worktree in the conversation's own files, all of
// them as one change or none, and removes the worktree.
func (c *Conversation) MergeAgent(ctx context.Context, call tools.Call, name string) (string, error) {
	h, err := c.agents.mergeable(name)
	if err != nil {
		return "", err
	}
	said, err := h.site.Merge(ctx, call)
	if err != nil {
		return "", err
	}
	return said, c.agents.removed(ctx, h)
}

// DiffAgent returns what an agent changed in its worktree.
func (c *Conversation) DiffAgent(ctx context.Context, name string) (string, error) {
	h, err := c.agents.find(name)
	if err != nil {
		return "", err
	}
	if h.site == nil {
		return "", fmt.Errorf("%s has no worktree of its own", name)
	}
	return h.site.Diff(ctx)
}

// DiscardAgent removes an agent's worktree with its changes.
func (c *Conversation) DiscardAgent(ctx context.Context, name string) error {
	h, err := c.agents.mergeable(name)
	if err != nil {
		return err
	}
	return c.agents.removed(ctx, h)
}

// removed removes the worktree of an agent.
func (a *agents) removed(ctx context.Context, h *helper) error {
	if h.child != nil {
		h.child.Close()
	}
	h.site.Close()
	if err := h.site.Remove(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	a.change(h, func() { h.site, h.child, h.state.Dir, h.state.Changed = nil, nil, "", false })
	return a.c.opt.Store.DropAgent(context.WithoutCancel(ctx), h.state.Session)
}

// restore lists the agents that an earlier run of this session left.
func (a *agents) restore(ctx context.Context) error {
	rows, err := a.c.opt.Store.Agents(ctx, a.c.ID())
	if err != nil {
		return err
	}
	for _, row := range rows {
		h := &helper{told: true, state: AgentState{
			Name: row.Name, Session: row.Session, Role: row.Role, Model: row.Model, Status: AgentStatus(row.State), Dir: row.Dir, Started: row.Created,
		}}
		if h.state.Running() {
			h.state.Status = AgentLeft
		}
		if row.Dir != "" && a.c.opt.Reopen != nil {
			site, err := a.c.opt.Reopen(ctx, row)
			if err != nil {
				a.c.Notify(LevelWarn, "agent %s: %v", row.Name, err)
			} else {
				h.site = site
				diff, err := site.Diff(ctx)
				h.state.Changed = diff != "" || err != nil
			}
		}
		if h.state.Status == AgentLeft {
			a.c.Notify(LevelWarn, "agent %s was at work when jcode ended: /agents resumes it", row.Name)
		}
		a.list = append(a.list, h)
	}
	return nil
}

// ResumeAgent lets an agent go on that an earlier run left behind.
func (c *Conversation) ResumeAgent(ctx context.Context, name string) error {
	h, err := c.agents.find(name)
	switch {
	case err != nil:
		return err
	case h.child != nil:
		return fmt.Errorf("%s needs no resuming: it is %s", name, h.state.Status)
	}
	opt := c.childOptions(tools.Task{Name: name}, &asksFor{c.agents, h})
	if h.state.Dir != "" {
		if h.site == nil {
			return fmt.Errorf("the worktree of %s is gone: %s", name, h.state.Dir)
		}
		h.site.Equip(&opt)
	}
	if h.state.Model != "" {
		opt.Model = h.state.Model
	}
	child, err := Resume(ctx, opt, h.state.Session)
	if err != nil {
		return err
	}
	child.parent = c
	if h.site != nil {
		h.site.Begin(child)
	}
	c.agents.change(h, func() { h.child, h.state.Status, h.state.Started = child, AgentWorking, time.Now() })
	if err := c.agents.keep(ctx, h); err != nil {
		return err
	}
	c.agents.follow(h, "", Prompt{Text: "The program that ran you ended. Look at what is done, and go on with your assignment."})
	return nil
}

// String says in a few words how an agent stands, for people.
func (s AgentState) String() string {
	parts := []string{string(s.Status)}
	if s.Call != "" {
		parts = append(parts, s.Call)
	}
	if s.Tokens > 0 {
		parts = append(parts, text.Count(s.Tokens, "token"))
	}
	if s.Cost > 0 {
		parts = append(parts, text.Dollars(s.Cost))
	}
	if s.Changed {
		parts = append(parts, "changes to merge")
	}
	return strings.Join(parts, " · ")
}

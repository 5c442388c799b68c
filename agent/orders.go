package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"jcode/internal/text"
	"jcode/tools"
)

// PlanAgents implements tools.Desk. A merge changes files, and a discard removes a worktree.
func (c *Conversation) PlanAgents(ctx context.Context, order tools.AgentOrder) (tools.Plan, error) {
	if order.Action != "merge" && order.Action != "discard" {
		return tools.Plan{}, nil
	}
	m, err := c.agents.own(order.Name)
	if err != nil {
		return tools.Plan{}, err
	}
	if order.Action == "discard" {
		return planDiscard(ctx, c.agents, m)
	}
	_, site, err := c.agents.mergeable(order.Name)
	if err != nil {
		return tools.Plan{}, err
	}
	return site.Plan(ctx)
}

// planDiscard plans the removal of an agent's changes.
func planDiscard(ctx context.Context, a *agents, m *member) (tools.Plan, error) {
	state, w := a.all.Get(m)
	if w.site == nil || state.Running() {
		return tools.Plan{}, nil // there is nothing to lose, or nothing will be done
	}
	diff, left, err := w.site.Diff(ctx)
	if err == nil && diff == "" && len(left) == 0 {
		return tools.Plan{}, nil
	}
	plan := tools.Plan{Summary: "Discard the changes of the agent " + state.Name, Diff: diff}
	for _, what := range left {
		plan.Notes = append(plan.Notes, "removes "+what)
	}
	plan.Accesses = []tools.Access{{Kind: tools.AccessDelete, Path: state.Dir}}
	return plan, nil //nolint:nilerr // what can't be read is discarded after a question, too
}

// OrderAgents implements tools.Desk.
func (c *Conversation) OrderAgents(ctx context.Context, call tools.Call, order tools.AgentOrder) (tools.Result, error) {
	a := c.agents
	switch order.Action {
	case "list":
		claims, err := a.claims(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: strings.TrimSpace(a.table() + "\n" + claims), Data: a.all.List(c.ID())}, nil
	case "claim":
		return a.claim(ctx, order.Paths)
	case "wait":
		if order.Name != "" {
			if _, err := a.own(order.Name); err != nil {
				return tools.Result{}, err
			}
		}
		a.wait(ctx, order.Name, order.Any)
		if ctx.Err() != nil {
			return tools.Result{}, ctx.Err()
		}
		return tools.Result{Text: strings.TrimSpace(a.takeNews() + "\n\n" + a.table())}, nil
	}
	m, err := a.own(order.Name)
	if err != nil {
		return tools.Result{}, err
	}
	switch order.Action {
	case "output":
		return tools.Result{Text: a.output(m)}, nil
	case "message":
		if err := c.MessageAgent(ctx, order.Name, order.Text); err != nil {
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
		return tools.Result{Text: said, Display: tools.Display{Summary: text.FirstLine(said, 200), Diff: call.Plan.Diff}}, err
	case "discard":
		if err := c.DiscardAgent(ctx, order.Name); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: "The worktree of " + order.Name + " is removed with its changes."}, nil
	}
	return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "there is no action %q", order.Action)
}

// table lists the agents of this conversation, one per line.
func (a *agents) table() string {
	var b strings.Builder
	for _, s := range a.all.List(a.c.ID()) {
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

// output returns an agent's output since the last call.
func (a *agents) output(m *member) string {
	state, _ := a.all.Get(m)
	return fmt.Sprintf("%s is %s.\n%s", state.Name, state.Status, cmp.Or(a.all.Since(m), "(nothing since the last look)"))
}

package crew

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"jcode/internal/text"
	"jcode/tools"
)

// Plan plans what an order to agents would change. A merge changes files, and a discard removes a worktree.
func (c *Crew) Plan(ctx context.Context, order tools.AgentOrder) (tools.Plan, error) {
	if order.Action != "merge" && order.Action != "discard" {
		return tools.Plan{}, nil
	}
	m, err := c.own(order.Name)
	if err != nil {
		return tools.Plan{}, err
	}
	if order.Action == "discard" {
		return planDiscard(ctx, c, m)
	}
	_, site, err := c.mergeable(order.Name)
	if err != nil {
		return tools.Plan{}, err
	}
	return site.Plan(ctx)
}

// planDiscard plans the removal of an agent's changes.
func planDiscard(ctx context.Context, c *Crew, m *member) (tools.Plan, error) {
	state, w := c.all.Get(m)
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

// Order carries out an order to the agents.
func (c *Crew) Order(ctx context.Context, call tools.Call, order tools.AgentOrder) (tools.Result, error) {
	switch order.Action {
	case "list":
		claims, err := c.claims(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: strings.TrimSpace(c.table() + "\n" + claims), Data: c.all.List(c.host.ID())}, nil
	case "claim":
		return c.claim(ctx, order.Paths)
	case "wait":
		if order.Name != "" {
			if _, err := c.own(order.Name); err != nil {
				return tools.Result{}, err
			}
		}
		c.Wait(ctx, order.Name, order.Any)
		if ctx.Err() != nil {
			return tools.Result{}, ctx.Err()
		}
		return tools.Result{Text: strings.TrimSpace(c.News() + "\n\n" + c.table())}, nil
	}
	m, err := c.own(order.Name)
	if err != nil {
		return tools.Result{}, err
	}
	switch order.Action {
	case "output":
		return tools.Result{Text: c.output(m)}, nil
	case "message":
		if err := c.Message(ctx, order.Name, order.Text); err != nil {
			return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		return tools.Result{Text: "Sent: " + order.Name + " reads it at its next step."}, nil
	case "stop":
		if err := c.Stop(ctx, order.Name); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: order.Name + " was stopped."}, nil
	case "merge":
		said, err := c.Merge(ctx, call, order.Name)
		return tools.Result{Text: said, Display: tools.Display{Summary: text.FirstLine(said, 200), Diff: call.Plan.Diff}}, err
	case "discard":
		if err := c.Discard(ctx, order.Name); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{Text: "The worktree of " + order.Name + " is removed with its changes."}, nil
	}
	return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "there is no action %q", order.Action)
}

// table lists the agents of this conversation, one per line.
func (c *Crew) table() string {
	var b strings.Builder
	for _, s := range c.all.List(c.host.ID()) {
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
func (c *Crew) output(m *member) string {
	state, _ := c.all.Get(m)
	return fmt.Sprintf("%s is %s.\n%s", state.Name, state.Status, cmp.Or(c.all.Since(m), "(nothing since the last look)"))
}

package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/agent/roster"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

const (
	taskSteps = 50
	taskClose = 10 * time.Second
	// maxDepth limits how deep sub-agents nest.
	maxDepth = 2
)

// SetTodo replaces the plan, stores it with the session and shows it.
func (c *Conversation) SetTodo(ctx context.Context, items []tools.TodoItem) error {
	raw, err := json.Marshal(items)
	if err != nil {
		return err
	}
	if err := c.opt.Store.Todos().Set(ctx, c.ID(), raw); err != nil {
		return err
	}
	c.mu.Lock()
	c.todo = items
	c.mu.Unlock()
	c.emit(event.TodoChanged{Items: items})
	return nil
}

// Todo returns the current plan.
func (c *Conversation) Todo() []tools.TodoItem {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.todo
}

// RunTask runs a sub-agent on a prompt, in its own session below this one. Its events reach the subscribers
// as Nested, its questions go to the same person, and its cost counts for this session. It ends with ctx,
// unless it works in the background.
func (c *Conversation) RunTask(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	if c.opt.depth >= maxDepth {
		return tools.Result{}, tools.Errorf(tools.KindLimit, "a sub-agent of a sub-agent cannot start another one: do the work yourself")
	}
	if task.Background || task.Isolation == tools.IsolationWorktree {
		res, err := c.agents.start(ctx, call, task)
		if err != nil || task.Background {
			return res, err
		}
		return c.agents.foreground(ctx, res)
	}
	asks := &awaited{c: c}
	child, _, err := c.newChild(ctx, task, asks)
	if err != nil {
		return tools.Result{}, err
	}
	defer child.Close()
	asks.child = child
	sub := child.Subscribe()
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { child.Interrupt() })
	defer stop()
	child.Prompt(event.Prompt{Text: task.Prompt})
	// The events are read to the end of the turn even when ctx ends: the interrupt makes the turn end.
	wait, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	late := context.AfterFunc(ctx, func() { time.AfterFunc(taskClose, cancel) })
	defer late()
	for {
		ev, ok := sub.Next(wait)
		if !ok {
			return tools.Result{}, errors.New("the sub-agent ended without an answer")
		}
		c.emit(event.Nested{CallID: call.ID, Session: child.ID(), Label: child.opt.Label, Event: ev})
		if end, ok := ev.(event.TurnEnd); ok {
			return taskResult(child, end)
		}
	}
}

// childOptions returns the options of a sub-agent's conversation. This conversation's own extensions are not
// passed on.
func (c *Conversation) childOptions(task tools.Task, asker tools.Asker) Options {
	c.mu.Lock()
	defer c.mu.Unlock()
	opt := c.opt
	most := opt.MaxSteps
	opt.Session, opt.Parent, opt.Label = "", c.row.ID, cmp.Or(roster.Name(task.Name), "task")
	opt.Root = cmp.Or(c.opt.Root, c.row.ID)
	opt.tree = c.agents.all
	opt.depth++
	opt.Without = append([]string{"todo"}, opt.Without...)
	if opt.depth == maxDepth {
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
	opt.Model, opt.Mode = c.model.Name, c.mode
	if opt.Asker != nil || !opt.Headless {
		opt.Asker = asker
	}
	return opt
}

// newChild creates the sub-agent's conversation, and the site it works in if it is isolated.
func (c *Conversation) newChild(ctx context.Context, task tools.Task, asker tools.Asker) (child *Conversation, site Site, err error) {
	opt := c.childOptions(task, asker)
	if opt.Session, err = session.NewID(); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			if child != nil {
				child.Close()
			}
			err = errors.Join(err, removeSite(ctx, site))
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
	if child, err = New(opt); err != nil {
		return nil, site, err
	}
	child.parent = c
	c.mu.Lock()
	role := c.role
	c.mu.Unlock()
	if task.Role == "" && len(task.Variables) > 0 {
		return child, site, tools.Errorf(tools.KindInvalidArgs, "variables are those of a role: name it in role, or leave variables out")
	}
	if task.Role != "" {
		want := RoleRequest{Name: task.Role, Kept: c.RoleValues(task.Role), Given: task.Variables, Agent: true}
		if role, err = child.requestRole(ctx, want); err != nil {
			return child, site, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		if task.Name == "" {
			child.opt.Label = role.Name
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

// Scope is the scope in force; nil means everything.
func (rs *roleState) Scope() *tools.Scope {
	rs.c.mu.Lock()
	defer rs.c.mu.Unlock()
	return rs.scope
}

// taskResult turns the sub-agent's answer into the result of the call.
func taskResult(child *Conversation, end event.TurnEnd) (tools.Result, error) {
	display := tools.Display{Child: child.ID(), Summary: text.Count(end.Steps, "step")}
	said := strings.TrimSpace(end.Text)
	switch end.Reason {
	case event.StopInterrupted:
		return tools.Result{Display: display}, context.Canceled
	case event.StopError, event.StopLimit:
		return tools.Result{Text: strings.TrimSpace("the sub-agent stopped: " + end.Error + "\n" + said), Failed: true, Kind: tools.KindLimit, Display: display}, nil
	case event.StopDone:
	}
	return tools.Result{Text: said, Display: display, Data: map[string]any{"answer": said, "session": child.ID(), "steps": end.Steps}}, nil
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"jcode/session"
	"jcode/tools"
)

const (
	taskSteps = 50
	taskClose = 10 * time.Second
	leastCap  = 1e-9 // US dollars; 0 would be no cap
)

// SetTodo replaces the plan, keeps it with the session and shows it.
func (c *Conversation) SetTodo(ctx context.Context, items []tools.TodoItem) error {
	raw, err := json.Marshal(items)
	if err != nil {
		return err
	}
	if err := c.opt.Store.SetTodo(ctx, c.ID(), raw); err != nil {
		return err
	}
	c.mu.Lock()
	c.todo = items
	c.mu.Unlock()
	c.emit(TodoChanged{Items: items})
	return nil
}

// Todo is the plan as it stands.
func (c *Conversation) Todo() []tools.TodoItem {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.todo
}

// RunTask lets a sub-agent work on a prompt in a session of its own, under this one's.
// Its events reach the subscribers as Nested, its questions the same person, its cost
// this session. It ends with ctx.
func (c *Conversation) RunTask(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	if c.opt.Parent != "" {
		return tools.Result{}, tools.Errorf(tools.KindLimit, "a sub-agent cannot start another one: do the work yourself")
	}
	child, err := c.newChild(ctx, task)
	if err != nil {
		return tools.Result{}, err
	}
	defer child.Close()
	sub := child.Subscribe()
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { child.Interrupt() })
	defer stop()
	child.Prompt(Prompt{Text: task.Prompt})
	// The events are read to the end of the turn also when ctx ends: the interrupt makes it end.
	wait, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	late := context.AfterFunc(ctx, func() { time.AfterFunc(taskClose, cancel) })
	defer late()
	for {
		ev, ok := sub.Next(wait)
		if !ok {
			return tools.Result{}, errors.New("the sub-agent ended without an answer")
		}
		c.emit(Nested{CallID: call.ID, Session: child.ID(), Label: child.opt.Label, Event: ev})
		if end, ok := ev.(TurnEnd); ok {
			return c.taskResult(child, end)
		}
	}
}

// newChild makes the sub-agent's conversation.
func (c *Conversation) newChild(ctx context.Context, task tools.Task) (*Conversation, error) {
	c.mu.Lock()
	opt := c.opt
	if opt.MaxCost > 0 { // one cap for all: what is left of it
		opt.MaxCost = max(opt.MaxCost-c.cost, leastCap)
	}
	c.mu.Unlock()
	most := opt.MaxSteps
	opt.Session, opt.Parent, opt.Label = "", c.ID(), "task"
	opt.Without = append([]string{"task", "todo"}, opt.Without...)
	opt.MaxSteps = min(max(task.MaxSteps, 0), most)
	if opt.MaxSteps == 0 {
		opt.MaxSteps = min(taskSteps, most)
	}
	opt.TurnStarted, opt.SkillGiven, opt.TurnEnded, opt.Ready, opt.Scoped, opt.Before, opt.Attach = nil, nil, nil, nil, nil, nil, nil
	if opt.ChildLeases != nil {
		opt.Leases = opt.ChildLeases
	}
	c.mu.Lock()
	opt.Model, opt.Mode = c.model.Name, c.mode
	role := c.role
	c.mu.Unlock()
	if opt.Asker == nil && !opt.Headless {
		opt.Asker = c
	}
	child, err := New(opt)
	if err != nil {
		return nil, err
	}
	if task.Role != "" {
		if role, err = child.findRole(ctx, task.Role); err != nil {
			child.Close()
			return nil, tools.Errorf(tools.KindInvalidArgs, "%w", err)
		}
		child.opt.Label = role.Name
	}
	// A sub-agent never gets more than the role in force allows.
	role.Scope = role.Scope.Within(c.Scope())
	if err := child.putInForce(ctx, role); err != nil {
		child.Close()
		return nil, err
	}
	return child, nil
}

// Scope is the scope in force; nil means everything.
func (c *Conversation) Scope() *tools.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scope
}

// taskResult makes the sub-agent's answer the call's result and adds up its cost.
func (c *Conversation) taskResult(child *Conversation, end TurnEnd) (tools.Result, error) {
	child.mu.Lock()
	total, cost := child.total, child.cost
	child.mu.Unlock()
	c.countUsage(&session.Usage{Input: total.Input, Output: total.Output, Cached: total.Cached, Estimated: total.Estimated, Cost: cost})
	display := tools.Display{Child: child.ID(), Summary: steps(end.Steps)}
	text := strings.TrimSpace(end.Text)
	switch end.Reason {
	case StopInterrupted:
		return tools.Result{Display: display}, context.Canceled
	case StopError, StopLimit:
		return tools.Result{Text: strings.TrimSpace("the sub-agent stopped: " + end.Error + "\n" + text), Failed: true, Kind: tools.KindLimit, Display: display}, nil
	case StopDone:
	}
	return tools.Result{Text: text, Display: display, Data: map[string]any{"answer": text, "session": child.ID(), "steps": end.Steps}}, nil
}

func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

package crew

import (
	"context"
	"errors"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/tools"
)

// closeWait is how long an agent that was stopped may take to end.
const closeWait = 10 * time.Second

// MaxDepth limits how deep agents nest.
const MaxDepth = 2

// Run runs an agent on a prompt, in its own session below the conversation's. Its events reach the subscribers
// as Nested, its questions go to the same person, and its cost counts for this session. It ends with ctx,
// unless it works in the background.
func (c *Crew) Run(ctx context.Context, call tools.Call, task tools.Task) (tools.Result, error) {
	if c.depth() >= MaxDepth {
		return tools.Result{}, tools.Errorf(tools.KindLimit, "a sub-agent of a sub-agent cannot start another one: do the work yourself")
	}
	if task.Background || task.Isolation == tools.IsolationWorktree {
		res, err := c.start(ctx, call, task)
		if err != nil || task.Background {
			return res, err
		}
		return c.foreground(ctx, res)
	}
	asks := &asks{to: c.host}
	opened, err := c.host.Open(ctx, task, asks)
	if err != nil {
		return tools.Result{}, err
	}
	child := opened.Child
	defer child.Close()
	asks.opened = opened
	sub := child.Subscribe()
	defer sub.Close()
	stop := context.AfterFunc(ctx, func() { child.Interrupt() })
	defer stop()
	child.Prompt(event.Prompt{Text: task.Prompt})
	// The events are read to the end of the turn even when ctx ends: the interrupt makes the turn end.
	wait, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	late := context.AfterFunc(ctx, func() { time.AfterFunc(closeWait, cancel) })
	defer late()
	for {
		ev, ok := sub.Next(wait)
		if !ok {
			return tools.Result{}, errors.New("the sub-agent ended without an answer")
		}
		c.host.Emit(event.Nested{CallID: call.ID, Session: child.ID(), Label: opened.Label, Event: ev})
		if end, ok := ev.(event.TurnEnd); ok {
			return taskResult(child, end)
		}
	}
}

// taskResult turns the sub-agent's answer into the result of the call.
func taskResult(child Child, end event.TurnEnd) (tools.Result, error) {
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

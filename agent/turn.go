package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"jcode/agent/event"
	"jcode/agent/model"
)

// turn is the processing of one prompt, from the message to the model's last answer. It runs on the conversation's goroutine.
type turn struct {
	c *Conversation

	// number is the sequence number of the turn's first message: unique in the session,
	// also after a rewind.
	number  int
	step    int
	started time.Time
	guard   loopGuard
	// overflowed says that the history was compacted because the current request was too long.
	overflowed bool
	// refused counts the tools that were left out since the last answer.
	refused int
	// answer is the JSON Schema that the answer shall fit, nil for any text.
	answer   json.RawMessage
	goneOn   int // how often it continued although the model had stopped
	text     string
	finish   string   // why the model stopped, of the last answer
	made     int      // calls of its answers
	releases []func() // for the rules of its prompts
	asked    []int64  // the stored messages of its prompts, with what they attach
}

// runTurn works on one prompt until the model stops, or until a limit, an error or an interrupt.
func (c *Conversation) runTurn(p event.Prompt) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	c.mu.Lock()
	c.record.turns++
	t := &turn{c: c, started: time.Now(), guard: loopGuard{repeats: c.opt.LoopRepeats}}
	c.inbox.interrupt, c.inbox.abort = cancel, cancel
	if c.inbox.failed != nil {
		cancel()
	}
	c.state.Busy = true
	c.mu.Unlock()
	c.emitQueue()

	reason := event.StopError
	restore, err := t.enter(ctx, p)
	if err == nil {
		reason, err = t.work(ctx, p)
	}
	restore()
	var unsent error
	if t.number == 0 { // p is not committed
		if unsent = err; ctx.Err() != nil {
			reason, err = event.StopInterrupted, nil
		}
	}

	c.mu.Lock()
	c.inbox.interrupt, c.inbox.abort = nil, nil
	c.state.Busy = false
	if reason == event.StopInterrupted && c.inbox.failed != nil {
		reason, err = event.StopError, c.inbox.failed
	}
	c.mu.Unlock()
	t.c.agents.Unclaim()
	end := event.TurnEnd{Turn: t.number, Queued: p.Queued, Finish: t.finish, Calls: t.made, Steps: t.step, Duration: time.Since(t.started), Reason: reason, Text: t.text}
	if err != nil {
		end.Error, end.Err = err.Error(), err
	}
	if used := c.opt.Extensions.notes(end); len(used) > 0 {
		c.emit(event.NotesUsed{Notes: used})
	}
	c.opt.Extensions.turnEnded(end)
	c.emit(end)
	if unsent != nil {
		t.unsent(unsent, p)
	}
	c.emitState()
	if reason == event.StopDone {
		t.titleLater()
	}
}

// work commits the prompt and runs the steps.
func (t *turn) work(ctx context.Context, p event.Prompt) (event.StopReason, error) {
	defer t.end()
	prepared := t.preparing(p, "asking the hooks")
	told, err := t.admit(ctx, p)
	prepared()
	before := t.c.out.history.Len()
	if err == nil {
		err = t.take(ctx, p, t.started)
	}
	if err == nil {
		err = t.tell(ctx, told)
	}
	if err != nil {
		return event.StopError, err
	}
	t.findWindow()
	t.awaitReady(ctx)
	if err := t.equip(ctx, p); err != nil {
		return event.StopError, err
	}
	t.asked = append(t.asked, t.c.out.history.Since(before)...)
	for {
		if ctx.Err() != nil {
			return event.StopInterrupted, nil
		}
		if t.step >= t.c.Tuning().MaxSteps {
			return event.StopLimit, fmt.Errorf("stopped after %d steps, the limit of a turn: say “continue” to go on, or raise --max-steps", t.step)
		}
		if err := t.c.spent.over(); err != nil {
			return event.StopLimit, err
		}
		t.step++
		more, err := t.makeStep(ctx)
		switch {
		case ctx.Err() != nil:
			return event.StopInterrupted, nil
		case errors.Is(err, errLooping):
			return event.StopLimit, err
		case err != nil:
			return event.StopError, err
		case !more:
			goOn, err := t.stopping(ctx)
			if err != nil {
				return event.StopError, err
			}
			if !goOn {
				return event.StopDone, nil
			}
		}
	}
}

// maxGoneOn bounds how often extensions can make a turn continue.
const maxGoneOn = 8

// stopping asks the extensions whether the model must continue although it has stopped.
func (t *turn) stopping(ctx context.Context) (goOn bool, err error) {
	why := t.c.opt.Extensions.stopping(ctx, Stop{Session: t.c.record.row.ID, Child: t.c.opt.Parent != "", Again: t.goneOn > 0, Text: t.text, Roles: t.c.settings.scope.Roles()})
	if why == "" || ctx.Err() != nil {
		return false, nil
	}
	if t.goneOn++; t.goneOn > maxGoneOn {
		t.c.Notify(event.LevelWarn, "the turn ends here: a hook had already continued it %d times", maxGoneOn)
		return false, nil
	}
	if err := t.appendNotice(context.WithoutCancel(ctx), why); err != nil {
		return false, err
	}
	t.c.Notify(event.LevelInfo, "%s", why)
	return true, nil
}

// end revokes the rules of the turn's prompts.
func (t *turn) end() {
	for _, release := range t.releases {
		release()
	}
}

// makeStep sends one request, commits the answer and runs its calls. more says that the model needs to see
// the results.
func (t *turn) makeStep(ctx context.Context) (more bool, err error) {
	if t.step > 1 {
		if _, err := t.join(ctx); err != nil {
			return false, err
		}
	}
	snap, offered, err := t.offer(ctx)
	if err != nil {
		return false, err
	}
	if t.finish != model.FinishPause { // the provider is in the middle of its answer
		if err := t.c.compactor().ifFull(ctx, offered); err != nil {
			return false, err
		}
	}
	t.c.emit(event.StepStart{Step: t.step})
	resp, err := t.ask(ctx, offered)
	if err != nil {
		return t.recover(ctx, resp, err)
	}
	t.overflowed, t.refused = false, 0
	calls := t.pending(snap, resp.Calls)
	t.made += len(calls)
	seq, err := t.commitAnswer(ctx, resp, calls)
	if err != nil {
		return false, err
	}
	if len(calls) == 0 {
		return t.answerEnded(ctx, resp)
	}
	return true, t.runCalls(ctx, snap, seq, calls)
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
	"jcode/tools"
)

// turn is the state of one turn.
type turn struct {
	// number is the sequence number of the turn's first message: unique in the session,
	// also after a rewind.
	number  int
	step    int
	started time.Time
	guard   loopGuard
	// overflowed says that the history was compacted because the request that is being made was
	// too long.
	overflowed bool
	// refused counts the tools that were left out since the last answer.
	refused  int
	goneOn   int // times that it went on although the model had stopped
	text     string
	finish   string   // why the model stopped, of the last answer
	releases []func() // of the rules of its prompts
}

// runTurn works on one prompt until the model stops, a limit, an error or an interrupt.
func (c *Conversation) runTurn(p Prompt) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	c.mu.Lock()
	c.turns++
	t := &turn{started: time.Now(), guard: loopGuard{repeats: c.opt.LoopRepeats}}
	c.interrupt = cancel
	c.state.Busy = true
	c.mu.Unlock()
	c.emitQueue()

	restore, err := c.enter(ctx, p)
	var reason StopReason
	switch {
	case err == nil:
		reason, err = c.work(ctx, t, p)
	case ctx.Err() != nil:
		reason, err = StopInterrupted, nil
		c.requeue(p)
	default:
		reason = StopError
	}
	restore()

	c.mu.Lock()
	c.interrupt = nil
	c.state.Busy = false
	c.mu.Unlock()
	end := TurnEnd{Turn: t.number, Queued: p.queued, Finish: t.finish, Steps: t.step, Duration: time.Since(t.started), Reason: reason, Text: t.text}
	if err != nil {
		end.Error, end.Err = err.Error(), err
	}
	if c.opt.TurnEnded != nil {
		c.opt.TurnEnded(end)
	}
	c.emit(end)
	c.emitState()
	if reason == StopDone {
		c.titleLater()
	}
}

// enter puts a message's own model and role in force, and returns what puts back the others.
func (c *Conversation) enter(ctx context.Context, p Prompt) (restore func(), err error) {
	restore = func() {}
	if p.Role != "" {
		back, err := c.borrowRole(ctx, p.Role)
		if err != nil {
			return restore, err
		}
		restore = back
	}
	if p.Model == "" {
		return restore, nil
	}
	m, err := c.opt.Resolve(p.Model)
	if err != nil {
		return restore, err
	}
	c.mu.Lock()
	before, chosen := c.model, c.chosen
	c.model = m.tunedAs(before)
	c.mu.Unlock()
	role := restore
	return func() {
		c.mu.Lock()
		c.model = c.backTo(before, m.Name, chosen)
		c.mu.Unlock()
		role()
	}, nil
}

// backTo gives the model from before another was lent, with what the person chose since: a
// model, or settings. The caller holds the lock.
func (c *Conversation) backTo(before Model, lent string, chosen int) Model {
	switch {
	case c.chosen == chosen:
		return before
	case c.model.Name == lent:
		return before.tunedAs(c.model)
	}
	return c.model.tunedAs(before)
}

// work commits the prompt and makes steps.
func (c *Conversation) work(ctx context.Context, t *turn, p Prompt) (StopReason, error) {
	defer t.end()
	told, err := c.admit(ctx, p)
	if err == nil {
		err = c.take(ctx, t, p, t.started)
	}
	if err == nil {
		err = c.tell(ctx, told)
	}
	if err != nil {
		return StopError, err
	}
	c.findWindow()
	c.awaitReady(ctx)
	if err := c.equip(ctx, t, p); err != nil {
		return StopError, err
	}
	for {
		if ctx.Err() != nil {
			return StopInterrupted, nil
		}
		if t.step >= c.Tuning().MaxSteps {
			return StopLimit, fmt.Errorf("stopped after %d steps, the limit of a turn: say “continue” to go on, or raise --max-steps", t.step)
		}
		if err := c.overCost(); err != nil {
			return StopLimit, err
		}
		t.step++
		more, err := c.makeStep(ctx, t)
		switch {
		case ctx.Err() != nil:
			return StopInterrupted, nil
		case errors.Is(err, errLooping):
			return StopLimit, err
		case err != nil:
			return StopError, err
		case !more:
			goOn, err := c.stopping(ctx, t)
			if err != nil {
				return StopError, err
			}
			if !goOn {
				return StopDone, nil
			}
		}
	}
}

// maxGoneOn bounds how often a turn goes on because something wants the model to.
const maxGoneOn = 8

// stopping asks whether the model shall go on although it has stopped.
func (c *Conversation) stopping(ctx context.Context, t *turn) (goOn bool, err error) {
	if c.opt.Stopping == nil {
		return false, nil
	}
	why := c.opt.Stopping(ctx, c.row.ID, c.opt.Parent != "", t.goneOn > 0)
	if why == "" || ctx.Err() != nil {
		return false, nil
	}
	if t.goneOn++; t.goneOn > maxGoneOn {
		c.Notify(LevelWarn, "the turn ends here: it went on %d times because a hook wanted it to", maxGoneOn)
		return false, nil
	}
	if err := c.appendNotice(context.WithoutCancel(ctx), why); err != nil {
		return false, err
	}
	c.Notify(LevelInfo, "%s", why)
	return true, nil
}

// admit has a prompt judged before it is committed. told is what the model reads with it.
func (c *Conversation) admit(ctx context.Context, p Prompt) (told string, err error) {
	if c.opt.Admit == nil {
		return "", nil
	}
	id := c.row.ID
	if id == "" { // of a session that begins with this prompt
		c.mu.Lock()
		if c.opt.Session == "" {
			c.opt.Session, err = session.NewID()
		}
		id = c.opt.Session
		c.mu.Unlock()
		if err != nil {
			return "", err
		}
	}
	return c.opt.Admit(ctx, id, p.Text)
}

// tell commits a notice to the model, if there is one.
func (c *Conversation) tell(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	return c.appendNotice(context.WithoutCancel(ctx), text)
}

// take commits a prompt of the person, in the words of a template where the role has one.
func (c *Conversation) take(ctx context.Context, t *turn, p Prompt, at time.Time) error {
	c.mu.Lock()
	if template := c.role.Template; template != nil && p.Shown == "" {
		p.Text, p.Shown = strings.Join(template, p.Text), p.Text
	}
	c.mu.Unlock()
	seq, err := c.appendUser(context.WithoutCancel(ctx), p)
	if err != nil {
		return err
	}
	if t.number == 0 {
		t.number = int(seq)
	}
	c.began(TurnStart{Turn: t.number, Seq: seq, Prompt: shown(p), Queued: p.queued, At: at})
	return nil
}

// equip gives the model what a prompt mentions, and puts its rules in force for the turn.
func (c *Conversation) equip(ctx context.Context, t *turn, p Prompt) error {
	if c.opt.Attach != nil {
		if text := c.opt.Attach(ctx, p.Text); text != "" {
			if err := c.appendNotice(context.WithoutCancel(ctx), text); err != nil {
				return err
			}
		}
	}
	if len(p.Allow) == 0 || c.opt.Allow == nil {
		return nil
	}
	release, err := c.opt.Allow(c.row.ID, p.Allow)
	if err == nil {
		t.releases = append(t.releases, release)
	}
	return err
}

// end takes the rules of the turn's prompts out of force.
func (t *turn) end() {
	for _, release := range t.releases {
		release()
	}
}

// awaitReady waits for what a prompt needs. Where a person sits, Esc skips the wait and
// not the turn.
func (c *Conversation) awaitReady(ctx context.Context) {
	if c.opt.Ready == nil {
		return
	}
	if c.opt.Headless {
		c.opt.Ready(ctx)
		return
	}
	waiting, skip := context.WithCancel(ctx)
	defer skip()
	c.mu.Lock()
	interrupt := c.interrupt
	c.interrupt = skip
	c.mu.Unlock()
	c.opt.Ready(waiting)
	c.mu.Lock()
	c.interrupt, c.held = interrupt, false
	c.mu.Unlock()
}

// sayUnpriced says once that a cap cannot hold, because what a model costs is unknown.
func (c *Conversation) sayUnpriced(name string) {
	c.mu.Lock()
	say := c.opt.MaxCost > 0 && !c.unpriced
	c.unpriced = c.unpriced || say
	c.mu.Unlock()
	if say {
		c.Notify(LevelWarn, "the price of %s is unknown, so --max-cost cannot stop it: set models[].prices in the config", name)
	}
}

// overCost returns an error once the session has cost what it may.
func (c *Conversation) overCost() error {
	if c.parent != nil {
		return c.parent.overCost()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opt.MaxCost > 0 && c.cost >= c.opt.MaxCost {
		return fmt.Errorf("stopped: the cost of this session, %s, has reached --max-cost %s", text.Dollars(c.cost), text.Dollars(c.opt.MaxCost))
	}
	return nil
}

// makeStep sends one request, commits the answer, and carries out its calls. more says
// that the model wants to see the results.
func (c *Conversation) makeStep(ctx context.Context, t *turn) (more bool, err error) {
	if t.step > 1 {
		for _, p := range c.steer() {
			told, err := c.admit(ctx, p)
			if err != nil { // the turn goes on without it
				c.Notify(LevelError, "%v", err)
				continue
			}
			if err := c.take(ctx, t, p, time.Now()); err != nil {
				return false, err
			}
			if err := c.tell(ctx, told); err != nil {
				return false, err
			}
			t.guard = loopGuard{repeats: c.opt.LoopRepeats}
			c.emitQueue()
			if err := c.equip(ctx, t, p); err != nil {
				return false, err
			}
		}
	}
	snap, offered, err := c.offer(ctx, t)
	if err != nil {
		return false, err
	}
	if err := c.compactIfFull(ctx, offered); err != nil {
		return false, err
	}
	c.emit(StepStart{Step: t.step})
	resp, err := c.ask(ctx, t, offered)
	if err != nil {
		return c.recover(ctx, t, resp, err)
	}
	t.overflowed, t.refused = false, 0
	calls := c.pending(snap, resp.Calls)
	seq, err := c.commitAnswer(ctx, t, resp, calls)
	if err != nil {
		return false, err
	}
	if len(calls) == 0 {
		return c.answerEnded(ctx, t, resp)
	}
	return true, c.runCalls(ctx, t, snap, seq, calls)
}

// answerEnded looks at an answer without calls: one that was cut or is empty is said.
func (c *Conversation) answerEnded(ctx context.Context, t *turn, resp model.Response) (bool, error) {
	switch {
	case resp.Finish == model.FinishPause:
		return true, nil // the provider goes on when it gets its answer back
	case resp.Finish == "length":
		c.Notify(LevelWarn, "the answer was cut at the model's output limit: /continue goes on")
	case resp.Finish == "content_filter":
		c.Notify(LevelWarn, "the provider's content filter ended the answer")
	case resp.Finish != "" && resp.Finish != "stop" && resp.Finish != "tool_calls":
		c.Notify(LevelWarn, "the provider ended the answer for a reason of its own: %s", clean(resp.Finish))
	case blank(resp.Text):
		c.Notify(LevelWarn, "the model gave an empty answer")
	}
	if c.joining() {
		return true, nil
	}
	if c.opt.Headless && c.agents.unfinished() { // nobody would ask for their answers later
		c.agents.wait(ctx, "", true)
		return c.agents.unfinished(), nil
	}
	return false, nil
}

// commitAnswer stores an answer, counts its tokens and tells the subscribers.
func (c *Conversation) commitAnswer(ctx context.Context, t *turn, resp model.Response, calls []pendingCall) (int64, error) {
	c.mu.Lock()
	m := c.model
	c.mu.Unlock()
	whole := resp
	whole.Usage = resp.Usage.Plus(resp.Wasted) // what was paid for; the context is the last attempt's
	cost, priced := m.price(whole)
	if !priced {
		c.sayUnpriced(m.Name)
	}
	seq, err := c.appendAnswer(context.WithoutCancel(ctx), resp, calls, cost)
	if err != nil {
		return 0, err
	}
	t.finish = resp.Finish
	if !blank(resp.Text) {
		t.text = resp.Text
	}
	u := whole.Usage
	c.countUsage(&session.Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Estimated: u.Estimated, Cost: cost})
	c.measured.saw(resp.Usage, len(c.history.messages))
	c.emit(AssistantMessage{Seq: seq, Text: resp.Text, Reasoning: resp.Reasoning, Calls: len(calls)})
	c.emitUsage(u, priced)
	return seq, nil
}

func (c *Conversation) emitUsage(step model.Usage, priced bool) {
	context := c.measured.expect(c.system, nil, &c.history)
	c.mu.Lock()
	ev := UsageEvent{Step: step, Total: c.total, Context: context, Window: c.model.Window, Cost: c.cost, Priced: priced}
	c.mu.Unlock()
	c.emit(ev)
}

// began tells everybody that a prompt was committed.
func (c *Conversation) began(ev TurnStart) {
	c.emit(ev)
	if c.opt.TurnStarted != nil {
		c.opt.TurnStarted(ev)
	}
}

// offer takes the snapshot for a step and announces what came and went since the last one.
func (c *Conversation) offer(ctx context.Context, t *turn) (tools.Snapshot, []tools.Entry, error) {
	if err := c.announceRole(context.WithoutCancel(ctx)); err != nil {
		return tools.Snapshot{}, nil, err
	}
	if news := c.agents.takeNews(); news != "" { // the person was told when it happened
		if err := c.appendNotice(context.WithoutCancel(ctx), news); err != nil {
			return tools.Snapshot{}, nil, err
		}
	}
	for _, before := range c.opt.Before {
		if told := before(ctx, c.row.ID); told.Text != "" {
			if err := c.appendNotice(context.WithoutCancel(ctx), told.Text); err != nil {
				return tools.Snapshot{}, nil, err
			}
			if !told.Silent {
				c.Notify(LevelInfo, "%s", cmp.Or(told.Shown, told.Text))
			}
		}
	}
	c.mu.Lock()
	scope, mode, trained := c.scope, c.mode, c.model
	c.mu.Unlock()
	mode = mode.Under(scope.Ceiling())
	snap := c.opt.Registry.Snapshot(scope)
	offered := snap.Offer(&c.order, c.opt.Gate, mode)
	kept := offered[:0:0]
	names := make(map[string]bool, len(offered))
	for _, e := range offered {
		if !c.dropped[c.refusal(e.Spec.Wire)] && !slices.Contains(c.opt.Without, e.Spec.Name) && trained.knows(e) {
			kept = append(kept, e)
			names[e.Spec.Name] = true
		}
	}
	before := c.offered
	c.offered = names
	listed := c.listing.arrange(kept, t.number, func(e tools.Entry) bool { return c.dropped[c.refusal(e.Spec.Wire)] })
	if before == nil {
		return snap, listed, nil
	}
	ev := ToolsChanged{Owner: owners(kept, before)}
	for _, e := range kept {
		if !before[e.Spec.Name] {
			ev.Added = append(ev.Added, e.Spec.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !names[name] {
			ev.Removed = append(ev.Removed, name)
		}
	}
	if len(ev.Added)+len(ev.Removed) == 0 {
		return snap, listed, nil
	}
	if err := c.appendChange(context.WithoutCancel(ctx), changeLine(ev, snap), c.listing.change(ev)); err != nil {
		return snap, nil, err
	}
	c.emit(ev)
	return snap, listed, nil
}

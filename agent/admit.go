package agent

import (
	"context"
	"strings"
	"time"

	"jcode/agent/event"
	"jcode/session"
)

// enter applies a message's model and role overrides and returns a func that restores the
// previous ones.
func (t *turn) enter(ctx context.Context, p event.Prompt) (restore func(), err error) {
	restore = func() {}
	if p.Role != "" {
		prepared := t.preparing(p, "entering the role "+p.Role)
		back, err := t.borrowRole(ctx, p.Role)
		prepared()
		if err != nil {
			return restore, err
		}
		restore = back
	}
	if p.Model == "" {
		return restore, nil
	}
	m, err := t.opt.Resolve(p.Model)
	if err != nil {
		return restore, err
	}
	t.mu.Lock()
	before, chosen := t.model, t.chosen
	t.model = m.tunedAs(before)
	t.mu.Unlock()
	role := restore
	return func() {
		t.mu.Lock()
		t.model = t.backTo(before, m.Name, chosen)
		t.mu.Unlock()
		role()
	}, nil
}

// backTo returns the model that was current before an override, updated with what the person has chosen
// since: another model, or other settings. The caller holds the lock.
func (s *settings) backTo(before Model, lent string, chosen int) Model {
	switch {
	case s.chosen == chosen:
		return before
	case s.model.Name == lent:
		return before.tunedAs(s.model)
	}
	return s.model.tunedAs(before)
}

// shortWait is how long a prompt may be prepared before it is reported.
const shortWait = 100 * time.Millisecond

// preparing reports what a prompt waits for, unless prepared is called soon.
func (t *turn) preparing(p event.Prompt, doing string) (prepared func()) {
	told := make(chan struct{})
	timer := time.AfterFunc(shortWait, func() {
		defer close(told)
		t.emit(event.Preparing{Prompt: p, Doing: doing})
	})
	return func() {
		if !timer.Stop() {
			<-told
		}
	}
}

// admit lets the extensions judge a prompt before it is committed. told is what the model reads along with
// it.
func (t *turn) admit(ctx context.Context, p event.Prompt) (told string, err error) {
	if !t.opt.Extensions.judges() {
		return "", nil
	}
	id := t.row.ID
	if id == "" { // a session that begins with this prompt
		t.mu.Lock()
		if t.opt.Session == "" {
			t.opt.Session, err = session.NewID()
		}
		id = t.opt.Session
		t.mu.Unlock()
		if err != nil {
			return "", err
		}
	}
	if told, err = t.opt.Extensions.admit(ctx, id, p.Text); ctx.Err() != nil {
		return "", ctx.Err() // an interrupted judgement is none
	}
	return told, err
}

// join commits the prompts that arrived meanwhile. joined says that there is one.
func (t *turn) join(ctx context.Context) (joined bool, err error) {
	list := t.steer()
	for i, p := range list {
		told, err := t.admit(ctx, p)
		if ctx.Err() != nil {
			t.unsent(ctx.Err(), list[i:]...)
			return joined, ctx.Err()
		}
		if err != nil { // the turn continues without it
			t.Notify(event.LevelError, "%v", err)
			t.unsent(err, p)
			continue
		}
		before := t.history.Len()
		if err := t.take(ctx, p, time.Now()); err != nil {
			t.unsent(err, list[i:]...)
			return joined, err
		}
		joined = true
		err = t.tell(ctx, told)
		t.guard = loopGuard{repeats: t.opt.LoopRepeats}
		t.emitQueue()
		if err == nil {
			err = t.equip(ctx, p)
		}
		t.asked = append(t.asked, t.history.Since(before)...)
		if err != nil {
			t.unsent(err, list[i+1:]...)
			return joined, err
		}
	}
	return joined, nil
}

// unsent reports prompts that were not committed.
func (t *turn) unsent(err error, list ...event.Prompt) {
	for _, p := range list {
		t.emit(event.Unsent{Prompt: p, Queued: p.Queued, Err: err})
	}
	t.emitQueue()
}

// tell commits a notice to the model, if there is one.
func (t *turn) tell(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	return t.appendNotice(context.WithoutCancel(ctx), text)
}

// take commits a prompt of the person, expanded by the role's template if it has one.
func (t *turn) take(ctx context.Context, p event.Prompt, at time.Time) error {
	t.mu.Lock()
	if template := t.role.Template; template != nil && p.Shown == "" {
		p.Text, p.Shown = strings.Join(template, p.Text), p.Text
	}
	t.mu.Unlock()
	seq, err := t.appendUser(context.WithoutCancel(ctx), p)
	if err != nil {
		return err
	}
	if t.number == 0 {
		t.number = int(seq)
	}
	t.began(event.TurnStart{Turn: t.number, Seq: seq, Prompt: shown(p), Queued: p.Queued, At: at})
	return nil
}

// equip attaches what a prompt mentions and puts the prompt's rules in force for the turn.
func (t *turn) equip(ctx context.Context, p event.Prompt) error {
	if err := t.tell(ctx, t.opt.Extensions.attach(ctx, p.Text)); err != nil {
		return err
	}
	if len(p.Allow) == 0 || t.opt.Allow == nil {
		return nil
	}
	release, err := t.opt.Allow(t.row.ID, p.Allow)
	if err == nil {
		t.releases = append(t.releases, release)
	}
	return err
}

// awaitReady waits for what a prompt needs. In an interactive session Esc skips the wait, not the turn.
func (t *turn) awaitReady(ctx context.Context) {
	if !t.opt.Extensions.waits() {
		return
	}
	if t.opt.Headless {
		t.opt.Extensions.ready(ctx)
		return
	}
	waiting, skip := context.WithCancel(ctx)
	defer skip()
	t.mu.Lock()
	interrupt := t.interrupt
	t.interrupt = skip
	t.mu.Unlock()
	t.opt.Extensions.ready(waiting)
	t.mu.Lock()
	t.interrupt, t.held = interrupt, false
	t.mu.Unlock()
}

// began reports that a prompt was committed.
func (t *turn) began(ev event.TurnStart) {
	t.emit(ev)
	t.opt.Extensions.turnStarted(ev)
}

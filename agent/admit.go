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
	m, err := t.c.opt.Resolve(p.Model)
	if err != nil {
		return restore, err
	}
	t.c.mu.Lock()
	before, chosen := t.c.settings.model, t.c.settings.chosen
	t.c.settings.model = m.tunedAs(before)
	t.c.mu.Unlock()
	role := restore
	return func() {
		t.c.mu.Lock()
		t.c.settings.model = t.c.settings.backTo(before, m.Name, chosen)
		t.c.mu.Unlock()
		role()
	}, nil
}

// shortWait is how long a prompt may be prepared before it is reported.
const shortWait = 100 * time.Millisecond

// preparing reports what a prompt waits for, unless prepared is called soon.
func (t *turn) preparing(p event.Prompt, doing string) (prepared func()) {
	told := make(chan struct{})
	timer := time.AfterFunc(shortWait, func() {
		defer close(told)
		t.c.emit(event.Preparing{Prompt: p, Doing: doing})
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
	if !t.c.opt.Extensions.judges() {
		return "", nil
	}
	id := t.c.record.row.ID
	if id == "" { // a session that begins with this prompt
		t.c.mu.Lock()
		if t.c.opt.Session == "" {
			t.c.opt.Session, err = session.NewID()
		}
		id = t.c.opt.Session
		t.c.mu.Unlock()
		if err != nil {
			return "", err
		}
	}
	if told, err = t.c.opt.Extensions.admit(ctx, id, p.Text); ctx.Err() != nil {
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
			t.c.Notify(event.LevelError, "%v", err)
			t.unsent(err, p)
			continue
		}
		before := t.c.out.history.Len()
		if err := t.take(ctx, p, time.Now()); err != nil {
			t.unsent(err, list[i:]...)
			return joined, err
		}
		joined = true
		err = t.tell(ctx, told)
		t.guard = loopGuard{repeats: t.c.opt.LoopRepeats}
		t.c.emitQueue()
		if err == nil {
			err = t.equip(ctx, p)
		}
		t.asked = append(t.asked, t.c.out.history.Since(before)...)
		if err != nil {
			t.unsent(err, list[i+1:]...)
			return joined, err
		}
	}
	return joined, nil
}

// steer takes the waiting prompts that join the turn.
func (t *turn) steer() []event.Prompt {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	return t.c.inbox.steer()
}

// unsent reports prompts that were not committed.
func (t *turn) unsent(err error, list ...event.Prompt) {
	for _, p := range list {
		t.c.emit(event.Unsent{Prompt: p, Queued: p.Queued, Err: err})
	}
	t.c.emitQueue()
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
	t.c.mu.Lock()
	if template := t.c.settings.role.Template; template != nil && p.Shown == "" {
		p.Text, p.Shown = strings.Join(template, p.Text), p.Text
	}
	t.c.mu.Unlock()
	seq, err := t.appendUser(context.WithoutCancel(ctx), p)
	if err != nil {
		return err
	}
	if t.number == 0 {
		t.number = int(seq)
	}
	t.began(event.TurnStart{Turn: t.number, Seq: seq, Prompt: p.Display(), Queued: p.Queued, At: at})
	return nil
}

// equip attaches what a prompt mentions and puts the prompt's rules in force for the turn.
func (t *turn) equip(ctx context.Context, p event.Prompt) error {
	if p.Answer != nil {
		t.answer = p.Answer
	}
	if err := t.tell(ctx, t.c.opt.Extensions.attach(ctx, p.Text)); err != nil {
		return err
	}
	if len(p.Allow) == 0 || t.c.opt.Allow == nil {
		return nil
	}
	release, err := t.c.opt.Allow(t.c.record.row.ID, p.Allow)
	if err == nil {
		t.releases = append(t.releases, release)
	}
	return err
}

// awaitReady waits for what a prompt needs. In an interactive session Esc skips the wait, not the turn.
func (t *turn) awaitReady(ctx context.Context) {
	if !t.c.opt.Extensions.waits() {
		return
	}
	if t.c.opt.Headless {
		t.c.opt.Extensions.ready(ctx)
		return
	}
	waiting, skip := context.WithCancel(ctx)
	defer skip()
	t.c.mu.Lock()
	interrupt := t.c.inbox.interrupt
	t.c.inbox.interrupt = skip
	t.c.mu.Unlock()
	t.c.opt.Extensions.ready(waiting)
	t.c.mu.Lock()
	t.c.inbox.interrupt, t.c.inbox.held = interrupt, false
	t.c.mu.Unlock()
}

// began reports that a prompt was committed.
func (t *turn) began(ev event.TurnStart) {
	t.c.emit(ev)
	t.c.opt.Extensions.turnStarted(ev)
}

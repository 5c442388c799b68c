package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"jcode/internal/text"
	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/mcp/wire"
)

const (
	// steadyAfter is how long a connection must last before its earlier failures are forgotten.
	steadyAfter = 30 * time.Second
	// kickEvery and reviveEvery bound how often a call may start a try by itself.
	kickEvery   = 5 * time.Second
	reviveEvery = 30 * time.Second
	// changeDebounce joins the notices that servers send in bursts.
	changeDebounce = 100 * time.Millisecond
)

// spec is the target of an actor.
type spec struct {
	entry  config.Entry
	target config.Resolved
	err    error // the target can't be resolved
}

// actor owns one server. Its state belongs to one goroutine; others send it work through do
// and ask. Each restart begins a new generation, and results of older ones are discarded.
type actor struct {
	name string
	env  actorEnv
	log  *wire.Log
	box  *mailbox
	view atomic.Pointer[view]
	done chan struct{}

	// Owned by the goroutine.
	gen      uint64
	spec     spec
	single   bool
	state    State
	failures int
	scale    int
	err      error
	nextTry  time.Time
	since    time.Time
	session  *session
	http     bool
	tools    []schema.Tool
	skipped  []schema.Skipped
	prompts  []PromptInfo
	timer    *time.Timer
	debounce *time.Timer
	changed  [3]bool
	listing  bool
	// listingSince is when the current reading of lists began.
	listingSince time.Time
	waiters      []chan<- error
	lastKick     time.Time
	listed       time.Time // when the tools were read last
	partial      error     // what is missing of the tools
	relists      int       // how often the missing ones were asked for
	closing      sync.WaitGroup
	dialing      context.CancelFunc
	succeeded    atomic.Bool
}

// actorEnv is what an actor needs from its manager.
type actorEnv struct {
	dialer dialer
	hooks  func(config.Entry) sessionHooks
	// publish stores a new view of the actor, on its goroutine; tools says that the tool
	// list may have changed. The registry is updated before the view can be seen.
	publish func(a *actor, v *view, tools bool)
	delay   func(time.Duration) time.Duration
	now     func() time.Time
}

func newActor(name string, env actorEnv, log *wire.Log) *actor {
	a := &actor{name: name, env: env, log: log, box: newMailbox(), done: make(chan struct{}), state: StateDisconnected}
	a.view.Store(&view{state: StateDisconnected})
	go a.run()
	return a
}

func (a *actor) run() {
	defer close(a.done)
	a.box.run()
	a.stopTimers()
}

// do queues work for the actor's goroutine.
func (a *actor) do(f func()) { a.box.put(f) }

// ask runs f on the actor's goroutine and waits for it.
func (a *actor) ask(f func()) {
	done := make(chan struct{})
	if !a.box.put(func() { f(); close(done) }) {
		return
	}
	<-done
}

// publish makes the actor's state visible to others.
func (a *actor) publish(tools bool) {
	v := &view{
		entry: a.spec.entry, key: a.spec.target.Key, state: a.state, err: a.err, nextTry: a.nextTry,
		partial: a.partial, tools: a.tools, skipped: a.skipped, prompts: a.prompts, secrets: config.ScrubLonger(a.spec.target.Secrets), single: a.single,
	}
	if a.state == StateReconnecting {
		v.attempt = max(a.failures, 1)
	}
	if a.session != nil {
		v.session, v.info, v.pid = a.session, a.session.info, a.session.link.PID()
	}
	a.env.publish(a, v, tools)
}

// restart begins a new generation with its first attempt.
func (a *actor) restart() {
	a.begin()
	a.try()
	a.publish(true)
}

// begin begins a new generation, of which no tools and prompts are known.
func (a *actor) begin() {
	a.endGeneration(errDisconnected)
	a.forgetLists()
	a.state, a.err = StateConnecting, nil
}

func (a *actor) forgetLists() { a.tools, a.skipped, a.prompts = nil, nil, nil }

// endGeneration ends the current connection, and its calls with the reason. Results that still
// come in from it are discarded.
func (a *actor) endGeneration(reason error) {
	a.gen++
	a.stopTimers()
	a.nextTry = time.Time{}
	if a.dialing != nil {
		a.dialing()
		a.dialing = nil
	}
	if s := a.session; s != nil {
		a.session = nil
		a.end(s, reason)
	}
	a.listing, a.changed = false, [3]bool{}
	a.partial, a.relists = nil, 0
}

// end ends a session in the background; wait waits for it.
func (a *actor) end(s *session, reason error) {
	s.close(reason)
	a.closing.Go(func() { s.wait(context.Background()) })
}

func (a *actor) stopTimers() {
	for _, t := range []*time.Timer{a.timer, a.debounce} {
		if t != nil {
			t.Stop()
		}
	}
	a.timer, a.debounce = nil, nil
}

// try makes one connection attempt in the background.
func (a *actor) try() {
	if a.spec.err != nil {
		a.failed(a.spec.err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	gen, s, scale := a.gen, a.spec, a.scale
	a.dialing = cancel
	hooks := a.env.hooks(s.entry)
	hooks.changed = func(kind listKind) { a.do(func() { a.listChanged(gen, kind) }) }
	a.closing.Go(func() {
		defer cancel()
		out, err := a.env.dialer.dial(ctx, s.entry, s.target, a.log, hooks, scale)
		if !a.box.put(func() { a.dialed(gen, out, err) }) && err == nil {
			out.session.close(errDisconnected)
			out.session.wait(context.Background())
		}
	})
}

// dialed handles the outcome of an attempt.
func (a *actor) dialed(gen uint64, out dialed, err error) {
	if gen != a.gen {
		if err == nil { // nobody wants it any more
			a.end(out.session, errDisconnected)
		}
		return
	}
	a.dialing = nil
	if err != nil {
		a.failed(err)
		return
	}
	a.session, a.http, a.tools, a.skipped = out.session, out.http, out.tools, out.skipped
	a.state, a.err, a.nextTry, a.since = StateConnected, nil, time.Time{}, a.env.now()
	a.listed = a.since
	a.succeeded.Store(false)
	a.listedInPart(gen, out.partial)
	a.log.Note("connected: %s %s, protocol %s, %s", out.session.info.name, out.session.info.version, out.session.info.protocol, text.Count(len(out.tools), "tool"))
	a.closing.Go(func() {
		select {
		case <-out.session.link.Lost():
			reason := out.session.link.Reason()
			a.do(func() { a.lost(gen, reason) })
		case <-out.session.ctx.Done():
		}
	})
	a.publish(true)
	a.answer(nil)
	if out.session.info.prompts {
		a.listChanged(gen, listPrompts)
	}
}

// lost handles the unexpected end of a session.
func (a *actor) lost(gen uint64, reason error) {
	if gen != a.gen || a.state != StateConnected {
		return
	}
	if a.succeeded.Load() || a.env.now().Sub(a.since) >= steadyAfter {
		a.failures, a.scale = 0, 1
	}
	a.single = false
	a.endGeneration(reason)
	a.failed(reason)
}

// failed schedules another attempt after a fault, or gives up.
func (a *actor) failed(err error) {
	a.log.Note("failed: %v", err)
	a.err = err
	a.failures++
	kind := wire.RetryOf(err)
	plan := retryPlan{url: a.spec.entry.Target.Remote(), single: a.single}
	delay, again := plan.next(kind, a.failures)
	a.answer(err)
	if !again {
		a.state, a.nextTry = StateFailed, time.Time{}
		if signIn, ok := errors.AsType[*auth.NeedsSignIn](err); ok && signIn.Why == nil {
			a.state = StateNeedsSignIn
		}
		a.forgetLists()
		a.publish(true)
		return
	}
	if kind == wire.RetryTimeout {
		a.scale = 2
	}
	delay = jitter(delay)
	if status, ok := errors.AsType[*wire.HTTPError](err); ok {
		delay = max(delay, status.After) // not before the time that the server named
	}
	delay = a.env.delay(delay)
	a.state, a.nextTry = StateReconnecting, a.env.now().Add(delay)
	gen := a.gen
	a.timer = time.AfterFunc(delay, func() {
		a.do(func() {
			if gen == a.gen && a.state == StateReconnecting {
				a.nextTry = time.Time{}
				a.try()
			}
		})
	})
	a.publish(false)
}

// answer sends the outcome of the attempt to those who wait for it.
func (a *actor) answer(err error) {
	for _, w := range a.waiters {
		w <- err
	}
	a.waiters = nil
}

// down ends the generation and shows the server as disconnected.
func (a *actor) down(err error) {
	a.endGeneration(errDisconnected)
	a.state, a.err = StateDisconnected, err
	a.forgetLists()
	a.answer(errDisconnected)
	a.publish(true)
}

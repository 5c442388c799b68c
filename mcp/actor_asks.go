package mcp

import (
	"context"
	"time"

	"jcode/mcp/config"
)

// What others ask of an actor. Each of these may be called from any goroutine.

// connect starts towards a spec and returns a channel with the outcome of this attempt:
// nil when connected. Whatever ran before towards another target ends.
func (a *actor) connect(s spec, single bool) <-chan error {
	out := make(chan error, 1)
	if !a.box.put(func() {
		a.spec, a.single = s, single
		a.failures, a.scale = 0, 1
		a.waiters = append(a.waiters, out)
		a.restart()
	}) {
		out <- errDisconnected
	}
	return out
}

// await returns the outcome of the attempt that runs, or of the state as it is; a server
// that is down is tried now.
func (a *actor) await() <-chan error {
	out := make(chan error, 1)
	if !a.box.put(func() {
		switch a.state {
		case StateConnected:
			out <- nil
			return
		case StateReconnecting, StateFailed, StateNeedsSignIn, StateDisconnected:
			a.failures, a.scale = 0, 1
			a.waiters = append(a.waiters, out)
			a.restart()
		default:
			a.waiters = append(a.waiters, out)
		}
	}) {
		out <- errDisconnected
	}
	return out
}

// refresh takes over settings of an entry whose target did not change.
func (a *actor) refresh(e config.Entry) {
	a.do(func() {
		a.spec.entry = e
		a.publish(true)
	})
}

// kick starts the next try now, because a call needs it: at most every 5 s, or every
// 30 s when the server has been given up. It returns the outcome when a try runs.
func (a *actor) kick() <-chan error {
	out := make(chan error, 1)
	if !a.box.put(func() {
		now := a.env.now()
		every := kickEvery
		if a.state == StateFailed {
			every = reviveEvery
		}
		switch {
		case a.state == StateConnected:
			out <- nil
		case a.dialing != nil:
			a.waiters = append(a.waiters, out)
		case now.Sub(a.lastKick) < every:
			out <- a.err
		case a.state == StateReconnecting:
			a.lastKick = now
			a.waiters = append(a.waiters, out)
			a.stopTimers()
			a.nextTry = time.Time{}
			a.try()
		case a.state == StateFailed:
			a.lastKick = now
			a.waiters = append(a.waiters, out)
			a.single = true
			a.restart()
		default:
			out <- a.err
		}
	}) {
		out <- errDisconnected
	}
	return out
}

// renew replaces a session that the server has forgotten. Calls that come together share
// one new session.
func (a *actor) renew(old *session) <-chan error {
	out := make(chan error, 1)
	if !a.box.put(func() {
		if a.session != old && a.session != nil {
			out <- nil
			return
		}
		a.waiters = append(a.waiters, out)
		if a.session == nil && a.dialing != nil {
			return
		}
		tools, skipped, prompts := a.tools, a.skipped, a.prompts
		a.endGeneration(errDisconnected)
		a.tools, a.skipped, a.prompts = tools, skipped, prompts
		a.state, a.single = StateReconnecting, false
		a.try()
		a.publish(false)
	}) {
		out <- errDisconnected
	}
	return out
}

// stop ends what runs, without ending the actor.
func (a *actor) stop(err error) (was State, cancelled int) {
	a.ask(func() {
		was = a.state
		if a.session != nil {
			cancelled = a.session.running()
		}
		a.down(err)
	})
	return was, cancelled
}

// retire is stop for a server that nobody holds any more: its running calls end first,
// in the background.
func (a *actor) retire() {
	a.ask(func() {
		if s := a.session; s != nil && s.running() > 0 {
			a.session = nil
			a.closing.Go(func() {
				s.drained(a.done)
				s.close(errDisconnected)
				s.wait(context.Background())
			})
		}
		a.down(nil)
	})
}

// close ends the actor. wait waits for what it left behind.
func (a *actor) close() {
	a.box.close(func() {
		a.endGeneration(errDisconnected)
		a.answer(errDisconnected)
	})
}

func (a *actor) wait() {
	<-a.done
	a.closing.Wait()
	a.log.Close()
}

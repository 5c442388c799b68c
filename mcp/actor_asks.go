package mcp

import (
	"context"
	"time"

	"jcode/mcp/config"
)

// Requests to an actor; safe for concurrent use.

// outcome queues work that sends its outcome to a channel, now or later, and returns the channel.
func (a *actor) outcome(f func(out chan<- error)) <-chan error {
	out := make(chan error, 1)
	if !a.box.put(func() { f(out) }) {
		out <- errDisconnected
	}
	return out
}

// connect begins to connect to a spec and returns a channel with the outcome of this attempt:
// nil when connected. The connection or attempt before it ends.
func (a *actor) connect(s spec, single bool) <-chan error {
	return a.outcome(func(out chan<- error) {
		a.spec, a.single = s, single
		a.failures, a.scale = 0, 1
		a.waiters = append(a.waiters, out)
		a.restart()
	})
}

// await returns the outcome of the current attempt, or of the current state when there is
// none; a server that is down is tried now.
func (a *actor) await() <-chan error {
	return a.outcome(func(out chan<- error) {
		switch a.state {
		case StateConnected:
			out <- nil
		case StateConnecting:
			a.waiters = append(a.waiters, out)
		default:
			a.failures, a.scale = 0, 1
			a.waiters = append(a.waiters, out)
			a.restart()
		}
	})
}

// refresh applies changed settings of an entry whose target is the same.
func (a *actor) refresh(e config.Entry) {
	a.do(func() {
		a.spec.entry = e
		a.publish(true)
	})
}

// kick starts the next attempt now, because a call needs it: at most every 5 s, or every
// 30 s when no more attempts are scheduled. It returns the outcome when an attempt runs.
func (a *actor) kick() <-chan error {
	return a.outcome(func(out chan<- error) {
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
	})
}

// renew replaces a session that the server no longer knows. Concurrent calls share one new
// session.
func (a *actor) renew(old *session) <-chan error {
	return a.outcome(func(out chan<- error) {
		if a.session != old && a.session != nil {
			out <- nil
			return
		}
		a.waiters = append(a.waiters, out)
		if a.session == nil && a.dialing != nil {
			return
		}
		a.endGeneration(errDisconnected)
		a.state, a.single = StateReconnecting, false
		a.try()
		a.publish(false)
	})
}

// stop ends the connection or attempt, but not the actor.
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

// retire is stop for a server that is no longer leased: it waits for running calls first, in
// the background.
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

// close ends the actor. wait waits for its sessions to end.
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

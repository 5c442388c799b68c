package lua

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jcode/internal/text"
	"jcode/lua/wire"
	"jcode/tools"
)

// job is one piece of work for a host.
type job struct {
	msg wire.Message
	// limit is the script's time; the clock stands still while it waits for a person or
	// for another script.
	limit time.Duration
	// seat answers the script's calls.
	seat *seat
}

// instructionsPerSecond bounds VM instructions by the time limit.
const instructionsPerSecond = 50_000_000

// heapGrowth is how much a script's heap may grow during one piece of work.
const heapGrowth = 128 << 20

// clock counts a script's own time.
type clock struct {
	left    time.Duration
	since   time.Time
	timer   *time.Timer
	running bool
}

func startClock(limit time.Duration) *clock {
	return &clock{left: limit, since: time.Now(), timer: time.NewTimer(limit), running: true}
}

func (c *clock) pause() {
	if c.running {
		c.running = false
		c.left -= time.Since(c.since)
		c.timer.Stop()
	}
}

func (c *clock) resume() {
	if !c.running {
		c.running = true
		c.since = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

// rest is what remains of a running clock.
func (c *clock) rest() time.Duration { return c.left - time.Since(c.since) }

// maxErrorText bounds the text of a script's error.
const maxErrorText = 8 << 10

// failure is how a piece of work failed.
type failure struct {
	kind tools.ErrorKind
	text string
	// broken says that the host was ended.
	broken bool
	// limit says that the script ran into a limit or took its host with it.
	limit bool
}

func (f *failure) Error() string { return f.text }

// do has the host carry out one piece of work, and answers what the script asks
// meanwhile. When it gives a failure that is broken, the host is gone.
func (c *conn) do(ctx context.Context, j job) (*wire.Message, *failure) {
	c.work++
	j.msg.ID = c.work
	if j.msg.Limits == (wire.Limits{}) {
		j.msg.Limits = wire.Limits{Instructions: int64(j.limit.Seconds() * instructionsPerSecond), Heap: heapGrowth}
	}
	w := &working{conn: c, job: j, clock: startClock(j.limit)}
	defer w.clock.timer.Stop()
	if err := c.send(&j.msg); err != nil {
		if errors.Is(err, wire.ErrTooLong) {
			return nil, &failure{kind: tools.KindLimit, text: err.Error()}
		}
		return nil, w.ended()
	}
	stopMemory := c.watchMemory()
	defer stopMemory()
	return w.loop(ctx)
}

// working is one job on its way.
type working struct {
	conn   *conn
	job    job
	clock  *clock
	lastID uint64 // of the script's calls
}

func (w *working) loop(ctx context.Context) (*wire.Message, *failure) {
	for {
		select {
		case m := <-w.conn.inbox:
			done, fail := w.message(ctx, m)
			if done != nil || fail != nil {
				return done, fail
			}
		case <-w.conn.dead:
			return nil, w.ended()
		case <-w.clock.timer.C:
			return nil, w.abort(&failure{
				kind: tools.KindTimeout, limit: true,
				text: fmt.Sprintf("time limit of %s reached; give it less to do, or raise timeout_ms", w.job.limit),
			})
		case <-ctx.Done():
			return nil, w.abort(cancelled(ctx))
		}
	}
}

func cancelled(ctx context.Context) *failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &failure{kind: tools.KindTimeout, text: "the caller's time limit was reached"}
	}
	return &failure{kind: tools.KindCancelled, text: "cancelled"}
}

// message handles one message of the host.
func (w *working) message(ctx context.Context, m *wire.Message) (*wire.Message, *failure) {
	switch m.Type {
	case wire.TypeLog:
		w.job.seat.log(m.Kind, m.Text)
		return nil, nil
	case wire.TypeProgress:
		w.job.seat.showProgress(m.Text)
		return nil, nil
	case wire.TypeCall:
		if m.ID <= w.lastID {
			return nil, w.breach("call id %d was used already", m.ID)
		}
		w.lastID = m.ID
		return nil, w.call(ctx, m)
	case wire.TypeResult, wire.TypeError:
		if m.ID != w.job.msg.ID {
			return nil, w.breach("an answer to work %d while %d is on", m.ID, w.job.msg.ID)
		}
		w.conn.spent = m.Spent
		if m.Type == wire.TypeError {
			return nil, w.scriptFailed(m)
		}
		return m, nil
	}
	return nil, w.breach("unexpected message %.40q", string(m.Type))
}

// call answers one call of the script.
func (w *working) call(ctx context.Context, m *wire.Message) *failure {
	f, ok := wire.Find(m.Name)
	args, isList := m.Value.([]any)
	if !ok || f.Local || f.In&w.job.seat.env == 0 {
		return w.breach("a call of %.60q, which is not offered here", m.Name)
	}
	if !isList && m.Value != nil {
		return w.breach("arguments of %s are no list", f.Name)
	}
	values, err := w.serve(ctx, f, args)
	if breach := (*protocolError)(nil); errors.As(err, &breach) {
		return w.breach("%s", breach.what)
	}
	select {
	case extra := <-w.conn.inbox: // nothing may come while a script waits
		if extra.Type == wire.TypeCall {
			return w.breach("a second call before the reply to %s", f.Name)
		}
		if done, fail := w.message(ctx, extra); done != nil || fail != nil {
			return w.breach("a result before the reply to %s", f.Name)
		}
	default:
	}
	reply := &wire.Message{Type: wire.TypeReply, ID: m.ID, Value: values}
	if err != nil {
		reply.Value, reply.Kind, reply.Text = nil, string(tools.KindScript), err.Error()
	}
	if err := w.conn.send(reply); errors.Is(err, wire.ErrTooLong) {
		return w.sendTooLong(m.ID, f.Name)
	} else if err != nil {
		return w.ended()
	}
	return nil
}

func (w *working) sendTooLong(id uint64, name string) *failure {
	refused := []any{refusal(tools.KindLimit, "the result of %s is too large for a script; ask for less", name)}
	if err := w.conn.send(&wire.Message{Type: wire.TypeReply, ID: id, Value: refused}); err != nil {
		return w.ended()
	}
	return nil
}

// serve runs the handler of one call with the clock paused or bounding it. The handler
// is told when the host dies meanwhile.
func (w *working) serve(ctx context.Context, f wire.Func, args []any) ([]any, error) {
	hctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if f.Pauses {
		w.clock.pause()
		defer w.clock.resume()
		w.job.seat.waits(true)
		defer w.job.seat.waits(false)
	} else {
		var stop context.CancelFunc
		hctx, stop = context.WithTimeout(hctx, max(w.clock.rest(), 0))
		defer stop()
	}
	served := make(chan struct{})
	defer close(served)
	go func() {
		select {
		case <-w.conn.dead:
			cancel()
		case <-served:
		}
	}()
	return w.job.seat.call(hctx, f, args)
}

// breach ends a host that does not keep to the protocol.
func (w *working) breach(format string, args ...any) *failure {
	w.conn.kill()
	return &failure{kind: tools.KindKilled, broken: true, limit: true, text: "protocol error: " + fmt.Sprintf(format, args...) + "; the host was ended"}
}

// ended describes the death of the host.
func (w *working) ended() *failure {
	err := w.conn.diagnose()
	w.conn.kill()
	f := &failure{kind: tools.KindKilled, broken: true, limit: true, text: err.Error()}
	switch breach := (*protocolError)(nil); {
	case errors.Is(err, errOutOfMemory):
		f.text += "; give it smaller input, or build text piece by piece"
	case errors.As(err, &breach):
		f.text += "; the host was ended"
	default:
		f.text += "; try again with less"
	}
	return f
}

// abort asks the host to stop, and ends it when it does not at once.
func (w *working) abort(f *failure) *failure {
	f.broken = true
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	if w.conn.sendWithin(cancelGrace, &wire.Message{Type: wire.TypeCancel, ID: w.job.msg.ID}) == nil {
	wait:
		for {
			select {
			case m := <-w.conn.inbox:
				if m.Type == wire.TypeResult || m.Type == wire.TypeError {
					break wait
				}
				if m.Type == wire.TypeLog {
					w.job.seat.log(m.Kind, m.Text)
				}
			case <-w.conn.dead:
				break wait
			case <-timer.C:
				break wait
			}
		}
	}
	w.conn.kill()
	return f
}

// scriptFailed turns the host's report into a failure with a word on what to do.
func (w *working) scriptFailed(m *wire.Message) *failure {
	f := &failure{kind: tools.ErrorKind(m.Kind), text: text.Cut(m.Text, maxErrorText)}
	switch m.Kind {
	case "limit":
		f.limit = true
		switch m.Text {
		case "instruction limit reached":
			f.text += "; look for a loop that never ends, or raise timeout_ms"
		case "memory limit reached":
			f.text = fmt.Sprintf("memory limit of %d MiB reached; give it smaller input", heapGrowth>>20)
		}
	case "cancelled":
		f.kind = tools.KindCancelled
	case "load_error":
		f.kind = tools.KindLoad
	case "script_error":
		f.kind = tools.KindScript
	default:
		return w.breach("unknown error kind %.40q", m.Kind)
	}
	if w.conn.spent.Tainted {
		f.broken = true
		w.conn.kill()
	}
	return f
}

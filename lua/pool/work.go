package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jcode/internal/text"
	"jcode/lua/wire"
	"jcode/tools"
)

// Job is one piece of work for a host.
type Job struct {
	Msg wire.Message
	// Limit is the script's time, which does not run while it waits for a person or for another
	// script.
	Limit time.Duration
	// Whole says that the limit holds for what the script calls, too; the time in which a person is asked never counts.
	Whole bool
	// Env is the kind of script that the host serves; only its functions may be called.
	Env wire.Env
	// Owner answers the script's calls.
	Owner Owner
}

// Owner is the party on whose behalf a script runs. It answers the script's calls, and is the
// only source of identity: nothing that a host says about itself is trusted.
type Owner interface {
	// Call answers one call. An error raises in the script; a *ProtocolError ends the host.
	Call(ctx context.Context, f wire.Func, args []any) ([]any, error)
	// Log stores a line of the script's log.
	Log(level, text string)
	// Progress shows a line while the script works.
	Progress(text string)
	// Waits is called when the script begins and ends to wait for others.
	Waits(waiting bool)
}

// instructionsPerSecond bounds VM instructions by the time limit.
const instructionsPerSecond = 50_000_000

// HeapGrowth is how much a script's heap may grow during one piece of work.
const HeapGrowth = 128 << 20

// clock measures a script's own time.
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

// rest returns what remains of a running clock.
func (c *clock) rest() time.Duration { return c.left - time.Since(c.since) }

// MaxErrorText bounds the text of a script's error.
const MaxErrorText = 8 << 10

// Failure describes how a piece of work failed.
type Failure struct {
	Kind tools.ErrorKind
	Text string
	// Broken says that the host was ended.
	Broken bool
	// Limit says that the script hit a limit or brought down its host.
	Limit bool
}

// Error is the failure's text.
func (f *Failure) Error() string { return f.Text }

// Do lets the host carry out one piece of work, and answers the script's calls meanwhile. After a failure
// that is Broken the host is gone.
func (c *Conn) Do(ctx context.Context, j Job) (*wire.Message, *Failure) {
	c.work++
	j.Msg.ID = c.work
	if j.Msg.Limits == (wire.Limits{}) {
		j.Msg.Limits = wire.Limits{Instructions: int64(j.Limit.Seconds() * instructionsPerSecond), Heap: HeapGrowth}
	}
	w := &working{conn: c, job: j, clock: startClock(j.Limit)}
	defer w.clock.timer.Stop()
	if err := c.Send(&j.Msg); err != nil {
		if errors.Is(err, wire.ErrTooLong) {
			return nil, &Failure{Kind: tools.KindLimit, Text: err.Error()}
		}
		return nil, w.ended()
	}
	stopMemory := c.watchMemory()
	defer stopMemory()
	return w.loop(ctx)
}

// working is one job in progress.
type working struct {
	conn   *Conn
	job    Job
	clock  *clock
	lastID int64 // of the script's calls
}

func (w *working) loop(ctx context.Context) (*wire.Message, *Failure) {
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
			return nil, w.overtime()
		case <-ctx.Done():
			return nil, w.abort(Cancelled(ctx))
		}
	}
}

// overtime ends work whose time is up.
func (w *working) overtime() *Failure {
	return w.abort(&Failure{
		Kind: tools.KindTimeout, Limit: true,
		Text: fmt.Sprintf("time limit of %s reached; give it less to do, or raise timeout_ms", w.job.Limit),
	})
}

// Cancelled returns the failure of work whose context has ended.
func Cancelled(ctx context.Context) *Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Failure{Kind: tools.KindTimeout, Text: "the caller's time limit was reached"}
	}
	return &Failure{Kind: tools.KindCancelled, Text: "cancelled"}
}

// message handles one message of the host.
func (w *working) message(ctx context.Context, m *wire.Message) (*wire.Message, *Failure) {
	switch m.Type {
	case wire.TypeLog:
		w.job.Owner.Log(m.Kind, m.Text)
		return nil, nil
	case wire.TypeProgress:
		w.job.Owner.Progress(m.Text)
		return nil, nil
	case wire.TypeCall:
		if m.ID <= w.lastID {
			return nil, w.breach("call id %d was used already", m.ID)
		}
		w.lastID = m.ID
		return nil, w.call(ctx, m)
	case wire.TypeResult, wire.TypeError:
		if m.ID != w.job.Msg.ID {
			return nil, w.breach("an answer to work %d while %d is on", m.ID, w.job.Msg.ID)
		}
		w.conn.Spent = m.Spent
		if m.Type == wire.TypeError {
			return nil, w.scriptFailed(m)
		}
		return m, nil
	}
	return nil, w.breach("unexpected message %.40q", string(m.Type))
}

// call answers one call of the script.
func (w *working) call(ctx context.Context, m *wire.Message) *Failure {
	f, ok := wire.Find(m.Name)
	args, isList := m.Value.([]any)
	if !ok || f.Local || f.In&w.job.Env == 0 {
		return w.breach("a call of %.60q, which is not offered here", m.Name)
	}
	if !isList && m.Value != nil {
		return w.breach("arguments of %s are not a list", f.Name)
	}
	values, err := w.serve(ctx, f, args)
	if breach := (*ProtocolError)(nil); errors.As(err, &breach) {
		return w.breach("%s", breach.What)
	}
	if w.job.Whole && f.Pauses && w.clock.rest() <= 0 && ctx.Err() == nil {
		return w.overtime()
	}
	select {
	case extra := <-w.conn.inbox: // a host must not send anything while its script waits
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
	if err := w.conn.Send(reply); errors.Is(err, wire.ErrTooLong) {
		return w.sendTooLong(m.ID, f.Name)
	} else if err != nil {
		return w.ended()
	}
	return nil
}

func (w *working) sendTooLong(id int64, name string) *Failure {
	refused := []any{wire.NewObject("ok", false, "error", "the result of "+name+" is too large for a script; ask for less", "error_kind", string(tools.KindLimit))}
	if err := w.conn.Send(&wire.Message{Type: wire.TypeReply, ID: id, Value: refused}); err != nil {
		return w.ended()
	}
	return nil
}

// serve runs the handler of one call, with the clock paused or bounding it. The handler's context
// ends when the host dies meanwhile.
func (w *working) serve(ctx context.Context, f wire.Func, args []any) ([]any, error) {
	hctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if f.Pauses {
		w.clock.pause()
		defer w.clock.resume()
		if w.job.Whole {
			bounded, stop := tools.WithLimit(hctx, max(w.clock.left, 0))
			hctx = bounded
			defer func() {
				w.clock.left = tools.Left(bounded)
				stop()
			}()
		}
		w.job.Owner.Waits(true)
		defer w.job.Owner.Waits(false)
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
	return w.job.Owner.Call(hctx, f, args)
}

// breach ends a host that violates the protocol.
func (w *working) breach(format string, args ...any) *Failure {
	w.conn.Kill()
	return &Failure{Kind: tools.KindKilled, Broken: true, Limit: true, Text: "protocol error: " + fmt.Sprintf(format, args...) + "; the host was ended"}
}

// ended returns the failure of work whose host has ended.
func (w *working) ended() *Failure {
	err := w.conn.diagnose()
	w.conn.Kill()
	f := &Failure{Kind: tools.KindKilled, Broken: true, Limit: true, Text: err.Error()}
	switch breach := (*ProtocolError)(nil); {
	case errors.Is(err, errOutOfMemory):
		f.Text += "; give it smaller input, or build text piece by piece"
	case errors.As(err, &breach):
		f.Text += "; the host was ended"
	default:
		f.Text += "; try again with less"
	}
	return f
}

// abort asks the host to stop, and kills it if it does not do so at once.
func (w *working) abort(f *Failure) *Failure {
	f.Broken = true
	timer := time.NewTimer(CancelGrace)
	defer timer.Stop()
	if w.conn.sendWithin(CancelGrace, &wire.Message{Type: wire.TypeCancel, ID: w.job.Msg.ID}) == nil {
	wait:
		for {
			select {
			case m := <-w.conn.inbox:
				if m.Type == wire.TypeResult || m.Type == wire.TypeError {
					break wait
				}
				if m.Type == wire.TypeLog {
					w.job.Owner.Log(m.Kind, m.Text)
				}
			case <-w.conn.dead:
				break wait
			case <-timer.C:
				break wait
			}
		}
	}
	w.conn.Kill()
	return f
}

// scriptFailed turns the host's report into a failure with advice on what to do.
func (w *working) scriptFailed(m *wire.Message) *Failure {
	f := &Failure{Kind: tools.ErrorKind(m.Kind), Text: text.Cut(m.Text, MaxErrorText)}
	switch m.Kind {
	case "limit":
		f.Limit = true
		switch m.Text {
		case "instruction limit reached":
			f.Text += "; look for a loop that never ends, or raise timeout_ms"
		case "memory limit reached":
			f.Text = fmt.Sprintf("memory limit of %d MiB reached; give it smaller input", HeapGrowth>>20)
		}
	case "cancelled":
		f.Kind = tools.KindCancelled
	case "load_error":
		f.Kind = tools.KindLoad
	case "script_error":
		f.Kind = tools.KindScript
	default:
		return w.breach("unknown error kind %.40q", m.Kind)
	}
	if w.conn.Spent.Tainted {
		f.Broken = true
		w.conn.Kill()
	}
	return f
}

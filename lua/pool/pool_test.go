package pool_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jcode/internal/testkit/leaks"
	"jcode/lua/host"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// hosts starts hosts in this process and counts them.
type hosts struct {
	started atomic.Int64
	wg      sync.WaitGroup
}

func (h *hosts) start(ctx context.Context, _ bool) (*pool.Conn, error) {
	h.started.Add(1)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	h.wg.Go(func() { _ = outW.CloseWithError(host.Serve(inR, outW, nil)) })
	c := pool.NewConn(inW, outR)
	return c, c.Greet(ctx)
}

// owner answers the calls of a script.
type owner struct {
	call  func(f wire.Func, args []any) ([]any, error)
	lines []string
	waits int
}

func (o *owner) Call(_ context.Context, f wire.Func, args []any) ([]any, error) {
	return o.call(f, args)
}
func (o *owner) Log(_, text string)   { o.lines = append(o.lines, text) }
func (o *owner) Progress(text string) { o.lines = append(o.lines, text) }
func (o *owner) Waits(waiting bool) {
	if waiting {
		o.waits++
	}
}

func run(source string, o *owner) pool.Job {
	return pool.Job{Msg: wire.Message{Type: wire.TypeRun, Name: "t.lua", Text: source}, Limit: 30 * time.Second, Env: wire.EnvTool, Owner: o}
}

func open(t *testing.T) (*pool.Pool, *hosts) {
	t.Helper()
	h := &hosts{}
	p := pool.NewPool(h.start, time.Hour)
	t.Cleanup(func() { p.Close(); h.wg.Wait() })
	return p, h
}

func TestAHostServesOneCallAfterAnother(t *testing.T) {
	p, h := open(t)
	o := &owner{call: func(f wire.Func, args []any) ([]any, error) { return []any{f.Name + fmt.Sprint(args[0])}, nil }}
	for i := range 20 {
		if err := p.Enter(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		c, err := p.Take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		msg, fail := c.Do(t.Context(), run(fmt.Sprintf("print('line') return state.get('%d')", i), o))
		if fail != nil || fmt.Sprint(msg.Value) != fmt.Sprintf("[state.get%d]", i) {
			t.Fatalf("%+v %v", msg, fail)
		}
		p.Put(c)
		p.Leave()
	}
	if n := h.started.Load(); n > 3 {
		t.Errorf("%d hosts for 20 calls, one after another", n)
	}
	if len(o.lines) != 20 || !strings.Contains(o.lines[0], "line") {
		t.Errorf("%q", o.lines)
	}
}

func TestACallWaitsForAPlaceAndANestedOneDoesNot(t *testing.T) {
	p, _ := open(t)
	places := 0
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for ; p.Enter(ctx, false) == nil; places++ {
	}
	if places < 2 || places > 8 {
		t.Errorf("%d places", places)
	}
	if err := p.Enter(t.Context(), true); err != nil {
		t.Error(err)
	}
	entered := make(chan error, 1)
	go func() { entered <- p.Enter(t.Context(), false) }()
	p.Leave()
	p.Leave()
	select {
	case err := <-entered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the place that became free was not taken")
	}
}

func TestAHostThatAsksForMoreThanItsKindHasIsEnded(t *testing.T) {
	p, _ := open(t)
	c, err := p.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	o := &owner{call: func(wire.Func, []any) ([]any, error) { return nil, &pool.ProtocolError{What: "no such thing"} }}
	_, fail := c.Do(t.Context(), run(`return state.get("x")`, o))
	if fail == nil || !fail.Broken || fail.Kind != tools.KindKilled || !strings.Contains(fail.Text, "protocol error: no such thing") {
		t.Errorf("%+v", fail)
	}
	if _, fail = c.Do(t.Context(), run("return 1", o)); fail == nil {
		t.Error("a host that was ended still serves")
	}
}

func TestAClosedPoolGivesNoHost(t *testing.T) {
	p, _ := open(t)
	p.Close()
	if _, err := p.Take(t.Context()); err == nil {
		t.Error("a host of a closed pool")
	}
}

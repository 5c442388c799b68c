package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/metrics"

	lua "github.com/yuin/gopher-lua"

	"jcode/internal/text"
	"jcode/lua/wire"
)

// maxWaiting is how many pieces of work may wait.
const maxWaiting = 64

// server is the host process: one goroutine reads and sorts messages, another runs Lua and
// writes all messages.
type server struct {
	peer     *peer
	work     chan *wire.Message
	meter    *meter
	patterns patterns
	protos   map[chunk]*lua.FunctionProto
	place    place
	script   *script // lives as long as the process: plugin, startup script
	// exit ends the process as soon as the other side is gone, even while a script runs; nil if the
	// host shares a process.
	exit func(code int)
	// extra globals exist only in tests of the isolation.
	extra map[string]lua.LGFunction
}

// chunk names a compiled text: its name is in its errors.
type chunk struct{ name, hash string }

// place is where scripts of this process run, and for whom.
type place struct {
	env   wire.Env
	pwd   string
	owner string
}

// Serve speaks the protocol over in and out until in ends. layers are the protections
// that hold for this process; they are reported.
func Serve(in io.Reader, out io.Writer, layers []string) error {
	return serve(in, out, layers, nil, nil)
}

func serve(in io.Reader, out io.Writer, layers []string, exit func(int), extra map[string]lua.LGFunction) error {
	m := newMeter()
	srv := &server{
		peer: newPeer(out, m), work: make(chan *wire.Message, maxWaiting), meter: m, patterns: patterns{},
		protos: map[chunk]*lua.FunctionProto{}, place: place{env: wire.EnvTool}, exit: exit, extra: extra,
	}
	srv.peer.send(&wire.Message{Type: wire.TypeReady, N: wire.Version, Value: layers})
	failed := make(chan error, 1)
	go func() { failed <- srv.read(in) }()
	for m := range srv.work {
		srv.handle(m)
		if srv.peer.writeErr != nil {
			return srv.peer.writeErr
		}
	}
	if srv.script != nil {
		srv.script.Close()
	}
	return <-failed
}

// read sorts incoming messages until the pipe ends.
func (srv *server) read(in io.Reader) error {
	defer close(srv.work)
	for {
		m, err := wire.Read(in)
		if err != nil {
			srv.peer.cancel() // the result is no longer wanted
			if srv.exit != nil && errors.Is(err, io.EOF) {
				srv.exit(0)
			}
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return err
		}
		switch m.Type {
		case wire.TypeReply:
			select {
			case srv.peer.replies <- m:
			case <-srv.peer.stop:
			}
		case wire.TypeCancel:
			srv.peer.cancel()
		default:
			srv.work <- m
		}
	}
}

// handle does one piece of work and reports how it ended.
func (srv *server) handle(m *wire.Message) {
	srv.meter.reset(m.Limits)
	if srv.script != nil {
		srv.script.out = output{}
	}
	v, err := srv.do(m)
	if m.Type == wire.TypeInit && err == nil {
		return
	}
	answer := &wire.Message{Type: wire.TypeResult, ID: m.ID, Value: v}
	if err != nil {
		answer = srv.failure(m.ID, err)
	}
	answer.Spent = srv.spent()
	if err := wire.Write(srv.peer.out, answer); errors.Is(err, wire.ErrTooLong) {
		answer = srv.failure(m.ID, fmt.Errorf("the result is too large: %w", err))
		answer.Spent = srv.spent()
		srv.peer.send(answer)
	} else if err != nil {
		srv.peer.writeErr = err
	}
}

func (srv *server) do(m *wire.Message) (any, error) {
	switch m.Type {
	case wire.TypeInit:
		return nil, srv.init(m)
	case wire.TypeCompile:
		_, err := compile(m.Name, m.Text)
		return nil, err
	case wire.TypeRun:
		return srv.run(m)
	case wire.TypeLoad:
		return srv.load(m)
	}
	if srv.script == nil {
		return nil, fmt.Errorf("nothing is loaded")
	}
	switch m.Type {
	case wire.TypeStart:
		return srv.script.start()
	case wire.TypeRequest:
		return srv.script.serve(m.Name, m.Text, m.Value)
	case wire.TypeEvent:
		return srv.script.event(m.Name, m.N, m.Value)
	case wire.TypeCommand:
		return srv.script.command(m.Name, m.Text)
	case wire.TypeShutdown:
		return srv.script.shutdown()
	}
	return nil, fmt.Errorf("unknown message type %q", m.Type)
}

func (srv *server) init(m *wire.Message) error {
	env, ok := wire.ParseEnv(m.Name)
	if !ok {
		return fmt.Errorf("unknown environment %q", m.Name)
	}
	o, _ := m.Value.(*wire.Object)
	srv.place = place{env: env, pwd: o.String("pwd"), owner: o.String("owner")}
	return nil
}

// run runs a chunk in a fresh state.
func (srv *server) run(m *wire.Message) (any, error) {
	key := chunk{m.Name, m.Hash}
	proto := srv.protos[key]
	if proto == nil {
		var err error
		if proto, err = compile(m.Name, m.Text); err != nil {
			return nil, err
		}
		if m.Hash != "" {
			srv.protos[key] = proto
		}
	}
	s := newScript(srv.place, srv.meter, srv.peer, srv.patterns, srv.extra)
	defer s.Close()
	params, _ := m.Value.(*wire.Object)
	v, err := s.runTool(proto, params)
	if srv.place.env == wire.EnvEval && err == nil {
		v = wire.NewObject("output", s.out.captured.String(), "result", v)
	}
	return v, err
}

// load starts the one script of this process.
func (srv *server) load(m *wire.Message) (any, error) {
	if srv.script != nil {
		return nil, fmt.Errorf("a script is loaded already")
	}
	proto, err := compile(m.Name, m.Text)
	if err != nil {
		return nil, err
	}
	s := newScript(srv.place, srv.meter, srv.peer, srv.patterns, srv.extra)
	srv.script = s
	s.modules, _ = m.Value.(*wire.Object)
	return s.load(proto, m.Name)
}

// failure describes how work failed. The meter knows which limit it was; the text of the error does not.
func (srv *server) failure(id int64, err error) *wire.Message {
	m := &wire.Message{Type: wire.TypeError, ID: id, Kind: "script_error", Text: text.Headline(err.Error())}
	var load *loadError
	var script *scriptError
	switch stopped := srv.meter.stopped; {
	case stopped != nil:
		m.Kind, m.Text = "limit", stopped.Error()
		if errors.Is(stopped, errCancelled) {
			m.Kind = "cancelled"
		}
		srv.meter.tainted = true
	case srv.peer.stopped.Load():
		m.Kind, m.Text = "cancelled", errCancelled.Error()
	case errors.As(err, &load):
		m.Kind, m.N = "load_error", int64(load.line)
	case errors.As(err, &script) && script.trace != "":
		srv.peer.send(&wire.Message{Type: wire.TypeLog, Kind: "debug", Text: script.text + "\n" + script.trace})
	}
	return m
}

func (srv *server) spent() wire.Spent {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return wire.Spent{
		CPU:     cpuMillis(),
		Memory:  int64(sample[0].Value.Uint64() - sample[1].Value.Uint64()),
		Tainted: srv.meter.tainted || srv.peer.stopped.Load(),
	}
}

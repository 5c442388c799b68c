package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/internal/proc"
	"jcode/internal/system"
	"jcode/lua/wire"
)

// Time limits of a host.
const (
	readyLimit  = 10 * time.Second       // from start to the ready message
	CancelGrace = 100 * time.Millisecond // from cancel to SIGKILL
	closeGrace  = 500 * time.Millisecond // from the closed pipe to SIGKILL
)

// maxStderr is how much of a host's standard error is kept for diagnosis.
const maxStderr = 64 << 10

// Conn is one host and its pipes. One goroutine at a time owns it; another reads the pipe and fills inbox.
type Conn struct {
	out    io.WriteCloser
	inbox  chan *wire.Message
	dead   chan struct{} // closed when no more messages can arrive
	fault  error         // a violation of the protocol that ended it, written before dead is closed
	stop   chan struct{} // closed by kill and close: the reader ends
	stopIt sync.Once
	Layers []string
	Pid    int
	// KillProcess ends the process at once; Exited is closed once it is reaped.
	KillProcess func()
	Exited      <-chan struct{}
	peak        func() int64 // peak memory in bytes once exited, 0 if unknown
	stderr      *head
	// memoryKill says that the host was killed because of its memory use.
	memoryKill atomic.Bool

	Env     wire.Env // of the last init
	served  int
	Hashes  map[string]bool // chunk names and sources that the host has compiled
	Spent   wire.Spent
	work    int64
	lastUse time.Time
}

// Starter starts a host; long marks one that lives with its plugin.
type Starter func(ctx context.Context, long bool) (*Conn, error)

// StartProcess starts this program as a host.
func StartProcess(ctx context.Context, long bool) (*Conn, error) {
	exe, err := system.Executable()
	if err != nil {
		return nil, fmt.Errorf("start Lua host: %w", err)
	}
	argv := []string{exe, "lua-host"}
	if long {
		argv = append(argv, "long")
	}
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	var p *proc.Process
	if err = errors.Join(err1, err2, err3); err == nil {
		p, err = proc.Start(proc.Spec{Argv: argv, Dir: rootFolder(), Env: hostEnv(), Stdin: inR, Stdout: outW, Stderr: errW})
	}
	if err == nil {
		files = []*os.File{inR, outW, errW} // the child has its own copies
	}
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("start Lua host: %w", err)
	}
	c := NewConn(inW, outR)
	c.Pid = p.Pid()
	c.Exited = p.Done()
	c.KillProcess = func() { _ = p.Kill() }
	c.peak = func() int64 { return p.Exit().Peak }
	go c.stderr.fill(errR)
	if err := c.Greet(ctx); err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

// hostEnv returns the environment of a host: no keys, no home, no path.
func hostEnv() []string {
	env := []string{"GOMEMLIMIT=256MiB", "GOMAXPROCS=2", "GOTRACEBACK=none"}
	for _, name := range append([]string{"LANG", "TZ"}, neededVariables()...) {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// NewConn returns a host with its two pipes; Greet waits until it is ready.
func NewConn(out io.WriteCloser, in io.ReadCloser) *Conn {
	exited := make(chan struct{})
	close(exited)
	c := &Conn{
		out: out, inbox: make(chan *wire.Message), dead: make(chan struct{}), stop: make(chan struct{}),
		KillProcess: func() {}, Exited: exited, peak: func() int64 { return 0 }, stderr: newHead(), Hashes: map[string]bool{}, lastUse: time.Now(),
	}
	go c.read(in)
	return c
}

// read delivers the host's messages until the pipe or the host ends.
func (c *Conn) read(in io.ReadCloser) {
	defer func() { _ = in.Close() }() // read only
	defer close(c.dead)
	quit := make(chan struct{})
	defer close(quit)
	go func() { // end a reader that is blocked inside a frame when the host is ended
		select {
		case <-c.stop:
			_ = in.Close()
		case <-quit:
		}
	}()
	for {
		m, err := wire.Read(in)
		if err != nil {
			if errors.Is(err, wire.ErrFrame) {
				c.fault = &ProtocolError{What: err.Error()}
			}
			return
		}
		select {
		case c.inbox <- m:
		case <-c.stop:
			return
		}
	}
}

// Greet waits for the ready message.
func (c *Conn) Greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	select {
	case m := <-c.inbox:
		if m.Type != wire.TypeReady {
			return &ProtocolError{What: fmt.Sprintf("%q instead of ready", m.Type)}
		}
		if m.N != wire.Version {
			return fmt.Errorf("the Lua host speaks protocol %d, this jcode %d: restart jcode", m.N, wire.Version)
		}
		list, _ := m.Value.([]any)
		for _, l := range list {
			if s, ok := l.(string); ok {
				c.Layers = append(c.Layers, s)
			}
		}
		return nil
	case <-c.dead:
		return fmt.Errorf("the Lua host did not start: %w", c.diagnose())
	case <-ctx.Done():
		return fmt.Errorf("the Lua host did not start: %w", ctx.Err())
	}
}

// sendLimit bounds a write to a host that does not read.
const sendLimit = 2 * time.Second

// Send writes a message to the host.
func (c *Conn) Send(m *wire.Message) error { return c.sendWithin(sendLimit, m) }

func (c *Conn) sendWithin(limit time.Duration, m *wire.Message) error {
	if f, ok := c.out.(*os.File); ok {
		_ = f.SetWriteDeadline(time.Now().Add(limit)) // where pipes have none, the deadline of the work remains
	}
	return wire.Write(c.out, m)
}

// Kill ends the host at once and waits until it is reaped.
func (c *Conn) Kill() {
	c.stopIt.Do(func() { close(c.stop) })
	c.KillProcess()
	_ = c.out.Close()
	<-c.Exited
	<-c.dead
}

// Close lets an idle host end by itself, and kills it after closeGrace.
func (c *Conn) Close() {
	_ = c.out.Close()
	timer := time.NewTimer(closeGrace)
	defer timer.Stop()
	select {
	case <-c.Exited:
	case <-timer.C:
		c.KillProcess()
	}
	<-c.Exited
	c.stopIt.Do(func() { close(c.stop) })
	<-c.dead
}

// ProtocolError is a violation of the protocol by a host, which is then ended.
type ProtocolError struct{ What string }

// Error describes the violation.
func (e *ProtocolError) Error() string { return "protocol error: " + e.What }

// diagnose returns why a host ended, judging by its standard error or its memory.
func (c *Conn) diagnose() error {
	select {
	case <-c.Exited:
	case <-time.After(closeGrace):
		c.KillProcess()
		<-c.Exited
	}
	if c.fault != nil {
		return c.fault
	}
	if c.memoryKill.Load() {
		return errOutOfMemory
	}
	text := c.stderr.whole(closeGrace)
	if strings.Contains(text, "out of memory") || strings.Contains(text, "cannot allocate memory") || strings.Contains(text, "cannot reserve") {
		return errOutOfMemory
	}
	if c.peak() >= limitData/2 {
		return errOutOfMemory
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return &endedError{line: line}
		}
	}
	return &endedError{line: "no message"}
}

// limitData is the memory limit that a host sets itself.
const limitData = 512 << 20

var errOutOfMemory = errors.New("out of memory, the host was ended")

type endedError struct{ line string }

func (e *endedError) Error() string { return "the host ended unexpectedly: " + e.line }

// head keeps the first bytes of a stream.
type head struct {
	mu   sync.Mutex
	buf  []byte
	done chan struct{}
}

func newHead() *head { return &head{done: make(chan struct{})} }

func (h *head) fill(r io.ReadCloser) {
	defer close(h.done)
	defer func() { _ = r.Close() }() // read only
	chunk := make([]byte, 4096)
	for {
		n, err := r.Read(chunk)
		h.mu.Lock()
		h.buf = append(h.buf, chunk[:min(n, maxStderr-len(h.buf))]...)
		h.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// whole returns what was kept once the stream has ended, or what there is after limit.
func (h *head) whole(limit time.Duration) string {
	select {
	case <-h.done:
	case <-time.After(limit):
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.buf)
}

// Probe starts a host and returns the protections that are in force for it.
func Probe(ctx context.Context) (layers []string, err error) {
	c, err := StartProcess(ctx, false)
	if err != nil {
		return nil, err
	}
	c.Close()
	return c.Layers, nil
}

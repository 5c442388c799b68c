package host

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

// TestMain turns this binary into a host when a test starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(mainWith(probes()))
	}
	os.Exit(m.Run())
}

// client is the other side of the pipes in a test.
type client struct {
	t     *testing.T
	in    io.WriteCloser
	out   io.Reader
	cmd   *exec.Cmd
	errs  *strings.Builder
	id    int64
	hello *wire.Message
	logs  []string
	// answer returns the reply to a call of the script.
	answer func(name string, args []any) []any
}

// memory starts a host in this process.
func memory(t *testing.T, extra map[string]lua.LGFunction) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = serve(inR, outW, nil, nil, extra)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		_, _ = io.Copy(io.Discard, outR)
		<-done
	})
	return (&client{t: t, in: inW, out: outR}).greet()
}

// process starts a host as a separate process, as jcode does.
func process(t *testing.T) *client {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, cmd: exec.Command(exe, Command), errs: &strings.Builder{}}
	c.cmd.Env = []string{"GOMEMLIMIT=256MiB", "GOMAXPROCS=2", "GOTRACEBACK=none", "TZ=UTC"}
	c.cmd.Dir = "/"
	c.cmd.Stderr = c.errs
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.in.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
	return c.greet()
}

func (c *client) greet() *client {
	m, err := wire.Read(c.out)
	if err != nil || m.Type != wire.TypeReady {
		c.t.Fatalf("no ready message: %v %+v", err, m)
	}
	c.hello = m
	return c
}

func (c *client) env(e wire.Env) *client {
	c.send(&wire.Message{Type: wire.TypeInit, Name: e.String(), Value: wire.NewObject("pwd", "/project", "owner", "test")})
	return c
}

func (c *client) send(m *wire.Message) {
	if err := wire.Write(c.in, m); err != nil {
		c.t.Logf("send: %v", err)
	}
}

// work sends one piece of work and serves the script's calls until it ends.
func (c *client) work(m *wire.Message) (*wire.Message, error) {
	c.id++
	m.ID = c.id
	c.send(m)
	for {
		got, err := wire.Read(c.out)
		if err != nil {
			return nil, err
		}
		switch got.Type {
		case wire.TypeCall:
			var values []any
			if c.answer != nil {
				args, _ := got.Value.([]any)
				values = c.answer(got.Name, args)
			}
			c.send(&wire.Message{Type: wire.TypeReply, ID: got.ID, Value: values})
		case wire.TypeLog:
			c.logs = append(c.logs, got.Kind+": "+got.Text)
		case wire.TypeProgress:
		default:
			return got, nil
		}
	}
}

func (c *client) run(source string, params ...any) (*wire.Message, error) {
	return c.work(&wire.Message{
		Type: wire.TypeRun, Name: "test/main.lua", Text: source, Value: wire.NewObject(params...),
		Limits: wire.Limits{Instructions: 50_000_000, Heap: 128 << 20},
	})
}

// value runs a script that must succeed and returns its first result.
func (c *client) value(source string, params ...any) any {
	c.t.Helper()
	m, err := c.run(source, params...)
	if err != nil {
		c.t.Fatalf("%s: %v", source, err)
	}
	if m.Type == wire.TypeError {
		c.t.Fatalf("%s: %s: %s", source, m.Kind, m.Text)
	}
	list, _ := m.Value.([]any)
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// fails runs a script that must fail and returns how.
func (c *client) fails(source string) *wire.Message {
	c.t.Helper()
	m, err := c.run(source)
	if err != nil {
		c.t.Fatalf("%s: %v", source, err)
	}
	if m.Type != wire.TypeError {
		c.t.Fatalf("%.200s: returned %v, want an error", source, m.Value)
	}
	return m
}

func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("not done after %v", limit)
	}
}

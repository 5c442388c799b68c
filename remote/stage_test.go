package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"jcode/agent/event"
	"jcode/remote"
	"jcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

// conversation is a session without a model: what the protocol asks of one, and a list of what was done.
type conversation struct {
	*event.Broker
	mu      sync.Mutex
	state   event.State
	history []event.Event
	did     []string
	waiting map[string]bool
}

func (c *conversation) do(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, fmt.Sprintf(format, args...))
}

func (c *conversation) done() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.did...)
}

func (c *conversation) State() event.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *conversation) Prompt(p event.Prompt) string {
	said := "prompt " + p.Text
	for _, i := range p.Images {
		said += " [" + i.MIME + "] shown " + p.Shown
	}
	c.do("%s", said)
	return "q1"
}

func (c *conversation) Unqueue(id string) []event.Prompt {
	c.do("unqueue %s", id)
	return []event.Prompt{{}}
}
func (c *conversation) Interrupt() bool { c.do("interrupt"); return true }

func (c *conversation) SetMode(m tools.Mode) {
	c.mu.Lock()
	c.state.Mode = m
	st := c.state
	c.mu.Unlock()
	c.Emit(event.StateChanged{State: st})
}
func (c *conversation) SetModel(name string) error { c.do("model %s", name); return nil }
func (c *conversation) Notify(level event.Level, format string, args ...any) {
	c.Emit(event.Notice{Level: level, Text: fmt.Sprintf(format, args...)})
}

// open makes a question one that waits.
func (c *conversation) open(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting[id] = true
}

// ask puts a question with the three usual options.
func (c *conversation) ask(id string) {
	c.open(id)
	c.Emit(event.ApprovalAsked{ID: id, Question: tools.Question{Title: "Run a command", Options: []tools.AnswerOption{
		{Scope: tools.AnswerOnce, Label: "once"}, {Scope: tools.AnswerProject, Label: "always"}, {Scope: tools.AnswerNo, Label: "no"},
	}}})
}

// answers settles questions for somebody.
type answers struct {
	c  *conversation
	by string
}

func (a answers) settle(id, what string, closed event.Event) error {
	a.c.mu.Lock()
	open := a.c.waiting[id]
	delete(a.c.waiting, id)
	a.c.mu.Unlock()
	if !open {
		return errors.New("this question is closed")
	}
	a.c.do("%s: %s", a.by, what)
	a.c.Emit(closed)
	return nil
}

func (a answers) Answer(id string, answer tools.Answer) error {
	what := string(answer.Scope)
	if answer.Hunks != nil {
		what = fmt.Sprint(what, " ", answer.Hunks)
	}
	return a.settle(id, what, event.ApprovalClosed{ID: id, By: a.by})
}

func (a answers) Reply(id, text string) error {
	return a.settle(id, "reply "+text, event.AskClosed{ID: id, By: a.by})
}

func (a answers) Fill(id string, answer tools.FormAnswer) error {
	return a.settle(id, fmt.Sprint("fill ", answer.Action, answer.Values), event.AskClosed{ID: id, By: a.by})
}

// stage is a server with one session.
type stage struct {
	t      *testing.T
	place  remote.Place
	socket string
	conv   *conversation
	server *remote.Server
	token  string
}

func newStage(t *testing.T, change ...func(*remote.Offer)) *stage {
	t.Helper()
	s := &stage{t: t, place: remote.Place{Dir: filepath.Join(t.TempDir(), "run")}}
	s.conv = &conversation{Broker: event.NewBroker(), waiting: map[string]bool{}, state: event.State{Session: "s1", Mode: tools.ModeEdits, Model: "m"}}
	var err error
	if s.token, err = s.place.Token(); err != nil {
		t.Fatal(err)
	}
	l, err := s.place.Listen()
	if err != nil {
		t.Fatal(err)
	}
	s.socket = l.Addr().String()
	s.server = remote.NewServer(remote.Options{Token: s.token, Jcode: "test", Pid: os.Getpid(), Admit: remote.Admit(func(int) bool { return false })})
	offer := remote.Offer{
		Conversation: s.conv, From: func(name string) remote.Answers { return answers{s.conv, name} },
		History: func(context.Context, int64, int) ([]event.Event, int64, error) {
			return s.conv.history, 0, nil
		},
	}
	for _, f := range change {
		f(&offer)
	}
	s.server.Offer(offer)
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(l) }()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		<-served
		s.server.Close()
		s.conv.Close()
		if left, _ := filepath.Glob(filepath.Join(s.place.Dir, "*.json")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
	return s
}

// line is what a client reads of an event.
type line struct {
	Type   string
	N, To  uint64
	Delta  string
	ID, By string
}

// client is a connection that follows s1.
type client struct {
	*remote.Client
	t     *testing.T
	nc    net.Conn
	lines chan line
	ended chan remote.Ended
	// stopped is closed when the connection has ended.
	stopped chan struct{}
}

func (s *stage) connect(name string) *client {
	s.t.Helper()
	nc, err := net.Dial("unix", s.socket)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &client{t: s.t, nc: nc, lines: make(chan line, 100_000), ended: make(chan remote.Ended, 1), stopped: make(chan struct{})}
	c.Client, err = remote.Connect(s.t.Context(), nc, remote.Hello{Token: s.token, Name: name}, remote.Handlers{
		Event: func(ev remote.Event) {
			var l line
			if err := json.Unmarshal(ev.Event, &l); err != nil {
				s.t.Errorf("%s: %v", ev.Event, err)
			}
			c.lines <- l
		},
		Ended:   func(e remote.Ended) { c.ended <- e },
		Stopped: func(error) { close(c.stopped) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

func (c *client) attach(role remote.Role, after *uint64) remote.Attached {
	c.t.Helper()
	var out remote.Attached
	if err := c.Call(c.t.Context(), "attach", remote.Attach{Session: "s1", Role: role, After: after}, &out); err != nil {
		c.t.Fatal(err)
	}
	return out
}

// until reads lines to the first of a type.
func (c *client) until(kind string) (out []line) {
	c.t.Helper()
	for {
		select {
		case l := <-c.lines:
			out = append(out, l)
			if l.Type == kind {
				return out
			}
		case <-time.After(patience):
			c.t.Fatalf("no %s after %v", kind, out)
		}
	}
}

// refusal calls a method that must fail, and returns the words.
func (c *client) refusal(method string, params any) string {
	c.t.Helper()
	err := c.Call(c.t.Context(), method, params, nil)
	if err == nil {
		c.t.Errorf("%s %+v was done", method, params)
		return ""
	}
	return err.Error()
}

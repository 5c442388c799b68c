//go:build linux || darwin

package tui

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/testkit/terminal"
	"jcode/tools"
)

// limit is how long a test waits for the screen. Only a failing test waits that long.
const limit = time.Minute

// fake is a conversation that a test controls.
type fake struct {
	mu       sync.Mutex
	state    event.State
	prompts  []event.Prompt
	queued   []event.Prompt
	answers  map[string]tools.Answer
	replies  map[string]string
	filled   map[string]tools.FormAnswer
	stopped  int
	blind    bool // the model does not accept pictures
	events   chan event.Event
	onPrompt func(p event.Prompt)
	compact  string
	values   []string
	slowRole chan struct{} // SetRole waits for it
}

func newFake() *fake {
	return &fake{
		state:   event.State{Session: "s1", Model: "test/model", Mode: tools.ModeAsk, Cwd: "/code/project"},
		answers: map[string]tools.Answer{}, replies: map[string]string{}, filled: map[string]tools.FormAnswer{}, events: make(chan event.Event, 10000),
	}
}

func (f *fake) emit(evs ...event.Event) {
	for _, ev := range evs {
		f.events <- ev
	}
}

func (f *fake) Next(ctx context.Context) (event.Event, bool) {
	select {
	case ev := <-f.events:
		return ev, true
	case <-ctx.Done():
		return nil, false
	}
}

func (f *fake) Drain() []event.Event {
	var out []event.Event
	for {
		select {
		case ev := <-f.events:
			out = append(out, ev)
		default:
			return out
		}
	}
}

func (f *fake) Close() {}

func (f *fake) Prompt(p event.Prompt) string {
	f.mu.Lock()
	f.prompts = append(f.prompts, p)
	busy := f.state.Busy
	if busy {
		f.queued = append(f.queued, p)
	}
	on := f.onPrompt
	f.mu.Unlock()
	if busy {
		f.emitQueue()
		return "q"
	}
	shown := p.Shown
	if shown == "" {
		shown = p.Text
	}
	f.emit(event.TurnStart{Turn: 1, Prompt: shown, At: time.Now()})
	if on != nil {
		on(p)
	}
	return "q"
}

func (f *fake) emitQueue() {
	f.mu.Lock()
	ev := event.QueueChanged{}
	for _, q := range f.queued {
		ev.Queued = append(ev.Queued, event.Queued{ID: q.Text, Text: q.Text})
	}
	f.mu.Unlock()
	f.emit(ev)
}

func (f *fake) Unqueue(string) []event.Prompt {
	f.mu.Lock()
	out := f.queued
	f.queued = nil
	f.mu.Unlock()
	f.emitQueue()
	return out
}

func (f *fake) busy(on bool) {
	f.mu.Lock()
	f.state.Busy = on
	f.mu.Unlock()
}

func (f *fake) Interrupt() bool {
	f.mu.Lock()
	f.stopped++
	was := f.state.Busy
	f.state.Busy = false
	f.mu.Unlock()
	if was {
		f.emit(event.TurnEnd{Reason: event.StopInterrupted})
	}
	return was
}

func (f *fake) Answer(id string, a tools.Answer) error {
	f.mu.Lock()
	f.answers[id] = a
	f.mu.Unlock()
	f.emit(event.ApprovalClosed{ID: id})
	return nil
}

func (f *fake) answered(id string) (tools.Answer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.answers[id]
	return a, ok
}

func (f *fake) Reply(id, text string) error {
	f.mu.Lock()
	f.replies[id] = text
	f.mu.Unlock()
	f.emit(event.AskClosed{ID: id})
	return nil
}

func (f *fake) Fill(id string, a tools.FormAnswer) error {
	f.mu.Lock()
	f.filled[id] = a
	f.mu.Unlock()
	f.emit(event.AskClosed{ID: id})
	return nil
}

func (f *fake) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, p := range f.prompts {
		out = append(out, p.Text)
	}
	return out
}

func (f *fake) State() event.State { f.mu.Lock(); defer f.mu.Unlock(); return f.state }
func (f *fake) Sees() bool         { f.mu.Lock(); defer f.mu.Unlock(); return !f.blind }
func (f *fake) set(change func(s *event.State)) {
	f.mu.Lock()
	change(&f.state)
	s := f.state
	f.mu.Unlock()
	f.emit(event.StateChanged{State: s})
}
func (f *fake) SetMode(m tools.Mode) { f.set(func(s *event.State) { s.Mode = m }) }
func (f *fake) SetModel(name string) error {
	f.set(func(s *event.State) { s.Model = name })
	return nil
}

func (f *fake) SetRoleValue(_ context.Context, key, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values = append(f.values, key+"="+value)
	return nil
}

func (f *fake) SetRole(ctx context.Context, name string) error {
	if f.slowRole != nil {
		select {
		case <-f.slowRole:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.set(func(s *event.State) { s.Role = name })
	return nil
}

func (f *fake) Rename(title string) error {
	f.set(func(s *event.State) { s.Title = title })
	return nil
}

func (f *fake) Compact(_ context.Context, keep string) error {
	f.mu.Lock()
	f.compact = keep
	f.mu.Unlock()
	return nil
}

// running is a program under test in a terminal.
type running struct {
	*terminal.Terminal
	t    *testing.T
	fake *fake
	done chan error
	stop context.CancelFunc
}

// run starts a program with a fake conversation in a terminal of the given size.
func run(t *testing.T, cols, rows int, change func(o *Options)) *running {
	t.Helper()
	f := newFake()
	opt := Options{
		Session: &Session{Conversation: f, Events: f}, Version: "1.0", Cwd: "/code/project", Home: "/home/u", Theme: "dark",
		Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"},
	}
	if change != nil {
		change(&opt)
	}
	term, tty, err := terminal.Open(cols, rows)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	opt.Input, opt.Output = tty, tty
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Terminal: term, t: t, fake: f, done: make(chan error, 1), stop: cancel}
	go func() { r.done <- Run(ctx, opt) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-r.done:
		case <-time.After(limit):
			t.Error("the program does not end")
		}
		term.Close()
	})
	return r
}

// see waits until the screen shows all texts.
func (r *running) see(texts ...string) terminal.Screen {
	r.t.Helper()
	s, err := r.WaitFor(limit, texts...)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// resize changes the terminal's size. The program runs in the test's process, which has another controlling
// terminal, so it must be notified.
func (r *running) resize(cols, rows int) {
	r.t.Helper()
	if err := r.Resize(cols, rows); err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		r.t.Fatal(err)
	}
}

// gone waits until the screen no longer shows a text.
func (r *running) gone(text string) terminal.Screen {
	r.t.Helper()
	s, err := r.Wait(limit, func(s terminal.Screen) bool { return !s.Contains(text) })
	if err != nil {
		r.t.Fatalf("still there: %q: %v", text, err)
	}
	return s
}

// until waits for a condition outside the screen.
func (r *running) until(what string, cond func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(limit)
	for !cond() {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: not within %s\n%s", what, limit, r.Screen().Text())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// quit leaves with Ctrl+C. The second press counts only while the hint of the first one is shown, so a slow machine
// may need several.
func (r *running) quit() error {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- <-r.done }()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); {
		r.Press("ctrl+c")
		select {
		case err := <-ended:
			r.done <- nil
			return err
		case <-time.After(time.Second):
		}
	}
	r.t.Fatalf("does not quit:\n%s", r.Screen().Text())
	return nil
}

func (r *running) ready() *running {
	r.t.Helper()
	r.see("test/model", "›")
	return r
}

func jsonOf(pairs ...string) json.RawMessage {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

var (
	_ Conversation = (*agent.Conversation)(nil)
	_ Events       = (*event.Subscription)(nil)
)

// lineWith returns the row that contains a text.
func lineWith(s terminal.Screen, text string) string {
	for _, l := range s.Lines() {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

func stripped(s string) string { return ansi.Strip(s) }

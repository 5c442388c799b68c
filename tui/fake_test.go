//go:build linux || darwin

package tui

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/agent"
	"jcode/agent/event"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/terminal"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// running is a program under test in a terminal.
type running struct {
	*terminal.Terminal
	t    *testing.T
	fake *tuitest.Conversation
	done chan error
	stop context.CancelFunc
}

// run starts a program with a fake conversation in a terminal of the given size.
func run(t *testing.T, cols, rows int, change func(o *front.Options)) *running {
	t.Helper()
	f := tuitest.New()
	opt := front.Options{
		Session: &front.Session{Conversation: f, Events: f}, Version: "1.0", Cwd: "/code/project", Home: "/home/u", Theme: "dark",
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
		case <-time.After(tuitest.Limit):
			t.Error("the program does not end")
		}
		term.Close()
	})
	return r
}

// see waits until the screen shows all texts.
func (r *running) see(texts ...string) terminal.Screen {
	r.t.Helper()
	s, err := r.WaitFor(tuitest.Limit, texts...)
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
	s, err := r.Wait(tuitest.Limit, func(s terminal.Screen) bool { return !s.Contains(text) })
	if err != nil {
		r.t.Fatalf("still there: %q: %v", text, err)
	}
	return s
}

// until waits for a condition outside the screen.
func (r *running) until(what string, cond func() bool) {
	r.t.Helper()
	eventually.Within(r.t, tuitest.Limit, what, cond, func() string { return r.Screen().Text() })
}

// quit leaves with Ctrl+C. The second press counts only while the hint of the first one is shown, so a slow machine
// may need several.
func (r *running) quit() error {
	r.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- <-r.done }()
	for deadline := time.Now().Add(tuitest.Limit); time.Now().Before(deadline); {
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

var (
	_ front.Conversation = (*agent.Conversation)(nil)
	_ front.Events       = (*event.Subscription)(nil)
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

//go:build linux || darwin

package relay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/ptty"
	"jcode/internal/testkit/eventually"
	"jcode/remote"
	"jcode/remote/relay"
)

const limit = 20 * time.Second

// program is the other side of a terminal.
type program struct {
	*relay.Terminal
	t     *testing.T
	slave *os.File
	ended int
}

func newProgram(t *testing.T) *program {
	t.Helper()
	master, slave, err := ptty.Open()
	if err != nil {
		t.Skip(err)
	}
	p := &program{t: t, slave: slave}
	p.Terminal = relay.New(master, func() { p.ended++ })
	return p
}

func (p *program) draw(text string) {
	p.t.Helper()
	if _, err := p.slave.WriteString(text); err != nil {
		p.t.Error(err)
	}
}

// end ends the program with a code.
func (p *program) end(code int) {
	if err := p.slave.Close(); err != nil {
		p.t.Error(err)
	}
	p.Close(code)
}

func (p *program) visible(want bool) {
	p.t.Helper()
	select {
	case got := <-p.Visible():
		if got != want {
			p.t.Errorf("visible %v", got)
		}
	case <-time.After(limit):
		p.t.Errorf("it is not told that it is visible: %v", want)
	}
}

// window is a window that keeps what it was sent.
type window struct {
	remote.Shown
	mu    sync.Mutex
	drawn bytes.Buffer
	left  chan remote.Left
	hold  chan struct{} // Draw waits for it, if it is not nil
	fails bool
}

func (p *program) window(name string, role remote.Role) *window {
	p.t.Helper()
	return p.show(name, role, &window{})
}

func (p *program) show(name string, role remote.Role, w *window) *window {
	p.t.Helper()
	w.left = make(chan remote.Left, 1)
	shown, err := p.Show(remote.Window{
		Name: name, Role: role, Size: remote.Size{Cols: 61, Rows: 17},
		Draw: func(b []byte) error {
			if w.hold != nil {
				<-w.hold
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.drawn.Write(b)
			if w.fails {
				return errors.New("gone")
			}
			return nil
		},
		Left: func(l remote.Left) { w.left <- l },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	w.Shown = shown
	return w
}

func (w *window) wait(t *testing.T, text string) {
	t.Helper()
	drawn := func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.drawn.String()
	}
	eventually.Within(t, limit, fmt.Sprintf("%q is drawn", text), func() bool { return strings.Contains(drawn(), text) }, drawn)
}

func (w *window) leaves(t *testing.T, want remote.Left) {
	t.Helper()
	select {
	case l := <-w.left:
		if l != want {
			t.Errorf("left: %+v", l)
		}
	case <-time.After(limit):
		t.Error("it is still shown")
	}
}

func TestTheFirstWindowSeesAllFromTheBeginning(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.draw("who are you?")
	w := p.window("desk", remote.Control)
	w.wait(t, "who are you?")
	if err := w.Type([]byte("me\n")); err != nil {
		t.Error(err)
	}
	b := make([]byte, 10)
	if n, err := p.slave.Read(b); err != nil || string(b[:n]) != "me\n" {
		t.Errorf("typed: %q, %v", b[:n], err)
	}
	p.draw("goodbye")
	p.end(7)
	w.wait(t, "goodbye")
	w.leaves(t, remote.Left{Why: remote.LeftEnded, Code: 7})
}

// A program that ends at once has said why: whoever started it still learns that.
func TestAProgramThatEndsAtOnceIsHeard(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.draw("no such flag")
	var over sync.WaitGroup
	over.Go(func() { p.end(2) })
	w := p.window("desk", remote.Control)
	w.wait(t, "no such flag")
	w.leaves(t, remote.Left{Why: remote.LeftEnded, Code: 2})
	over.Wait()
}

func TestASecondWindowTakesOverAndWatchersStay(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	first, watcher := p.window("desk", remote.Control), p.window("wall", remote.Watch)
	p.visible(true)
	second := p.window("ssh", remote.Control)
	first.leaves(t, remote.Left{Why: remote.LeftTaken, Name: "ssh"})
	p.visible(true)
	if n := p.Watched(); n != 2 {
		t.Errorf("%d windows", n)
	}
	if err := errors.Join(first.Type([]byte("x\n")), watcher.Type([]byte("y\n")), second.Type([]byte("z\n"))); err != nil {
		t.Error(err)
	}
	b := make([]byte, 10)
	if n, err := p.slave.Read(b); err != nil || string(b[:n]) != "z\n" {
		t.Errorf("typed: %q, %v", b[:n], err)
	}
	second.Leave()
	second.leaves(t, remote.Left{Why: remote.LeftDetached})
	watcher.Leave()
	p.visible(false)
	p.end(0)
}

// A window that takes nothing holds up nobody, and gets all anew when it goes on.
func TestASlowWindowHoldsUpNobody(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	slow := p.show("far", remote.Watch, &window{hold: make(chan struct{})})
	fast := p.window("desk", remote.Control)
	p.visible(true)
	line := strings.Repeat("x", 1<<10)
	for range 3 << 10 { // three times what a window may be behind with
		p.draw(line)
	}
	p.draw("the end")
	fast.wait(t, "the end")
	close(slow.hold)
	p.visible(true)
	p.draw("and anew")
	slow.wait(t, "and anew")
	p.end(0)
}

func TestAWindowThatIsGoneIsTakenAway(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.show("far", remote.Control, &window{fails: true})
	p.draw("hello")
	p.visible(false)
	if n := p.Watched(); n != 0 {
		t.Errorf("%d windows", n)
	}
	p.End()
	if p.ended != 1 {
		t.Error("the program was not asked to end")
	}
	p.end(0)
}

// TestTheProgramSendsItsWindowElsewhere: the one that controls it goes, who looks on stays, and what a window has the
// person read comes to the program.
func TestTheProgramSendsItsWindowElsewhere(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	desk, looker := p.window("desk", remote.Control), p.window("looker", remote.Watch)
	p.Elsewhere(4711)
	desk.leaves(t, remote.Left{Why: remote.LeftElsewhere, Process: 4711})
	p.draw("still here")
	looker.wait(t, "still here")
	<-p.Came()
	for _, said := range []string{"first", "the other one has ended"} {
		if _, err := p.Show(remote.Window{Name: "desk", Said: said, Role: remote.Watch, Size: remote.Size{Cols: 61, Rows: 17}, Draw: func([]byte) error { return nil }, Left: func(remote.Left) {}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-p.Said(); got != "the other one has ended" {
		t.Errorf("said %q", got)
	}
	<-p.Came()
	p.end(0)
	looker.leaves(t, remote.Left{Why: remote.LeftEnded})
}

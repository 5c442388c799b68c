//go:build linux || darwin

package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"jcode/agent/event"
	"jcode/internal/testkit/beside"
	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/leaks"
	"jcode/internal/testkit/terminal"
	"jcode/tui/front"
	"jcode/tui/tuitest"
)

// TestMain runs the program itself if a test asks for that: signals, job control and exit can only be tested in a
// separate process.
func TestMain(m *testing.M) {
	if mode := os.Getenv("JCODE_TUI_CHILD"); mode != "" {
		os.Exit(child(mode))
	}
	beside.Run(2) // most tests wait for a screen
	leaks.Main(m,
		// When a program ends, the reader of the terminal library blocks while it delivers its last keys.
		goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.(*Program).readLoop"))
}

func child(mode string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	f := tuitest.New()
	opt := front.Options{Session: &front.Session{Conversation: f, Events: f}, Version: "1.0", Theme: "dark"}
	switch mode {
	case "panic":
		opt.Observe = func(msg any) {
			if k, ok := msg.(tea.KeyPressMsg); ok && k.Text == "P" {
				panic("a fault on purpose")
			}
		}
	case "turn":
		f.OnPrompt = func(event.Prompt) {
			f.Emit(event.TextDelta{Text: "done\n"}, event.AssistantMessage{Text: "done\n"}, event.TurnEnd{Reason: event.StopDone})
		}
	case "busy":
		f.OnPrompt = func(event.Prompt) {
			f.Busy(true)
			go func() {
				for i := 0; f.State().Busy; i++ {
					f.Emit(event.TextDelta{Text: fmt.Sprintf("line %d\n\n", i)})
					time.Sleep(2 * time.Millisecond)
				}
			}()
		}
	}
	if err := Run(ctx, opt); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// spawn starts the program in a separate process; script is a shell line in which $0 is the program.
func spawn(t *testing.T, mode, script string) *terminal.Terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "read go; "+script, self)
	cmd.Env = append(os.Environ(), "JCODE_TUI_CHILD="+mode, "TERM=xterm-256color", "JCODE_HOME="+t.TempDir())
	term, err := terminal.Start(cmd, 80, 24)
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(term.Close)
	term.Press("enter")
	return term
}

// restored checks that the terminal is in the state from before the program ran.
func restored(t *testing.T, term *terminal.Terminal) {
	t.Helper()
	wrong := ""
	eventually.True(t, "the terminal is restored", func() bool { wrong = changed(term); return wrong == "" },
		func() string { return wrong + ":\n" + term.Screen().Text() })
}

// changed names one property of the terminal that the program did not restore, or returns "".
func changed(term *terminal.Terminal) string {
	if s := term.Screen(); s.AltScreen || !s.CursorVisible {
		return fmt.Sprintf("alternate screen %v, cursor visible %v", s.AltScreen, s.CursorVisible)
	}
	for _, mode := range []int{2004, 1000, 1002, 1003, 1004, 1006, 1049} {
		if term.Mode(mode) {
			return fmt.Sprintf("mode %d is still on", mode)
		}
	}
	if after, err := term.Stty(); err != nil || after != term.InitialStty() {
		return fmt.Sprintf("line settings differ (%v):\n%s\n%s", err, term.InitialStty(), after)
	}
	out := term.Output()
	if pushed, popped := strings.Count(out, "\x1b[>5u"), strings.Count(out, "\x1b[<1u"); pushed != popped {
		return fmt.Sprintf("keyboard modes: %d pushed, %d popped", pushed, popped)
	}
	return ""
}

func waitScreen(t *testing.T, term *terminal.Terminal, texts ...string) terminal.Screen {
	t.Helper()
	s, err := term.WaitFor(tuitest.Limit, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryEndRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	t.Run("ctrl+c at once", func(t *testing.T) {
		for _, wait := range []time.Duration{0, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond} {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), "JCODE_TUI_CHILD=idle", "TERM=xterm-256color")
			term, err := terminal.Start(cmd, 80, 24)
			if err != nil {
				t.Skipf("no pseudo terminal: %v", err)
			}
			t.Cleanup(term.Close)
			time.Sleep(wait) // the moment is what is tested
			term.Type("\x03")
			ended := false
			if _, err := term.Wait(tuitest.Limit, func(s terminal.Screen) bool {
				select {
				case <-term.Exited():
					ended = true
				default:
				}
				return ended || s.Contains("ctrl+c again")
			}); err != nil {
				t.Fatalf("pressed after %v: %v", wait, err)
			}
			if !ended {
				term.Type("\x03")
			}
			select {
			case <-term.Exited():
			case <-time.After(tuitest.Limit):
				t.Fatalf("does not end:\n%s", term.Screen().Text())
			}
			restored(t, term)
		}
	})
	t.Run("panic", func(t *testing.T) {
		term := spawn(t, "panic", `"$0"; echo "exit=$?"; read x`)
		waitScreen(t, term, "›")
		term.Type("P")
		waitScreen(t, term, "exit=3")
		restored(t, term)
	})
	t.Run("SIGTERM while streaming", func(t *testing.T) {
		term := spawn(t, "busy", `set -m; "$0"; echo "exit=$?"; read x`)
		waitScreen(t, term, "›")
		term.Type("go")
		waitScreen(t, term, "› go")
		term.Press("enter")
		waitScreen(t, term, "line 5")
		killChild(t, term, syscall.SIGTERM)
		waitScreen(t, term, "exit=3")
		restored(t, term)
	})
}

// killChild sends a signal to the program inside the shell.
func killChild(t *testing.T, term *terminal.Terminal, sig syscall.Signal) {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", fmt.Sprint(term.Pid())).Output()
	if err != nil {
		t.Skipf("no pgrep: %v", err)
	}
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

func TestSuspendGivesTheTerminalBack(t *testing.T) {
	term := spawn(t, "busy", `set -m; "$0"; echo STOPPED; read a; bg; read b; echo ASKED; read c; fg; echo "exit=$?"; jobs -l; read x`)
	waitScreen(t, term, "›")
	term.Type("go")
	waitScreen(t, term, "› go")
	term.Press("enter")
	waitScreen(t, term, "line 3")
	term.Press("ctrl+z")
	waitScreen(t, term, "STOPPED")
	restored(t, term)
	term.Press("enter") // bg: it must not touch the terminal
	term.Press("enter")
	s := waitScreen(t, term, "ASKED")
	if s.AltScreen {
		t.Error("in the background it took the screen")
	}
	term.Press("enter") // fg
	if _, err := term.Wait(tuitest.Limit, func(s terminal.Screen) bool { return s.AltScreen && s.Contains("line ") }); err != nil {
		t.Fatal(err)
	}
	term.Press("ctrl+c")
	if _, err := term.WaitFor(tuitest.Limit, "Interrupted."); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(tuitest.Limit); term.Screen().AltScreen && time.Now().Before(deadline); {
		term.Press("ctrl+c")
		// A second press quits while the hint is shown; a slow machine may miss that moment.
		_, _ = term.Wait(tuitest.Limit, func(s terminal.Screen) bool { return !s.AltScreen || s.Contains("again to quit") })
		term.Press("ctrl+c")
		_, _ = term.Wait(tuitest.Limit, func(s terminal.Screen) bool { return !s.AltScreen || !s.Contains("again to quit") })
	}
	waitScreen(t, term, "exit=0")
	restored(t, term)
}

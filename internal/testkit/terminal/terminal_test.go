//go:build linux || darwin

package terminal

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

const limit = time.Minute

func start(t *testing.T, script string, cols, rows int) *Terminal {
	t.Helper()
	term, err := Start(exec.Command("sh", "-c", script), cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return term
}

func TestScreenShowsWhatAProgramPrints(t *testing.T) {
	term := start(t, `printf 'a\033[1;31mred\033[0m 漢字 \033]2;the title\007end'; read x; echo "got $x"`, 40, 5)
	s, err := term.WaitFor(limit, "end")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Line(0); got != "ared 漢字 end" {
		t.Errorf("line 0 = %q", got)
	}
	if c := s.Cell(1, 0); !c.Bold || c.FG == nil || c.Text != "r" {
		t.Errorf("cell 1 = %+v", c)
	}
	if x, _, _ := s.Find("end"); x != 10 {
		t.Errorf("end stands at column %d, want 10", x)
	}
	if s.Title != "the title" {
		t.Errorf("title = %q", s.Title)
	}
	term.Type("hello")
	term.Press("enter")
	if _, err := term.WaitFor(limit, "got hello"); err != nil {
		t.Error(err)
	}
	if code, err := term.ExitCode(limit); err != nil || code != 0 {
		t.Errorf("exit code %d, %v", code, err)
	}
}

func TestResizeReachesTheProgram(t *testing.T) {
	term := start(t, `trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.05; done`, 80, 24)
	if _, err := term.WaitFor(limit, "ready"); err != nil {
		t.Fatal(err)
	}
	if err := term.Resize(33, 7); err != nil {
		t.Fatal(err)
	}
	if _, err := term.WaitFor(limit, "7 33"); err != nil {
		t.Error(err)
	}
	if code, _ := term.ExitCode(limit); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}

// Tests that somebody started in the background ignore SIGINT; the programs in their
// terminals must not.
func TestCtrlCEndsAProgramAlsoWhereInterruptsAreIgnored(t *testing.T) {
	signal.Ignore(os.Interrupt) // for good: a Reset would hide that it was ignored from the start
	term := start(t, `echo ready; exec sleep 300`, 20, 3)
	if _, err := term.WaitFor(limit, "ready"); err != nil {
		t.Fatal(err)
	}
	term.Press("ctrl+c")
	select {
	case <-term.Exited():
	case <-time.After(limit):
		t.Errorf("it goes on:\n%s", term.Screen().Text())
	}
}

// Tests under nohup ignore SIGHUP; the programs in their terminals must not.
func TestHangupEndsAProgramAlsoUnderNohup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP) // for good, as above
	term := start(t, `kill -HUP $$; exec sleep 300`, 20, 3)
	select {
	case <-term.Exited():
	case <-time.After(limit):
		t.Error("it goes on")
	}
}

func TestWaitGivesUpWithTheScreen(t *testing.T) {
	term := start(t, `echo visible; sleep 60`, 20, 3)
	if _, err := term.WaitFor(limit, "visible"); err != nil {
		t.Fatal(err)
	}
	_, err := term.WaitFor(50*time.Millisecond, "never")
	if err == nil || !strings.Contains(err.Error(), "visible") {
		t.Errorf("error %v does not show the screen", err)
	}
}

func TestSVGHoldsTheText(t *testing.T) {
	term := start(t, `printf '\033[38;2;1;2;3m<x>\033[0m 漢 z'`, 20, 2)
	s, err := term.WaitFor(limit, "z")
	if err != nil {
		t.Fatal(err)
	}
	svg := s.SVG("#dddddd", "#111111")
	for _, want := range []string{"&lt;x&gt;", "#010203", ">漢<", "<svg", "</svg>"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
}

// A text that the program wraps is found, wherever the line breaks; one whose blanks differ within a row is not.
func TestATextThatWasWrappedIsFound(t *testing.T) {
	term := start(t, `printf 'variable lang: "Klingon" is not a\n  choice: use German\n\nthe next  paragraph says\nmore'; read x`, 40, 8)
	s, err := term.WaitFor(limit, "more")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`"Klingon" is not a choice: use German`: true,
		"use German the next paragraph":         false,
		"the next paragraph says":               false,
		"next  paragraph says":                  true,
		"the next  paragraph says more":         true,
	} {
		if got := s.Contains(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestHangUpEndsASilentProgram: nothing is read from or written to the terminal when it goes away.
func TestHangUpEndsASilentProgram(t *testing.T) {
	t.Parallel()
	term, err := Start(exec.Command("sleep", "600"), 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.HangUp(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-term.Exited():
	case <-time.After(time.Minute):
		t.Fatal("the program outlives its terminal")
	}
}

//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// background is a chat whose sessions run in the background. What still runs at the end is ended.
func background(t *testing.T, replies ...modeltest.Reply) *chat {
	c := newChat(t, replies...)
	t.Cleanup(func() {
		for _, pid := range c.inBackground() {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Errorf("end process %d: %v", pid, err)
			}
		}
	})
	return c
}

// inBackground returns the processes in the background.
func (c *chat) inBackground() (out []int) {
	c.t.Helper()
	list, err := c.jcode("", "sessions", "ps")
	if err != nil {
		c.t.Errorf("ps: %v %s", err, list)
	}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) > 2 && strings.HasPrefix(fields[2], "background") {
			pid, err := strconv.Atoi(fields[1])
			if err != nil {
				c.t.Error(err)
			}
			out = append(out, pid)
		}
	}
	return out
}

// nothingRuns waits until no session runs any more.
func (c *chat) nothingRuns() {
	c.t.Helper()
	for until := time.Now().Add(patience); len(c.inBackground()) > 0; {
		if time.Now().After(until) {
			c.t.Fatal("a session still runs")
		}
	}
}

// another opens another terminal in the same project and home.
func (c *chat) another(cols, rows int, text string, args ...string) *chat {
	c.t.Helper()
	other := *c
	term, err := terminal.Start(c.command("jcode", args...), cols, rows)
	if err != nil {
		c.t.Fatal(err)
	}
	other.Terminal = term
	c.t.Cleanup(term.Close)
	other.wait(text)
	return &other
}

// gaveBack checks that the terminal is as it was before.
func (c *chat) gaveBack(code int) {
	c.t.Helper()
	if got, err := c.ExitCode(patience); err != nil || got != code {
		c.t.Errorf("exit %d, %v\n%s", got, err, c.Screen().Text())
	}
	// The program may end before its last bytes are read here.
	s, _ := c.Wait(patience, func(s terminal.Screen) bool { return !s.AltScreen && s.CursorVisible })
	stty, err := c.Stty()
	if s.AltScreen || !s.CursorVisible || err != nil || stty != c.InitialStty() {
		c.t.Errorf("alternate screen %v, cursor %v, %v: %s\n%s", s.AltScreen, s.CursorVisible, err, stty, s.Text())
	}
}

// TestASessionGoesOnWhenItsTerminalCloses: the turn, the question in it and what was typed are there in the next window.
func TestASessionGoesOnWhenItsTerminalCloses(t *testing.T) {
	t.Parallel()
	c := background(t, asksToTouch()...)
	c.start("--detachable")
	c.say("make a file")
	c.answerable("touch made.txt")
	if err := c.HangUp(); err != nil {
		t.Fatal(err)
	}
	if out := c.sessions("ps"); !strings.Contains(out, "needs you") || !strings.Contains(out, "background") {
		t.Errorf("ps: %s", out)
	}
	d := c.another(70, 20, "touch made.txt", "attach")
	d.answerable("touch made.txt")
	d.Press("y")
	d.wait("The file is there.")
	d.read("made.txt")
	d.idle()
	d.say("/quit")
	d.gaveBack(0)
	d.wait("resume with")
	c.nothingRuns()
}

// TestAnotherWindowTakesTheSessionOver, of another size, and both terminals are given back.
func TestAnotherWindowTakesTheSessionOver(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Text("Hello there."), modeltest.Text("And again."))
	c.start("--detachable")
	c.say("hi")
	c.wait("Hello there.")
	d := c.another(120, 40, "Hello there.", "attach")
	c.wait("another terminal shows the session now")
	c.gaveBack(0)
	d.say("once more")
	d.wait("And again.")
	if err := d.Resize(64, 18); err != nil {
		t.Fatal(err)
	}
	d.until(func(s terminal.Screen) bool { return strings.Contains(s.Line(s.Rows-1), "test-model") })
	d.Type("half a wo\x1cd")
	d.wait("the session goes on in the background")
	d.gaveBack(0)
	e := c.another(90, 28, "half a wo", "attach")
	e.Press("ctrl+u")
	e.say("/detach")
	e.wait("the session goes on in the background")
	e.gaveBack(0)
	if out := c.sessions("ps"); !strings.Contains(out, "idle") {
		t.Errorf("ps: %s", out)
	}
	c.sessions("stop", "--end")
	c.nothingRuns()
	c.titled("A title")
	f := c.another(90, 28, "And again.", "attach", "A title") // continued, as it does not run
	f.idle()
	f.say("/quit")
	f.gaveBack(0)
	c.nothingRuns()
}

// TestWhoLooksOnFollowsASessionToItsNextProcess: the process is killed, the session goes on in another one, and the window
// that only looks shows it again.
func TestWhoLooksOnFollowsASessionToItsNextProcess(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Text("Hello there."), modeltest.Text("And again."))
	c.start("--detachable")
	c.say("hi")
	c.wait("Hello there.")
	c.idle()
	c.titled("A title")
	looker := c.another(90, 28, "Hello there.", "attach", "--watch")
	looker.Type("never sent")
	if err := syscall.Kill(c.inBackground()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.wait("has ended without a message")
	looker.wait("it is looked for")
	d := c.another(90, 28, "Hello there.", "attach", "A title")
	looker.wait("Hello there.")
	d.idle()
	d.say("once more")
	looker.wait("And again.")
	if strings.Contains(d.Screen().Text(), "never sent") {
		t.Error("who looks on types")
	}
	d.say("/quit")
	d.gaveBack(0)
	looker.gaveBack(0)
	c.nothingRuns()
}

// TestAltAndADigitShowTheOtherSessionsInOneTerminal: numbers by start, the one that asks is marked, what is written stays,
// and where one ends the terminal shows the one before.
func TestAltAndADigitShowTheOtherSessionsInOneTerminal(t *testing.T) {
	t.Parallel()
	c := background(t, append([]modeltest.Reply{modeltest.Text("I am the first.")}, asksToTouch()...)...)
	if out, err := c.jcode("", "--detach", "be the first"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	shows := func(want string) { // the row of sessions, without the widths of names
		t.Helper()
		c.until(func(s terminal.Screen) bool { return strings.Contains(s.Line(s.Rows-1), want) })
	}
	c.start("--detachable")
	shows("· 2 ")
	if out, err := c.jcode("", "--detach", "make a file"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	shows(" ?") // the third asks
	c.Type("half a wo")
	c.Press("alt+1")
	c.wait("I am the first.")
	c.Type("\x1b[50;3u") // alt+2 of a keyboard that says more
	c.wait("› half a wo")
	c.Press("alt+2")
	c.wait("this is session 2")
	c.Press("alt+9")
	c.wait("there is no session 9")
	c.Type("\x1b[27;3;51~") // alt+3 of one that modifies other keys
	c.answerable("touch made.txt")
	c.Press("alt+1") // a question is left open by it, and answered by nothing
	c.wait("I am the first.")
	shows(" ?")
	c.Press("alt+3")
	c.answerable("touch made.txt")
	c.Press("y")
	c.wait("The file is there.")
	c.read("made.txt")
	c.idle()
	c.say("/quit")
	c.wait("The session that was shown here has ended.", "I am the first.")
	c.idle()
	c.say("/live")
	c.wait("Sessions in the background", "here", "idle")
	c.Press("esc")
	c.wait("ask for something")
	c.say("/quit")
	c.wait("The session that was shown here has ended.", "› half a wo")
	c.Type("\x1cd")
	c.wait("the session goes on in the background")
	c.gaveBack(0)
}

// TestAChatInItsOwnTerminalGoesToTheBackgroundForAnotherOne, unless a turn runs or something would be lost.
func TestAChatInItsOwnTerminalGoesToTheBackgroundForAnotherOne(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Text("I am the first."), modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while [ ! -f go ]; do sleep 0.01; done; echo gone"})), modeltest.Text("It went."))
	if out, err := c.jcode("", "--detach", "be the first"); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	empty := c.another(90, 28, "here · 1 ")
	empty.Press("alt+1") // nothing was said: nothing is lost
	empty.wait("I am the first.")
	empty.Type("\x1cd")
	empty.gaveBack(0)
	c.start("--mode", "yolo")
	c.until(func(s terminal.Screen) bool { return strings.Contains(s.Line(s.Rows-1), "here · 1 ") })
	c.say("wait for it")
	c.wait("exec while")
	c.Press("alt+1")
	c.wait("Session 1 is not shown", "/detach")
	c.write("go", "")
	c.wait("It went.")
	c.idle()
	c.Press("alt+1")
	c.wait("I am the first.", "· 2 ")
	c.Press("alt+2")
	c.until(func(s terminal.Screen) bool { return s.AltScreen && strings.Contains(s.Text(), "It went.") })
	c.idle()
	c.say("/quit")
	c.wait("The session that was shown here has ended.", "I am the first.")
	c.idle()
	c.say("/quit")
	c.gaveBack(0)
	c.nothingRuns()
}

// TestDetachTakesASessionToTheBackground at the end of its turn, and says what does not come along.
func TestDetachTakesASessionToTheBackground(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while [ ! -f go ]; do sleep 0.01; done; echo gone"})), modeltest.Text("It went."))
	c.start("--mode", "yolo")
	c.say("wait for it")
	c.wait("exec while")
	c.interject("/detach")
	c.wait("goes on in the background when this turn has ended")
	c.interject("/detach") // said twice it still goes
	c.wait("waits for the end of the turn already")
	c.write("go", "")
	c.wait("runs in the background: jcode attach")
	c.gaveBack(0)
	d := c.another(90, 28, "It went.", "attach")
	d.wait("yolo")
	d.idle()
	d.say("/quit")
	d.gaveBack(0)
	c.nothingRuns()
}

// TestASessionBeginsInTheBackground, and what keeps it from beginning is said.
func TestASessionBeginsInTheBackground(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Text("Done in the dark."))
	if out, err := c.jcode("", "--detach"); err == nil || !strings.Contains(out, "needs a prompt") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := c.jcode("", "--detach", "--mode=fast", "work on"); err == nil || !strings.Contains(out, "fast") {
		t.Errorf("%v %s", err, out)
	}
	out, err := c.jcode("", "--detach", "work on")
	if err != nil || !strings.Contains(out, "runs in the background: jcode attach") {
		t.Fatalf("%v %s", err, out)
	}
	d := c.another(90, 28, "Done in the dark.", "attach")
	if err := syscall.Kill(c.inBackground()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	d.wait("has ended without a message", "jcode -c")
	d.gaveBack(1)
	if out, err := c.jcode("", "sessions", "ps"); err != nil || !strings.Contains(out, "no session is open") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := c.jcode("", "attach"); err == nil || !strings.Contains(out, "in a terminal") {
		t.Errorf("%v %s", err, out)
	}
	var left []string
	eventually.Within(t, patience, "no socket is left behind", func() (none bool) { // one that failed to begin may still be ending
		var err error
		if left, err = filepath.Glob(filepath.Join(c.home, "run", "*.sock")); err != nil {
			t.Fatal(err)
		}
		return len(left) <= 1
	}, func() string { return fmt.Sprintf("left behind: %v", left) })
}

// TestContinuingASessionThatRunsInTheBackgroundShowsIt where it runs, if the person wants that.
func TestContinuingASessionThatRunsInTheBackgroundShowsIt(t *testing.T) {
	t.Parallel()
	c := background(t, modeltest.Text("Here I am."))
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(`{"detachable": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.say("where are you")
	c.wait("Here I am.")
	c.Type("\x1cd")
	c.wait("the session goes on in the background")
	d := c.another(90, 28, "Show it here?", "-c")
	d.Type("y\r")
	d.wait("Here I am.", "ask for something")
	d.idle()
	d.say("/quit")
	d.gaveBack(0)
	c.nothingRuns()
}

// TestACommandShowsNoSession: what a session started itself can't take the keyboard of a session in the background.
func TestACommandShowsNoSession(t *testing.T) {
	t.Parallel()
	script := "script -qec 'jcode attach' /dev/null < /dev/null; true"
	c := background(t, modeltest.Calls(tool("t", "exec", map[string]any{"cmd": script})), modeltest.Text("I tried."))
	c.start("--detachable", "--mode", "yolo")
	c.say("try")
	c.wait("I tried.")
	if m, ok := c.request(1).Result("t"); !ok || !strings.Contains(m.Content, "hung up") && !strings.Contains(m.Content, "no session") {
		t.Errorf("%s", m.Content)
	}
	c.idle()
	c.say("/quit")
	c.gaveBack(0)
	c.nothingRuns()
}

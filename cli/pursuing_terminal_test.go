//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// A goal sends the model on until a request beside the conversation says that it holds.
func TestAGoalIsPursuedUntilItIsJudgedToHold(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("I began."), modeltest.Text("NO: the list is empty."), modeltest.Text("I filled the list."), modeltest.Text("YES, the list is full."))
	c.start()
	c.say("/goal --max-turns 5 the list is full")
	c.wait("I began.", "I filled the list.", "The goal holds after 2 turns")
	turns := c.turns(c.srv.Requests())
	if len(turns) != 4 || !strings.Contains(string(turns[2].Raw), "the list is empty") {
		t.Errorf("%d requests", len(turns))
	}
}

// A command judges without a model. Its goal is kept with the session, and limited.
func TestAGoalWithACommandIsJudgedByItAndKeptForAResume(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("I looked."), modeltest.Text("I looked again."))
	c.start()
	c.say("/goal until 'echo missing; test -f ready' --max-turns 1")
	c.wait("I looked.", "The goal is paused: its 1 turn")
	c.say("/goal")
	c.wait("used: 1 turn", "limits: at most 1 turn", "last check: exit 1: missing")
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	c.quit()
	c.startAt("The goal of this session is paused", "-c")
	c.write("ready", "")
	c.say("/goal until 'test -f ready'")
	c.wait("I looked again.", "The goal holds after 1 turn")
	c.say("/goal")
	c.wait("there is no goal yet")
	if left, err := filepath.Glob(filepath.Join(c.home, "pursuits", "*")); len(left) > 0 || err != nil {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestALoopIsShownKeptAndStopped(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Nothing new."))
	c.start()
	c.say("/loop 10s look")
	c.wait("a loop waits 1m0s at least")
	c.say("/loop 2h look at it")
	c.wait("Nothing new.", "loop ")
	c.say("/loop")
	c.wait("every 2h0m0s: look at it", "1 time so far")
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	c.quit()
	if left, _ := os.ReadDir(filepath.Join(c.home, "pursuits")); len(left) != 1 {
		t.Errorf("kept: %v", left)
	}
	c.startAt("The loop of this session goes on", "-c")
	c.say("/loop stop")
	c.wait("The loop has ended.")
	if left, _ := os.ReadDir(filepath.Join(c.home, "pursuits")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

func TestThePlainFormTrustsAFolderAndGoesBackToASession(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("First answer."), modeltest.Text("Second answer."), modeltest.Text("Third answer."))
	c.project(".jcode/roles/far.md", "---\nmodel: far-model\n---\nYou are far away.\n")
	c.startAt("Trust this folder?", "--plain")
	c.wait("role far", "1: yes, trust it", "Answer (number):")
	c.say("1")
	c.say("hello")
	c.wait("First answer.")
	c.wait(" tokens") // the turn has ended
	c.titled("A title")
	c.say("/new")
	c.wait("Carry the last exchange over")
	c.say("1")
	c.wait("Session: a new one.")
	c.say("/role far")
	c.say("something else")
	c.wait("Second answer.")
	if !strings.Contains(c.request(1).System(), "You are far away.") {
		t.Error("the trusted role is not in force")
	}
	c.until(func(s terminal.Screen) bool { return strings.Count(s.Text(), " tokens") == 2 })
	c.say("/resume")
	c.wait("Which session?", "1: A title, ")
	c.say("1")
	c.wait("Session: A title.", "You: hello")
	c.say("go on")
	c.wait("Third answer.")
	if raw := string(c.request(2).Raw); !strings.Contains(raw, "First answer.") || strings.Contains(raw, "Second answer.") {
		t.Errorf("the wrong history was sent: %.2000s", raw)
	}
	c.say("/quit")
	if code, err := c.ExitCode(patience); err != nil || code != 0 {
		t.Fatalf("exit %d, %v", code, err)
	}
}

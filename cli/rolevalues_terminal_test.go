//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

const ticketRole = `---
description: Works on a ticket
variables:
  - {name: id, description: the ticket}
  - {name: lang, default: German, choices: [German, French]}
---
Work on {{id}} in {{lang}}.
`

// A role asks for its values in one form, and Esc cancels entering the role. The session keeps the values, and
// each can be changed by itself.
func TestARoleAsksForItsValuesInAForm(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("One."), modeltest.Text("Two."), modeltest.Text("Three."))
	c.roleFile("ticket", ticketRole)
	c.startAt("role ticket asks", "--role", "ticket", "hello there")
	c.wait("the ticket", "‹ German ›", "esc cancel")
	if n := len(c.srv.Requests()); n > 0 {
		t.Fatalf("%d requests were sent before the form was filled in", n)
	}
	c.Press("esc")
	c.wait("The switch was taken back", "hello there") // the prompt was meant for the role
	c.Press("ctrl+u")
	c.wait("ask for something")

	c.say("/role ticket")
	c.wait("role ticket asks", "esc cancel")
	c.Press("enter")
	c.wait("✗ a value is needed")
	c.Type("{{lang}}-7")
	c.Press("enter", "right", "enter")
	c.wait("‹ French ›", "› send ‹")
	c.Press("enter")
	c.wait("test-model  ticket")
	c.say("first")
	c.wait("One.")
	if sys := c.request(0).System(); !strings.Contains(sys, "Work on {{lang}}-7 in French.") {
		t.Errorf("the system prompt is %s", sys)
	}

	c.say("/role info")
	c.wait("id (the ticket) = {{lang}}-7", "= French")
	c.say("/role set lang Klingon")
	c.wait(`"Klingon" is not a choice: use German, French`)
	c.say("/role set lang")
	c.wait("The role's lang is as the role has it again.")
	c.say("/role set id  ABC 8")
	c.wait("The role's id is ABC 8 now.")
	c.say("/role ticket") // entered again with the stored values: nothing is asked
	c.say("second")
	c.wait("Two.", "ask for something")
	if sys := c.request(1).System(); !strings.Contains(sys, "Work on ABC 8 in German.") {
		t.Errorf("after the changes the system prompt is %s", sys)
	}

	// A new session continues with the role and its values.
	c.say("/new")
	c.wait("begin with nothing", "enter choose")
	c.Press("enter")
	c.wait("ask for something")
	c.say("third")
	c.wait("Three.")
	if sys := c.request(2).System(); !strings.Contains(sys, "Work on ABC 8 in German.") {
		t.Errorf("in a fresh session the system prompt is %s", sys)
	}
	c.quit()
}

func TestARoleAsksForItsValuesLineByLine(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("One."))
	c.roleFile("ticket", ticketRole)
	cmd := c.command("jcode", "--plain", "--role", "ticket", "hello")
	cmd.Stdin = strings.NewReader("ABC-7\n2\nyes\n/role info\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "role ticket asks") {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(c.srv.Requests()) == 0 {
		t.Fatalf("nothing was sent:\n%s", out)
	}
	if sys := c.request(0).System(); !strings.Contains(sys, "Work on ABC-7 in French.") {
		t.Errorf("the system prompt is %s\n%s", sys, out)
	}
}

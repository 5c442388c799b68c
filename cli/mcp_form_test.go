//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestServerAsksAndThePersonFillsInTheForm(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t,
		modeltest.Calls(tool("c1", "mcp:travel:ask_all", map[string]any{})), modeltest.Text("Booked."),
		modeltest.Calls(tool("c2", "mcp:travel:ask_all", map[string]any{})), modeltest.Text("Not booked."),
		modeltest.Calls(tool("c3", "mcp:travel:ask_all", map[string]any{})), modeltest.Text("Broken off."),
	), map[string]string{"travel": "elicit"})
	s.start("--mode", "yolo")
	s.wait("mcp 1/1")
	s.say("book")
	s.wait("MCP server travel asks", "Book a train.", "esc cancel") // accepts keys now
	s.Press("enter")
	s.wait("✗ a value is needed")
	s.Type("AB")
	s.Press("down", "down")
	s.Type("many")
	s.Press("enter")
	s.wait("✗ must be a number")
	s.Press("ctrl+u")
	s.Type("12.5")
	s.Press("enter", "left", "down", "space", "up", "up", "up", "up", "up", "up")
	s.wait("› send ‹")
	s.Press("enter")
	s.wait("Booked.", "You answered MCP server travel: Zone, mail, price, class, extras")
	got := s.answered(1, "c1")
	for _, want := range []string{`"action":"accept"`, `"zone":"AB"`, `"mail":"ada@example.com"`, `"price":12.5`, `"class":"1"`, `"extras":["w","m"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, `"back"`) || strings.Contains(got, `"days"`) {
		t.Errorf("what was left out is there: %s", got)
	}
	s.say("again")
	s.wait("MCP server travel asks", "esc cancel")
	s.Press("up")
	s.wait("› decline ‹")
	s.Press("enter")
	s.wait("Not booked.")
	if got := s.answered(3, "c2"); !strings.Contains(got, `"action":"decline"`) {
		t.Error(got)
	}
	s.say("once more")
	s.wait("MCP server travel asks", "esc cancel")
	s.Press("esc")
	s.wait("Broken off.")
	if got := s.answered(5, "c3"); !strings.Contains(got, `"action":"cancel"`) {
		t.Error(got)
	}
	s.quit()
}

func TestNobodyFillsInAFormHeadless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, flag, want string }{
		{"ask_all", "decline", `"action":"decline"`},
		{"ask_all", "accept-defaults", `"action":"decline"`}, // one of the fields has no default
		{"ask_defaults", "accept-defaults", `"age":7`},
	} {
		s := withServers(newChat(t, modeltest.Calls(tool("c1", "mcp:travel:"+c.tool, map[string]any{})), modeltest.Text("Done.")), map[string]string{"travel": "elicit"})
		out, err := jcode(t.Context(), t, s.dir, s.home, s.srv.URL(), "-p", "--mode", "yolo", "--elicit", c.flag, "book").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := s.answered(1, "c1"); !strings.Contains(got, c.want) {
			t.Errorf("%s with %s: %s", c.tool, c.flag, got)
		}
	}
}

//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

// TestSlowServerHoldsNothingUp: the first prompt is sent at once, without the server's tools; they are offered
// and announced when the server connects.
func TestSlowServerHoldsNothingUp(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "open")
	s := withServers(newChat(t, modeltest.Text("At once."), modeltest.Text("With tools.")), map[string]string{"slow": "gate=" + gate})
	s.start()
	s.say("go")
	s.wait("At once.", "mcp 0/1")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.wait("mcp 1/1") // no key was pressed
	s.say("again")
	s.wait("With tools.", "New tools: mcp_connect, ", "New tools from slow: ", "echo")
	if offers(s.request(0), "slow") || !offers(s.request(1), "slow") {
		t.Error("the tools must come with the second request")
	}
	s.quit()
}

// TestEscEndsACallAndTheServerStays: the server receives the cancellation, and the next call works.
func TestEscEndsACallAndTheServerStays(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t,
		modeltest.Calls(tool("c1", "mcp:good:sleep", map[string]any{"ms": 600_000})),
		modeltest.Calls(tool("c2", "mcp:good:echo", map[string]any{"text": "alive"})), modeltest.Text("It lives."),
	), map[string]string{"good": "ok"})
	s.start("--mode", "yolo")
	s.wait("mcp 1/1")
	s.say("wait")
	received(t, s.logs["good"], "tools/call", 1)
	s.Press("esc")
	received(t, s.logs["good"], "notifications/cancelled", 1)
	s.idle()
	s.say("go on")
	s.wait("It lives.")
	if m, ok := s.request(2).Result("c2"); !ok || m.Content != "echo: alive" {
		t.Errorf("the next call gave %q", m.Content)
	}
	s.counted("good", 1, 0) // the same process throughout
	s.quit()
}

// TestServerThatDiesInACallIsSaidAndComesBack: the call fails at once with the reason.
func TestServerThatDiesInACallIsSaidAndComesBack(t *testing.T) {
	t.Parallel()
	s := withServers(newChat(t,
		modeltest.Calls(tool("c1", "mcp:dying:die", map[string]any{})), modeltest.Text("It died."),
		modeltest.Calls(tool("c2", "mcp:dying:echo", map[string]any{"text": "back"})), modeltest.Text("It is back."),
	), map[string]string{"dying": "dieincall"})
	s.start("--mode", "yolo")
	s.wait("mcp 1/1")
	s.say("die")
	s.wait("server exited (exit status 2): panic: index out of range", "It died.")
	received(t, s.logs["dying"], "tools/list", 2) // by the new process
	s.wait("mcp 1/1")
	s.say("go on")
	s.wait("It is back.")
	if m, ok := s.request(3).Result("c2"); !ok || m.Content != "echo: back" {
		t.Errorf("the next call gave %q", m.Content)
	}
	s.quit()
}

// All servers of a project start after one answer; a dead server does not delay the others.
func TestOneAnswerStartsAllServersOfAProject(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Fine."))
	entries := map[string]any{"dead": map[string]any{"command": "no-such-program"}}
	for _, name := range []string{"one", "two"} {
		cmd := mcptest.Server("ok")
		entries[name] = map[string]any{"command": cmd.Path, "args": cmd.Args, "env": cmd.Env}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	c.project(".mcp.json", string(b))
	c.startAt("Trust this folder?")
	c.folderAsks("no-such-program", "mcp one", "mcp two")
	c.Press("y")
	c.wait("mcp 2/3")
	c.say("go")
	c.wait("Fine.")
	for _, name := range []string{"mcp__one__echo", "mcp__two__echo"} {
		if _, ok := c.request(0).Tool(name); !ok {
			t.Errorf("%s is not offered", name)
		}
	}
	c.quit()
}

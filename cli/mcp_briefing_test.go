//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

// TestInstructionsOfAServerThatComesLaterAreTold: the system prompt stays byte for byte the same, and the
// server's instructions are added once, before the next step.
func TestInstructionsOfAServerThatComesLaterAreTold(t *testing.T) {
	t.Parallel()
	const said = "Use echo for everything."
	late := mcptest.Server("full")
	c := newChat(t,
		modeltest.Calls(tool("c1", "mcp_connect", map[string]any{"name": "late", "command": late.Path, "args": late.Args, "env": late.Env})),
		modeltest.Calls(tool("c2", "ls", map[string]any{})),
		modeltest.Text("done"),
	)
	cmd := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), "-p", "--mode", "yolo", "go")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for n, want := range []int{0, 1, 1} {
		if got := strings.Count(string(c.request(n).Raw), said); got != want {
			t.Errorf("request %d says it %d times, want %d", n, got, want)
		}
	}
	if c.request(0).System() != c.request(2).System() {
		t.Error("the system prompt changed within the session")
	}
	s := withServers(newChat(t, modeltest.Text("done")), map[string]string{"early": "full"})
	if out, err := jcode(t.Context(), t, s.dir, s.home, s.srv.URL(), "-p", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(s.request(0).System(), said) || strings.Count(string(s.request(0).Raw), said) != 1 {
		t.Error("what a server says that is there from the start belongs into the system prompt, once")
	}
}

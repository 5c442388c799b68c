//go:build linux || darwin

package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// Calls to MCP servers in one answer run in parallel; their results are in call order.
func TestCallsToServersRunBesideEachOther(t *testing.T) {
	t.Parallel()
	var calls []modeltest.Call
	for i := range 5 {
		calls = append(calls, tool(fmt.Sprint("c", i), "mcp:m:meet", map[string]any{"n": i}))
	}
	s := withServers(newChat(t, modeltest.Calls(calls...), modeltest.Text("Done.")), map[string]string{"m": "meet=5"})
	if out, err := jcode(t.Context(), t, s.dir, s.home, s.srv.URL(), "-p", "--mode", "yolo", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var order []string
	for _, m := range s.request(1).Messages {
		if strings.HasPrefix(m.Content, "met ") {
			order = append(order, strings.TrimPrefix(m.Content, "met "))
		}
	}
	if got := strings.Join(order, ""); got != "01234" {
		t.Errorf("results: %q", got)
	}
}

// A call that ends others does not wait for them: disconnecting a server ends its endless calls in the same
// answer.
func TestDisconnectDoesNotWaitForTheCallsThatItEnds(t *testing.T) {
	t.Parallel()
	calls := []modeltest.Call{tool("last", "mcp_disconnect", map[string]any{"name": "m"})}
	for i := range 10 {
		calls = append([]modeltest.Call{tool(fmt.Sprint("c", i), "mcp:m:never", map[string]any{"n": i})}, calls...)
	}
	s := withServers(newChat(t, modeltest.Calls(calls...), modeltest.Text("Done.")), map[string]string{"m": "ok"})
	if out, err := jcode(t.Context(), t, s.dir, s.home, s.srv.URL(), "-p", "--mode", "yolo", "go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range 10 {
		if m, ok := s.request(1).Result(fmt.Sprint("c", i)); !ok || !strings.Contains(m.Content, "disconnected") {
			t.Errorf("call %d gave %q", i, m.Content)
		}
	}
}

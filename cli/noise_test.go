//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

// Standard output is one JSON object, whatever else prints: a server with lines of its own, a broken skill, a
// background command.
func TestNoiseNeverReachesTheObjectOnStandardOutput(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	server := mcptest.Server("junk")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"noisy": map[string]any{"command": server.Path, "args": server.Args, "env": server.Env}}})
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(home, "mcp.json"), string(config))
	write(filepath.Join(home, "skills", "broken", "SKILL.md"), "---\nname: broken\n")
	srv := modeltest.New(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while :; do echo NOISE; echo NOISE >&2; sleep 0.01; done", "background": true})),
		modeltest.Calls(tool("c2", "mcp_connect", map[string]any{"name": "noisy"}), tool("c3", "exec", map[string]any{"cmd": "sleep 0.2"})),
		modeltest.Text("Quiet."),
	)
	cmd := jcode(t.Context(), t, dir, home, srv.URL(), "-p", "--mode", "yolo", "--output-format", "json", "go")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var result struct {
		Type string `json:"type"`
		OK   bool   `json:"ok"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(out, &result); err != nil || !result.OK || result.Text != "Quiet." || strings.Count(string(out), "\n") != 1 {
		t.Errorf("standard output is %q, %v", out, err)
	}
	if last := srv.Requests()[2].Messages; !strings.Contains(last[len(last)-2].Content, "noisy") {
		t.Errorf("the noisy server was not connected: %q", last[len(last)-2].Content)
	}
	if !strings.Contains(stderr.String(), "broken/SKILL.md") {
		t.Errorf("the broken skill is not named: %s", stderr.String())
	}
}

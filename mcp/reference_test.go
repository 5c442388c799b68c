package mcp

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// referenceServers is the folder that scripts/install-mcp-servers fills.
const referenceServers = "JCODE_TEST_MCP_SERVERS"

// reference gives the command of a reference server, or skips by name.
func reference(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv(referenceServers)
	if dir == "" {
		t.Skipf("%s: set %s to a folder filled by scripts/install-mcp-servers", name, referenceServers)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("%s: node is missing", name)
	}
	path := filepath.Join(dir, "node_modules", ".bin", "mcp-server-"+name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s: not installed in %s", name, dir)
	}
	return path
}

func TestReferenceServers(t *testing.T) { // section 8
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		args  []string
		tools int
		tool  string
		call  string
		want  string
	}{
		{"everything", nil, 10, "echo", `{"message":"hi"}`, "Echo: hi"},
		{"filesystem", []string{dir}, 10, "list_allowed_directories", `{}`, filepath.Base(dir)},
		{"memory", nil, 5, "read_graph", `{}`, "entities"},
		{"sequential-thinking", nil, 1, "sequentialthinking", `{"thought":"a","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtNumber"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := reference(t, c.name)
			r := newManagerRig(t, map[string]any{"ref": map[string]any{"command": path, "args": c.args, "env": map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.json")}}}, nil)
			r.m.Start()
			d := r.waitState("ref", StateConnected)
			if d.Tools < c.tools || d.Protocol != classicProtocol {
				t.Errorf("%d tools, protocol %s", d.Tools, d.Protocol)
			}
			if res := r.call("mcp:ref:"+c.tool, c.call); res.Failed || !strings.Contains(res.Text, c.want) {
				t.Errorf("%+v", res)
			}
			t.Logf("%d tools, %d tokens, %d repaired", d.Tools, d.Tokens, len(d.Skipped))
			began := time.Now()
			r.call("mcp_disconnect", `{"name":"ref"}`)
			if took := time.Since(began); took > late {
				t.Errorf("disconnect took %v", took)
			}
			waitGone(t, d.Pid)
		})
	}
}

// TestServerThroughNpxLeavesNoTree: npx starts the real server as a grandchild. // S22, claude-code#33947, #42881
func TestServerThroughNpxLeavesNoTree(t *testing.T) {
	reference(t, "everything")
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npx is missing")
	}
	r := newManagerRig(t, map[string]any{"ref": map[string]any{"command": npx, "args": []string{"--no-install", "mcp-server-everything"}, "cwd": os.Getenv(referenceServers), "connectTimeout": "60s"}}, nil)
	r.m.Start()
	var d Details
	waitForLong(t, func() bool {
		var err error
		d, err = r.m.Server("ref")
		return err == nil && d.State == StateConnected
	})
	r.m.mu.Lock()
	link := r.m.actors["ref"].view.Load().session.link.(stdioLink)
	r.m.mu.Unlock()
	tree := link.conn.process.p.Running()
	if len(tree) < 2 {
		t.Logf("npx has become the server itself: %v", tree)
	}
	if res := r.call("mcp:ref:echo", `{"message":"hi"}`); res.Failed {
		t.Errorf("%+v", res)
	}
	r.call("mcp_disconnect", `{"name":"ref"}`)
	for _, p := range tree {
		waitGone(t, p.Pid)
	}
}

// TestEverythingShowsNoKeys: the server's own tool lists its real environment. // S27
func TestEverythingShowsNoKeys(t *testing.T) {
	path := reference(t, "everything")
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN"} {
		t.Setenv(name, "key-of-"+name)
	}
	t.Setenv("WANTED", "wanted-value")
	r := newManagerRig(t, map[string]any{"ref": map[string]any{"command": path, "inheritEnv": []string{"WANTED"}, "env": map[string]string{"GIVEN": "given-value"}}}, nil)
	r.m.Start()
	r.waitState("ref", StateConnected)
	res := r.call("mcp:ref:get-env", `{}`)
	if res.Failed || strings.Contains(res.Text, "key-of-") || !strings.Contains(res.Text, "wanted-value") || !strings.Contains(res.Text, "given-value") {
		t.Errorf("%+v", res)
	}
}

func waitForLong(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatal("not within 90 s")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

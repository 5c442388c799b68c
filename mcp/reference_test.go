package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/tools"
)

// referenceServers is the folder that scripts/install-mcp-servers fills.
const referenceServers = "JCODE_TEST_MCP_SERVERS"

// reference returns the command of a reference server, and skips the test if it is not installed.
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

func TestReferenceServers(t *testing.T) {
	t.Parallel()
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

// popularServers are servers in common use, with what each needs to start without a network and
// without a real key. call is a harmless call; it is empty if every tool needs the network.
var popularServers = map[string]struct {
	args, env  []string
	tools      int
	call, want string
}{
	"mcp-pdf-server":      {args: []string{"--stdio"}, tools: 5, call: "list_pdfs", want: "pdf"},
	"notion-mcp-server":   {env: []string{"NOTION_TOKEN=ntn_none"}, tools: 15},
	"playwright-mcp":      {args: []string{"--headless"}, tools: 15},
	"context7-mcp":        {tools: 2},
	"chrome-devtools-mcp": {args: []string{"--headless"}, tools: 15},
	"figma-developer-mcp": {args: []string{"--stdio", "--figma-api-key=none"}, tools: 1},
	"firecrawl-mcp":       {env: []string{"FIRECRAWL_API_KEY=fc-none"}, tools: 5},
	"tavily-mcp":          {env: []string{"TAVILY_API_KEY=tvly-none"}, tools: 3},
}

// Popular servers connect, list their tools, answer a call and leave no process behind. Two of them
// start together after one approval of the project that defines them.
func TestPopularServers(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(os.Getenv(referenceServers), "node_modules", ".bin")
	names := slices.Sorted(maps.Keys(popularServers))
	for i := 0; i < len(names); i += 2 {
		pair := names[i:min(i+2, len(names))]
		t.Run(strings.Join(pair, "+"), func(t *testing.T) {
			t.Parallel()
			entries := map[string]any{}
			for _, name := range pair {
				if _, err := os.Stat(filepath.Join(bin, name)); os.Getenv(referenceServers) == "" || err != nil {
					t.Logf("%s is not installed: run scripts/install-mcp-servers and set %s", name, referenceServers)
					continue
				}
				c := popularServers[name]
				env := map[string]string{}
				for _, kv := range c.env {
					k, v, _ := strings.Cut(kv, "=")
					env[k] = v
				}
				entries[name] = map[string]any{"command": filepath.Join(bin, name), "args": c.args, "env": env, "connectTimeout": "90s"}
			}
			if len(entries) == 0 {
				t.Skip("none is installed")
			}
			r := newManagerRig(t, nil, nil)
			raw, err := json.Marshal(map[string]any{"mcpServers": entries})
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(r.opt.Paths.ProjectRoot, ".mcp.json"), string(raw))
			r.m.Start()
			pending := r.m.PendingApprovals()
			for _, p := range pending {
				if err := r.opt.Trust.Accept(context.Background(), []tools.TrustItem{{Kind: tools.TrustMCP, Name: p.Name, Hash: p.Hash}}, true); err != nil {
					t.Fatal(err)
				}
			}
			for _, p := range pending {
				if err := r.m.Approve(p.Name, p.Hash, false); err != nil {
					t.Fatal(err)
				}
			}
			for name := range entries {
				c := popularServers[name]
				eventually.Within(t, 90*time.Second, name+" is connected or has failed", func() bool {
					d, err := r.m.Server(name)
					return err == nil && (d.State == StateConnected || d.State == StateFailed)
				})
				d, err := r.m.Server(name)
				if err != nil || d.Tools < c.tools {
					t.Errorf("%s: %s, %d tools: %s", name, d.State, d.Tools, d.Error)
					continue
				}
				if c.call != "" {
					if res := r.call("mcp:"+name+":"+c.call, `{}`); !strings.Contains(strings.ToLower(res.Text), c.want) {
						t.Errorf("%s: %+v", name, res)
					}
				}
				r.call("mcp_disconnect", `{"name":"`+name+`"}`)
				waitGone(t, d.Pid)
			}
		})
	}
}

// TestServerThroughNpxLeavesNoTree checks a server that npx starts as a grandchild. // claude-code#33947, #42881
func TestServerThroughNpxLeavesNoTree(t *testing.T) {
	t.Parallel()
	reference(t, "everything")
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npx is missing")
	}
	r := newManagerRig(t, map[string]any{"ref": map[string]any{"command": npx, "args": []string{"--no-install", "mcp-server-everything"}, "cwd": os.Getenv(referenceServers), "connectTimeout": "60s"}}, nil)
	r.m.Start()
	var d Details
	eventually.Within(t, 90*time.Second, "it is connected", func() bool {
		var err error
		d, err = r.m.Server("ref")
		return err == nil && d.State == StateConnected
	})
	tree := treeOf(d.Pid)
	if len(tree) < 2 {
		t.Logf("npx has become the server itself: %v", tree)
	}
	if res := r.call("mcp:ref:echo", `{"message":"hi"}`); res.Failed {
		t.Errorf("%+v", res)
	}
	r.call("mcp_disconnect", `{"name":"ref"}`)
	for _, p := range tree {
		waitGone(t, p)
	}
}

// treeOf lists a process and its descendants; without /proc, only the process itself.
func treeOf(pid int) []int {
	tree := []int{pid}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return tree
	}
	for word := range strings.FieldsSeq(string(children)) {
		if child, err := strconv.Atoi(word); err == nil {
			tree = append(tree, treeOf(child)...)
		}
	}
	return tree
}

// TestEverythingShowsNoKeys checks the environment of a server, which one of its own tools lists.
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

package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// servedProject is a project whose tools jcode serves to an MCP client.
type servedProject struct {
	t       *testing.T
	dir     string
	home    string
	client  *sdk.ClientSession
	changed chan struct{}
	// answer is what the client's person chooses; asked is what was shown.
	answer string
	asked  chan string
}

// serveProject creates a project with the files and serves it with the arguments.
func serveProject(t *testing.T, files map[string]string, args ...string) *servedProject {
	t.Helper()
	p := &servedProject{t: t, dir: t.TempDir(), home: t.TempDir(), changed: make(chan struct{}, 100), asked: make(chan string, 100)}
	for name, text := range files {
		p.write(name, text)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, append([]string{"mcp", "serve"}, args...)...)
	cmd.Dir, cmd.Stderr = p.dir, os.Stderr
	cmd.Env = append(os.Environ(), "HOME="+p.home, "JCODE_HOME="+p.home)
	client := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { p.changed <- struct{}{} },
		ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			p.asked <- req.Params.Message
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": p.answer}}, nil
		},
	})
	p.client, err = client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.client.Close(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	return p
}

func (p *servedProject) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// tools returns the names of the offered tools.
func (p *servedProject) tools() []string {
	p.t.Helper()
	list, err := p.client.ListTools(p.t.Context(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	return names
}

// announced waits until the client was told that the list changed.
func (p *servedProject) announced(what string) {
	p.t.Helper()
	select {
	case <-p.changed:
	case <-time.After(30 * time.Second):
		p.t.Fatalf("nobody was told: %s", what)
	}
	for len(p.changed) > 0 { // two notifications for one change are fine
		<-p.changed
	}
}

func (p *servedProject) call(name string, args map[string]any) (text string, failed bool) {
	p.t.Helper()
	res, err := p.client.CallTool(p.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	for _, c := range res.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text += c.Text
		}
	}
	return text, res.IsError
}

const helloManifest = `{"description": "A simple tool that returns a greeting.",
	"parameters": [{"name": "name", "type": "string", "description": "The name."}], "permissions": {}}`

func TestLuaToolFoldersAreServedWhileTheyComeAndGo(t *testing.T) {
	t.Parallel()
	p := serveProject(t, map[string]string{
		"mcp_lua/tools/hello_world/mcp_tool.json": helloManifest,
		"mcp_lua/tools/hello_world/main.lua":      `return "Hello, " .. name .. "!"`,
	}, "--trust", "--tools", "lua:*")
	if got := p.tools(); !slices.Equal(got, []string{"hello_world"}) {
		t.Fatalf("%q", got)
	}
	if text, failed := p.call("hello_world", map[string]any{"name": "x"}); failed || text != "Hello, x!" {
		t.Errorf("%q", text)
	}
	if text, failed := p.call("hello_world", nil); !failed || !strings.Contains(text, "missing required argument: name") {
		t.Errorf("%q", text)
	}

	p.write("mcp_lua/tools/counter/main.lua", `state.set("n", (state.get("n") or 0) + 1) return state.get("n")`)
	p.write("mcp_lua/tools/counter/mcp_tool.json", `{"description": "Counts its calls."}`)
	p.announced("a folder came")
	if got := p.tools(); !slices.Contains(got, "counter") {
		t.Errorf("%q", got)
	}
	p.call("counter", nil)
	if text, failed := p.call("counter", nil); failed || text != "2" {
		t.Errorf("state is kept: %q", text)
	}

	p.write("mcp_lua/tools/hello_world/mcp_tool.json", strings.Replace(helloManifest, "A simple tool", "Changed: a tool", 1))
	p.announced("a manifest changed")
	list, err := p.client.ListTools(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(list.Tools, func(t *sdk.Tool) bool { return strings.HasPrefix(t.Description, "Changed: ") }) {
		t.Errorf("the changed description is listed: %v", err)
	}

	if err := os.RemoveAll(filepath.Join(p.dir, "mcp_lua/tools/hello_world")); err != nil {
		t.Fatal(err)
	}
	p.announced("a folder went")
	if got := p.tools(); !slices.Equal(got, []string{"counter"}) {
		t.Errorf("%q", got)
	}
	if text, failed := p.call("hello_world", map[string]any{"name": "x"}); !failed {
		t.Errorf("a tool that is gone answers %q", text)
	}
}

func TestServedLuaAsksTheClientAndShowsTheWholeTool(t *testing.T) {
	t.Parallel()
	source := "-- " + strings.Repeat("a long source is shown to its end; ", 400) + "\nreturn tostring(jcode.write('out.txt', 'x').ok)"
	p := serveProject(t, map[string]string{
		".jcode/lua/tools/writer/mcp_tool.json": `{"description": "d", "permissions": {"intents": ["write"]}}`,
		".jcode/lua/tools/writer/main.lua":      source,
	}, "--trust", "--tools", "writer")
	p.answer = "no"
	if text, failed := p.call("writer", nil); !failed || !strings.Contains(text, "denied") {
		t.Errorf("%q", text)
	}
	if q := <-p.asked; !strings.Contains(q, `"intents": ["write"]`) || !strings.Contains(q, "jcode.write('out.txt', 'x').ok") {
		t.Errorf("the question shows not all: %q", q)
	}
	p.answer = "once"
	if text, failed := p.call("writer", nil); failed || text != "true" {
		t.Errorf("%q", text)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "out.txt")); err != nil {
		t.Error(err)
	}
}

func TestUntrustedLuaIsNotServed(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".jcode/lua/tools/hello/mcp_tool.json": `{"description": "d"}`,
		".jcode/lua/tools/hello/main.lua":      `return "ran"`,
	}
	p := serveProject(t, files, "--tools", "lua:*")
	if got := p.tools(); len(got) != 0 {
		t.Errorf("offered without trust: %q", got)
	}
	if text, failed := p.call("hello", nil); !failed || strings.Contains(text, "ran") {
		t.Errorf("%q", text)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "mcp", "serve", "--tools", "hello")
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.home, "JCODE_HOME="+p.home)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not trusted") || !strings.Contains(string(out), "--trust") {
		t.Errorf("%v %s", err, out)
	}
}

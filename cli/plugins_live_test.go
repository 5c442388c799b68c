//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/lsptest"
	"jcode/internal/testkit/mcptest"
	"jcode/internal/testkit/modeltest"
)

// kit writes a plugin with one part of each kind. The plugin's MCP server logs into the project, where it starts:
// it may write nowhere else.
func kit(t *testing.T) (dir, logName string) {
	t.Helper()
	dir = t.TempDir()
	cmd, logName := mcptest.Server("ok").Logging("")
	server, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"notes": map[string]any{"command": cmd.Path, "args": cmd.Args, "env": cmd.Env}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".claude-plugin/plugin.json":        `{"name": "kit", "version": "1"}`,
		".mcp.json":                         string(server),
		"commands/tidy.md":                  "Tidy the file $ARGUMENTS",
		"skills/house-style/SKILL.md":       "---\nname: house-style\ndescription: How code looks in this house\n---\nTwo blanks.\n",
		"agents/reviewer.md":                "---\nname: reviewer\ndescription: Reads changes with care\ntools: Read\n---\nYou read.\n",
		"hooks/hooks.json":                  `{"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"the kit was here\"}}'"}]}]}}`,
		"lua/tools/kit_hello/main.lua":      `return "hello"`,
		"lua/tools/kit_hello/mcp_tool.json": `{"description": "Says hello"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, logName
}

// offersTool reports whether a request offers a tool whose name contains a string.
func offersTool(r modeltest.Request, part string) bool {
	return slices.ContainsFunc(r.Tools, func(tool modeltest.Tool) bool { return strings.Contains(tool.Name, part) })
}

// TestAPluginIsUsedAsSoonAsItIsThere: within one turn and without a restart, a plugin is added, used in all its
// parts, changed, accepted by an update, switched off and on, and removed.
func TestAPluginIsUsedAsSoonAsItIsThere(t *testing.T) {
	t.Parallel()
	plugin, logName := kit(t)
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	sh := func(format string, args ...any) modeltest.Reply {
		return modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": fmt.Sprintf(format, args...)}))
	}
	c := newChat(
		t,
		sh("%s plugins add %s --yes", exe, plugin),                                                    // 0
		modeltest.Calls(tool("c2", "mcp_connect", map[string]any{"name": "notes"})),                   // 1
		modeltest.Calls(tool("c3", "skill", map[string]any{"name": "house-style"})),                   // 2
		modeltest.Calls(tool("c4", "task", map[string]any{"prompt": "look", "role": "kit:reviewer"})), // 3
		modeltest.Text("I have read it"),                                                              // 4: the agent
		modeltest.Calls(tool("c5", "kit_hello", map[string]any{})),                                    // 5
		sh("echo '# more' >> %s", "$JCODE_HOME/plugins/kit/commands/tidy.md"),                         // 6
		sh("%s plugins update kit --yes", exe),                                                        // 7
		sh("%s plugins disable kit", exe),                                                             // 8
		sh("%s plugins enable kit", exe),                                                              // 9
		sh("%s plugins remove kit", exe),                                                              // 10
		modeltest.Text("done"),                                                                        // 11
	)
	cmd := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), "-p", "--mode", "yolo", "go")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	requests := c.srv.Requests()
	if len(requests) != 12 {
		t.Fatalf("%d requests\n%s", len(requests), out)
	}
	has := func(n int, what string) bool { return strings.Contains(string(requests[n].Raw), what) }
	for n, want := range map[int][]string{
		1:  {"house-style", "How code looks in this house"},
		3:  {"Two blanks."},
		4:  {"You read."},
		5:  {"I have read it"},
		6:  {"hello"},
		7:  {"the kit was here"}, // its hook ran at the call that changed it, and the change is noticed afterwards
		11: {"removed kit"},
	} {
		for _, text := range want {
			if !has(n, text) {
				t.Errorf("request %d does not contain %q", n, text)
			}
		}
	}
	if offersTool(requests[0], "kit_hello") || !offersTool(requests[1], "kit_hello") || !offersTool(requests[2], "notes") {
		t.Error("the tools of the plugin are not offered from the next step on")
	}
	// What a request has offered stays in its list; the model is told that it is gone, and that it is back.
	for n, want := range map[int][2]int{6: {1, 0}, 7: {1, 1}, 8: {2, 1}, 9: {2, 2}, 10: {3, 2}, 11: {3, 3}} {
		come := regexp.MustCompile(`Tools now available: [^."]*kit_hello`).FindAllString(string(requests[n].Raw), -1)
		gone := regexp.MustCompile(`No longer available: [^"]*kit_hello`).FindAllString(string(requests[n].Raw), -1)
		if got := [2]int{len(come), len(gone)}; got != want {
			t.Errorf("request %d says %d times that the tool came and went, want %d", n, got, want)
		}
	}
	if gone := regexp.MustCompile(`No longer available: [^"]*notes`); gone.Match(requests[6].Raw) || !gone.Match(requests[7].Raw) {
		t.Error("nothing says that the server's tools are gone once a byte differs")
	}
	for _, line := range []string{"plugins: kit is in use", "plugin kit is not used: its files have changed", "plugins: kit is no longer used", "mcp server notes: "} {
		if !strings.Contains(string(out), line) && !has(1, line) {
			t.Errorf("nothing says %q:\n%s", line, out)
		}
	}
	events, err := mcptest.ReadLog(filepath.Join(c.dir, logName))
	if err != nil || len(events) == 0 {
		t.Fatalf("the log of the plugin's server has %d events: %v", len(events), err)
	}
	nobodyKnows(t, c.home)
	left := ""
	_ = filepath.WalkDir(c.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.Contains(path, "kit") || strings.Contains(path, "notes")) {
			left += path + "\n"
		}
		return nil
	})
	if left != "" {
		t.Errorf("left behind:\n%s", left)
	}
}

// TestALanguageServerOfAPluginIsUsed: it serves the files that its entry names, after the same question as any
// other server.
func TestALanguageServerOfAPluginIsUsed(t *testing.T) {
	t.Parallel()
	plugin := t.TempDir()
	argv, env := lsptest.Command(lsptest.Good)
	entry, err := json.Marshal(map[string]any{"fake": map[string]any{"command": argv[0], "args": argv[1:], "env": env, "extensionToLanguage": map[string]string{".fake": "fake"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"jcode-plugin.json": `{"name": "lang"}`, ".lsp.json": string(entry)} {
		if err := os.WriteFile(filepath.Join(plugin, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := newChat(t, modeltest.Calls(tool("c1", "write", map[string]any{"path": "a.fake", "content": "error broken_thing\n"})), modeltest.Text("done"))
	for _, args := range [][]string{{"plugins", "add", plugin, "--yes"}, {"-p", "--trust", "--mode", "yolo", "go"}} {
		if out, err := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if raw := string(c.srv.Requests()[1].Raw); !strings.Contains(raw, "a.fake:1:7 broken_thing") {
		t.Errorf("the result does not end with the server's error:\n%s", raw[max(0, len(raw)-1500):])
	}
}

package lua

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/lua/manifest"
	"jcode/tools"
)

// The eight acceptance tests of tool folders, with the manifests and scripts of the format's first description.

const helloManifest = `{
     "description": "A simple tool that returns a greeting.",
     "parameters": [
       {
         "name": "name",
         "type": "string",
         "description": "The name to include in the greeting."
       }
     ],
     "permissions": {}
   }`

const helloScript = `-- This script receives parameters as global variables.
   -- The 'name' parameter from the manifest is available as a global 'name'.
   
   return "Hello, " .. name .. "!"
`

func folderTool(t *testing.T, h *house, name, declared, source string) string {
	t.Helper()
	dir := filepath.Join(h.dir, "mcp_lua", "tools", name)
	writeFile(t, filepath.Join(dir, manifest.MainName), source)
	writeFile(t, filepath.Join(dir, manifest.FileName), declared)
	return dir
}

func wantText(t *testing.T, res tools.Result, want string) {
	t.Helper()
	if res.Failed || res.Text != want {
		t.Fatalf("failed %v, %q; want %q", res.Failed, res.Text, want)
	}
}

func wantFailure(t *testing.T, res tools.Result, kind tools.ErrorKind, part string) {
	t.Helper()
	if !res.Failed || res.Kind != kind || !strings.Contains(res.Text, part) {
		t.Fatalf("failed %v, kind %q, %q; want %q with %q", res.Failed, res.Kind, res.Text, kind, part)
	}
}

func TestToolFolder1_hello_world(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	folderTool(t, h, "hello_world", helloManifest, helloScript)
	h.start()
	wantText(t, h.call("hello_world", map[string]any{"name": "x"}), "Hello, x!")
	if qs := h.asker.asked(); len(qs) != 0 {
		t.Errorf("asked %d times", len(qs))
	}
	wantFailure(t, h.call("hello_world", map[string]any{}), tools.KindInvalidArgs, "missing required argument: name")
}

func TestToolFolder2_half_folders_are_skipped(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	writeFile(t, filepath.Join(h.dir, "mcp_lua/tools/a/"+manifest.FileName), simple)
	writeFile(t, filepath.Join(h.dir, "mcp_lua/tools/b/"+manifest.MainName), "return 1")
	writeFile(t, filepath.Join(h.dir, "mcp_lua/tools/.hidden/"+manifest.MainName), "return 1")
	writeFile(t, filepath.Join(h.dir, "mcp_lua/tools/.hidden/"+manifest.FileName), simple)
	writeFile(t, filepath.Join(h.dir, "mcp_lua/tools/deep/er/"+manifest.MainName), "return 1")
	writeFile(t, filepath.Join(h.dir, "mcp_lua/tools/deep/er/"+manifest.FileName), simple)
	h.start()
	if n := len(h.names()); n != 8 || h.told.all() != "" {
		t.Errorf("%v, notices %q", h.names(), h.told.all())
	}
}

func TestToolFolder3_new_folder_is_found_without_restart(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	folderTool(t, h, "hello_world", helloManifest, helloScript)
	eventually.True(t, "the tool is there", func() bool { return h.has("hello_world") })
	wantText(t, h.call("hello_world", map[string]any{"name": "y"}), "Hello, y!")
}

func TestToolFolder4_changed_script_takes_effect_without_restart(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := folderTool(t, h, "hello_world", helloManifest, helloScript)
	h.start()
	wantText(t, h.call("hello_world", map[string]any{"name": "x"}), "Hello, x!")
	writeFile(t, filepath.Join(dir, manifest.MainName), `return "Bye, " .. name`)
	wantText(t, h.call("hello_world", map[string]any{"name": "x"}), "Bye, x")
}

// the example of the format's README, manifest comment included
const exampleManifest = `// mcp_lua/tools/my_new_tool/mcp_tool.json
    {
      "description": "A description of what my_new_tool does.",
      "parameters": [
        {
          "name": "input_param",
          "type": "string",
          "description": "An input parameter for the tool."
        }
      ],
      "permissions": {
        "network": {
          "allowed_hosts": ["api.example.com"]
        }
      }
    }`

const exampleScript = `-- mcp_lua/tools/my_new_tool/main.lua
    
    -- Parameters from the manifest are available as global variables.
    print("Executing my_new_tool with input: " .. input_param)
    
    -- Use the state object to persist data.
    -- Keys are scoped to the tool's name.
    state.set("last_input", input_param)
    
    -- Use the http object if you have permissions.
    -- local response = http.get("https://api.example.com/data")
    
    -- The value returned from the script is the result of the tool.
    return "Processed: " .. input_param
`

func TestToolFolder5_state_round_trips(t *testing.T) {
	t.Parallel()
	state := &memState{}
	dir := realDir(t)
	run := func(input string) string {
		h := build(t, setup{state: state, dir: dir})
		h.asker.says(tools.AnswerOnce)
		folderTool(t, h, "my_new_tool", exampleManifest, exampleScript)
		folderTool(t, h, "last", simple, `return state.get("last_input") or "none"`)
		folderTool(t, h, "my_last", simple, `state.set("t", {1, {a = true}}) local t = state.get("t") state.set("gone", 1) state.set("gone", nil) return json.encode({t, state.keys()})`)
		h.start()
		wantText(t, h.call("my_new_tool", map[string]any{"input_param": input}), "Processed: "+input)
		wantText(t, h.call("last", map[string]any{}), "none") // another tool never sees the key
		wantText(t, h.call("my_last", map[string]any{}), `[[1,{"a":true}],["t"]]`)
		scope := ""
		for _, s := range h.room.slots() {
			if s.name == "my_new_tool" {
				scope = h.room.around.stateOf(s)
			}
		}
		h.room.Close()
		raw, _, _ := state.Get(context.Background(), scope, "last_input")
		return string(raw)
	}
	if got := run("one"); got != `"one"` {
		t.Error(got)
	}
	// The value survives a restart: the script below reads what the previous run wrote.
	h := build(t, setup{state: state, dir: dir})
	h.asker.says(tools.AnswerOnce)
	folderTool(t, h, "my_new_tool", exampleManifest, `return state.get("last_input") .. " again"`)
	h.start()
	wantText(t, h.call("my_new_tool", map[string]any{"input_param": "x"}), "one again")
}

func TestToolFolder6_dangerous_globals_are_unusable(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	folderTool(t, h, "probe", simple, `
local out = {}
for name, v in next, {os = os or 0, io = io or 0, require = require or 0, load = load or 0, loadstring = loadstring or 0,
  loadfile = loadfile or 0, dofile = dofile or 0, debug = debug or 0, package = package or 0, getfenv = getfenv or 0, hidden = _G.os or _G.io or 0} do
  if v ~= 0 then out[#out + 1] = name end
end
return table.concat(out, ",")`)
	h.start()
	wantText(t, h.call("probe", map[string]any{}), "")
}

func TestToolFolder7_http_needs_permission_and_a_listed_host(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://localhost:1/", http.StatusFound)
			return
		}
		w.Header().Set("X-Test", "1")
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "%s %s", r.Method, r.Header.Get("Content-Type"))
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	script := func(call string) string {
		return "local r = " + call + ` return (tostring(r.ok) .. " " .. tostring(r.status) .. " " .. tostring(r.body) .. " " .. tostring(r.error_kind) .. " " .. tostring(r.error))`
	}
	h.tool("none", simple, script(`http.get("`+srv.URL+`")`))
	listed := `{"description": "d", "permissions": {"network": {"allowed_hosts": ["` + host + `"]}}}`
	h.tool("listed", listed, script(`http.get("`+srv.URL+`")`))
	h.tool("post", listed, script(`http.request("POST", "`+srv.URL+`", {body = "{}"})`))
	h.tool("post_ok", `{"description": "d", "permissions": {"network": {"allowed_hosts": ["`+host+`"], "methods": ["POST"]}}}`, script(`http.request("post", "`+srv.URL+`", {body = "{}"})`))
	h.tool("no_port", `{"description": "d", "permissions": {"network": {"allowed_hosts": ["127.0.0.1"]}}}`, script(`http.get("`+srv.URL+`")`))
	h.tool("other", listed, script(`http.get("http://example.invalid/")`))
	h.tool("away", listed, script(`http.get("`+srv.URL+`/away")`))
	h.tool("wild", `{"description": "d", "permissions": {"network": {"allowed_hosts": ["*.0.0.1:`+host[strings.LastIndexByte(host, ':')+1:]+`"]}}}`, script(`http.get("`+srv.URL+`")`))
	h.tool("scheme", listed, script(`http.get("file:///etc/passwd")`))
	h.start()
	for name, want := range map[string]string{
		"none":    "false nil nil permission_denied permission denied: declare permissions.network in mcp_tool.json",
		"listed":  "true 418 GET  nil nil",
		"post":    "false nil nil permission_denied permission denied: declare permissions.network.methods in mcp_tool.json with method POST",
		"post_ok": "true 418 POST application/json nil nil",
		"other":   `false nil nil permission_denied permission denied: declare permissions.network.allowed_hosts in mcp_tool.json with host "example.invalid"`,
		"no_port": `false nil nil permission_denied permission denied: declare permissions.network.allowed_hosts in mcp_tool.json with host "` + host + `": "127.0.0.1" without a port means port 80 of http and 443 of https`,
		"away":    `false nil nil permission_denied permission denied: declare permissions.network.allowed_hosts in mcp_tool.json with host "localhost:1"`,
		"scheme":  `false nil nil invalid_url "file:///etc/passwd" is not an http or https URL`,
	} {
		wantText(t, h.call(name, map[string]any{}), want)
	}
	// A wildcard does not list a host by name: the local address is refused when it is dialled.
	if res := h.call("wild", map[string]any{}); !strings.Contains(res.Text, "leads to the local address") {
		t.Error(res.Text)
	}
}

func TestToolFolder8_print_reaches_the_log_not_the_result(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	folderTool(t, h, "my_new_tool", exampleManifest, exampleScript)
	h.start()
	stdout := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	res := h.call("my_new_tool", map[string]any{"input_param": "in"})
	os.Stdout = stdout
	_ = w.Close()
	var leaked [100]byte
	if n, _ := r.Read(leaked[:]); n > 0 {
		t.Errorf("on stdout: %q", leaked[:n])
	}
	wantText(t, res, "Processed: in")
	lines := h.room.Log("my_new_tool")
	if len(lines) == 0 || lines[0].Text != "Executing my_new_tool with input: in" || lines[0].Level != "print" {
		t.Errorf("%+v", lines)
	}
}

package lua

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/lua/wire"
	"jcode/tools"
)

// The examples of the manual, word for word.

const todoCountManifest = `{ "description": "Count TODO and FIXME markers under a path and the change since the last run.",
  "parameters": [ { "name": "path", "type": "string", "description": "File or folder", "required": false, "default": "." } ],
  "read_only": true, "timeout_ms": 5000, "permissions": { "intents": ["grep"] } }
`

const todoCountScript = `local found = jcode.dispatch("grep", { pattern = "TODO|FIXME", path = path })
if not found.ok then
  return { ok = false, error = "scan failed: " .. found.error }
end
local key = "count:" .. path
local before = state.get(key)
state.set(key, found.count)
local head = string.format("%d markers under %s", found.count, path)
if before ~= nil then
  head = head .. string.format(" (%+d since the last run)", found.count - before)
end
return head
`

const exampleStartup = `function startup()
  -- A stdio server: jcode spawns it, retries with backoff, and this line returns at once.
  tools.mcp_add("files", { command = "mcp-files", args = { jcode.pwd } })
  -- An HTTP server: the target is a URL string.
  tools.mcp_add("docs", "http://127.0.0.1:8900/mcp")
  local reg = jcode.register_intent({
    name = "release_notes", description = "List commit subjects since a tag, grouped by their prefix.",
    params = { since = { type = "string", description = "Tag to start from", required = true } },
    read_only = true, timeout_ms = 10000,
    handler = function(args)
      if args.since:sub(1, 1) == "-" then
        return { success = false, error = "since must be a tag, not a flag" }
      end
      local log = jcode.exec({ "git", "log", "--format=%s", args.since .. "..HEAD" })
      if not log.ok then return { success = false, error = log.error } end
      local groups = {}
      for subject in log.stdout:gmatch("[^\n]+") do
        local kind = subject:match("^(%a+):") or "other"
        groups[kind] = groups[kind] or {}
        table.insert(groups[kind], subject)
      end
      return { success = true, data = groups }
    end,
  })
  if not reg.ok then print("release_notes: " .. reg.error) end
end
`

const notesPlugin = `local notes = {
  id = "notes",                                     -- component name: lua::notes
  permissions = { events = { "session_start" } },   -- the ceiling for everything below
}
function notes.init()
  jcode.register_intent({
    name = "note_add", description = "Remember one line for later sessions.",
    component = "lua::notes", operation = "add",
    params = { text = { type = "string", description = "The line", required = true } },
  })
  jcode.register_intent({
    name = "note_list", description = "List remembered lines.",
    component = "lua::notes", operation = "list", read_only = true,
  })
  jcode.command("notes", { description = "Show remembered lines",
    run = function() return table.concat(state.get("all") or {}, "\n") end,
  })
  jcode.on("session_start", function(ev)
    local n = #(state.get("all") or {})
    if n > 0 then jcode.log("info", n .. " notes in " .. ev.cwd) end
  end)
end
function notes.on_request(req)
  local all = state.get("all") or {}
  if req.operation == "add" then
    all[#all + 1] = req.payload.text
    state.set("all", all)
    return { success = true, data = { count = #all } }
  end
  if req.operation == "list" then return { success = true, data = all } end
  return { success = false, error = "unknown operation: " .. req.operation }
end
return notes
`

func TestExampleTodoCount(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	h.tool("todo_count", todoCountManifest, todoCountScript)
	writeFile(t, filepath.Join(h.dir, "a.go"), "// TODO one\n// FIXME two\n")
	h.start()
	wantText(t, h.call("todo_count", map[string]any{"path": "a.go"}), "2 markers under a.go")
	writeFile(t, filepath.Join(h.dir, "a.go"), "// TODO one\n")
	wantText(t, h.call("todo_count", map[string]any{"path": "a.go"}), "1 markers under a.go (-1 since the last run)")
	if qs := h.asker.asked(); len(qs) != 1 || !strings.Contains(strings.Join(qs[0].Details, "\n"), "may call the tools: grep") || !strings.Contains(qs[0].Diff, "+local found") {
		t.Errorf("%+v", qs)
	}
}

func TestExampleStartup(t *testing.T) {
	t.Parallel()
	m := &manager{}
	h := build(t, setup{opts: Options{MCP: m}})
	h.startupScript(exampleStartup)
	h.start()
	if l := m.List(); len(l) != 2 || m.targets["files"].Command != "mcp-files" || m.targets["files"].Args[0] != h.dir || m.targets["docs"].URL == "" {
		t.Errorf("%+v %+v", l, m.targets)
	}
	if !h.has("release_notes") {
		t.Fatalf("%v, %s", h.names(), h.told.all())
	}
	wantFailure(t, h.call("release_notes", map[string]any{"since": "--all"}), tools.KindRPC, "since must be a tag, not a flag")
	// The component runs without a question; its command is judged like any other.
	res := h.call("release_notes", map[string]any{"since": "v1; touch evil"})
	if !res.Failed {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "evil")); err == nil {
		t.Error("a word was taken for shell text")
	}
	if it := h.room.Panel().Items[0]; it.Kind != "startup" || it.State != "ok" || it.Intents[0] != "release_notes" {
		t.Errorf("%+v", it)
	}
}

func TestExampleNotesPlugin(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	h.plugin("notes", notesPlugin)
	h.start()
	eventually.True(t, "the plugin is approved and loaded", func() bool { return h.has("note_add") && h.has("note_list") })
	wantText(t, h.call("note_add", map[string]any{"text": "one"}), `{"count":1}`)
	wantText(t, h.call("note_add", map[string]any{"text": "two"}), `{"count":2}`)
	wantText(t, h.call("note_list", none()), `["one","two"]`)
	h.room.SessionStart("s", "/where", false)
	eventually.True(t, "the event was logged", func() bool {
		for _, l := range h.room.Log("notes") {
			if l.Text == "2 notes in /where" && l.Level == "info" {
				return true
			}
		}
		return false
	})
	cmds := h.room.List()
	if len(cmds) != 1 || cmds[0].Name != "notes" || cmds[0].Origin != "lua plugin notes" {
		t.Fatalf("%+v", cmds)
	}
	out, err := cmds[0].Run(context.Background(), "")
	if err != nil || out.Notice != "one\ntwo" {
		t.Errorf("%+v %v", out, err)
	}
	o := h.table(`return jcode.dispatch("note_list")`, nil)
	if data, _ := o.Get("data").([]any); !o.Bool("ok") || len(data) != 2 || o.Get("duration_ms") == nil {
		t.Errorf("%+v", o)
	}
}

func TestPluginBodyHasNoRights(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.plugin("p", `
local r = jcode.read("x")
print(r.ok, r.error_kind, r.error)
print(pcall(state.get, "k"))
print(jcode.register_intent({name = "n", description = "d", component = "lua::p"}).error_kind)
print(jcode.request("lua::x", "op").error)
return {id = "p"}`)
	h.start()
	var lines []string
	for _, l := range h.room.Log("p") {
		lines = append(lines, l.Text)
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{
		"false\tpermission_denied\tpermission denied: a plugin has no rights before init()", "false\tp.lua:4: permission denied", "\npermission_denied", "permission denied: a plugin has no rights",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

func TestPluginFaults(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	h.plugin("other", `return {id = "wrong"}`)
	h.plugin("notable", `return 5`)
	h.plugin("badkey", `return {id = "badkey", permissions = {netwrok = {}}}`)
	h.plugin("syntax", "return {\n\n")
	h.plugin("badinit", `return {id = "badinit", init = function() error("no") end}`)
	h.plugin("slow", `return {id = "slow", init = function() while true do end end}`)
	h.plugin("good", `return {id = "good", init = function() jcode.register_intent({name = "good_one", description = "d", handler = function() return {success = true, data = "fine"} end, read_only = true}) end}`)
	h.start()
	for _, want := range []string{
		`other.lua: id is "wrong", but the file is named "other"`, "notable.lua: a plugin must return a table", "unknown key permissions.netwrok",
		"syntax.lua:1: at the end of the file", "badinit.lua:1: no", "lua plugin slow: ",
	} {
		if !strings.Contains(h.told.all(), want) {
			t.Errorf("no %q in\n%s", want, h.told.all())
		}
	}
	wantText(t, h.call("good_one", none()), "fine")
	for _, it := range h.room.Panel().Items {
		if want := map[string]string{"good": "ok"}[it.Name]; want == "" && it.State != "load error" || want != "" && it.State != want {
			t.Errorf("%+v", it)
		}
	}
}

func TestPluginReloadSwapsAndKeepsTheOldOne(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	intent := func(name, text string) string {
		return `jcode.register_intent({name = "` + name + `", description = "d", read_only = true, handler = function() return {success = true, data = "` + text + `"} end})`
	}
	path := h.plugin("p", `return {id = "p", init = function() `+intent("a", "v1")+` end, shutdown = function() state.set("bye", true) end}`)
	h.start()
	wantText(t, h.call("a", none()), "v1")
	writeFile(t, path, `return {id = "p", init = function() `+intent("a", "v2")+intent("b", "new")+` end}`)
	eventually.True(t, "the new version is live", func() bool { return h.has("b") })
	wantText(t, h.call("a", none()), "v2")
	eventually.True(t, "the old one said goodbye", func() bool {
		_, ok, _ := h.state.Get(context.Background(), "project-proj/plugin:p", "bye")
		return ok
	})
	writeFile(t, path, `return {id = "p", init = function() error("broken") end}`)
	eventually.True(t, "the fault is told", func() bool { return h.told.count("p.lua:1: broken") == 1 })
	wantText(t, h.call("a", none()), "v2")
	must(t, os.Remove(path))
	eventually.True(t, "it is gone", func() bool { return !h.has("a") })
	wantFailure(t, h.call("a", none()), tools.KindUnknown, "(removed)")
}

func TestPluginFoldersRequireTheirOwnFiles(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := filepath.Join(h.dir, ".jcode/lua/plugins/big")
	writeFile(t, filepath.Join(dir, "util/text.lua"), `return {shout = function(s) return s:upper() .. "!" end}`)
	writeFile(t, filepath.Join(dir, "init.lua"), `
local text = require("util.text")
assert(text == require("util.text"))
local ok, why = pcall(require, "os")
return {id = "big", init = function()
  jcode.register_intent({name = "shout", description = "d", read_only = true, params = {s = {required = true}},
    handler = function(args) return {success = true, data = text.shout(args.s) .. " " .. why} end})
end}`)
	h.start()
	if res := h.call("shout", map[string]any{"s": "hey"}); !strings.HasPrefix(res.Text, "HEY! big/init.lua:4: module 'os' not found") {
		t.Errorf("%+v %s", res, h.told.all())
	}
	writeFile(t, filepath.Join(dir, "util/text.lua"), `return {shout = function(s) return s end}`)
	eventually.True(t, "the module is live", func() bool { return strings.HasPrefix(h.call("shout", map[string]any{"s": "hey"}).Text, "hey ") })
}

func TestAComponentIsBusyForCallsThatComeBackToIt(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.plugin("p", `return {id = "p", permissions = {capabilities = {"LUA"}}, init = function()
  jcode.register_intent({name = "again", description = "d", read_only = true, handler = function()
    local r = jcode.dispatch("back", {})
    return {success = true, data = r.data}
  end})
end}`)
	h.plugin("q", `return {id = "q", permissions = {capabilities = {"LUA"}}, init = function()
  jcode.register_intent({name = "back", description = "d", read_only = true, handler = function()
    local r = jcode.dispatch("again", {})
    return {success = true, data = r.error .. " / " .. r.error_kind .. " / " .. jcode.request("lua::p", "again").error}
  end})
end}`)
	h.start()
	eventually.True(t, "the plugin is loaded", func() bool { return h.has("again") && h.has("back") })
	busy := "component lua::p is busy: it waits for this very call"
	wantText(t, h.call("again", none()), busy+" / busy / "+busy)
}

func TestForeignComponentsAreRefusedOrDead(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.startupScript(`
print(jcode.register_intent({name = "steal", description = "d", component = "lua::late", operation = "op", read_only = true}).ok)
`)
	h.plugin("late", `return {id = "late", init = function()
  print(jcode.register_intent({name = "theft", description = "d", component = "lua::startup"}).error)
end, on_request = function() return {success = true, data = "secret"} end}`)
	h.start()
	wantFailure(t, h.call("steal", none()), tools.KindRPC, "component RPC failed: lua::late::op")
	if l := h.room.Log("late"); len(l) == 0 || !strings.Contains(l[0].Text, "component lua::startup belongs to another script") {
		t.Errorf("%+v", l)
	}
	h.wantLua(`return json.encode(jcode.request("lua::late", "op"))`, `{"data":"secret","success":true}`)
	h.wantLua(`return json.encode(jcode.request("lua::nobody", "op"))`, `{"error":"component RPC failed: lua::nobody::op","success":false}`)
}

func TestRequestIsGatedAsTheStrictestIntent(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.plugin("p", `return {id = "p", init = function()
  jcode.register_intent({name = "look", description = "d", component = "lua::p", operation = "look", read_only = true})
  jcode.register_intent({name = "change", description = "d", component = "lua::p", operation = "change"})
end, on_request = function(req) return {success = true, data = req.operation .. " from " .. req.from} end}`)
	h.start()
	h.wantLua(`return jcode.request("lua::p", "look").data`, "look from test")
	if n := len(h.asker.asked()); n != 0 {
		t.Errorf("asked %d times for a read-only operation", n)
	}
	for _, op := range []string{"change", "other"} {
		if got := h.lua(`return jcode.request("lua::p", "` + op + `").error`); !strings.Contains(got, "nobody to ask") {
			t.Errorf("%s: %s", op, got)
		}
	}
	h.asker.says(tools.AnswerOnce)
	h.wantLua(`return jcode.request("lua::p", "change").data`, "change from test")
	h.wantLua(`return jcode.dispatch("change").data`, "change from test")
	before := len(h.asker.asked())
	// A wrapper around the original function uses the dispatch's clearance: nobody is asked twice.
	h.wantLua(`local own = jcode.request jcode.request = function(...) return own(...) end return jcode.dispatch("change").data`, "change from test")
	if n := len(h.asker.asked()) - before; n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// What replaces jcode.request takes the requests to components, not the calls of the script's own functions.
func TestAHandlerAnswersItsScriptThatHasReplacedRequest(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.plugin("other", `return {id = "other", init = function()
  jcode.register_intent({name = "theirs", description = "d", read_only = true, handler = function() return {success = true, data = "the other's"} end})
end}`)
	h.plugin("p", `return {id = "p", permissions = {capabilities = {"LUA"}}, init = function()
  jcode.register_intent({name = "own", description = "d", read_only = true, handler = function(args) return {success = true, data = "handled " .. args.n} end})
  jcode.register_intent({name = "far", description = "d", component = "lua::p", operation = "far", read_only = true})
  jcode.request = function(fqn, operation) return {success = true, data = "replaced " .. fqn .. " " .. operation} end
  jcode.register_intent({name = "all", description = "d", read_only = true, handler = function()
    return {success = true, data = jcode.dispatch("own", {n = 7}).data .. ", " .. jcode.dispatch("far").data .. ", " .. jcode.dispatch("theirs").data}
  end})
end}`)
	h.start()
	eventually.True(t, "the plugins are loaded", func() bool { return h.has("all") && h.has("theirs") })
	wantText(t, h.call("all", none()), "handled 7, replaced lua::p far, replaced lua::other theirs")
}

func TestEventsSeeEditAndRefuse(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	h.plugin("guard", `return {id = "guard", permissions = {events = {"tool_call", "tool_result", "prompt", "turn_end", "mcp_state"}}, init = function()
  print(jcode.on("nonsense", print).error)
  print(jcode.on("session_start", print).error)
  jcode.on("tool_call", function(ev)
    if ev.name == "glob" then return {refuse = "no globbing, " .. ev.origin} end
    if ev.name == "read" and ev.args.path == "a" then return {args = {path = "b"}} end
    if ev.name == "mkdir" then while true do end end
    if ev.name == "grep" then local r = jcode.read("x") error(r.error) end
  end)
  jcode.on("tool_result", function(ev) print("result", ev.name, ev.ok, ev.error or "", #ev.text > 0) end)
  jcode.on("prompt", function(ev) print("prompt", ev.text) end)
  jcode.on("turn_end", function(ev) print("turn", ev.turn, ev.tool_calls, ev.stopped_by) end)
  jcode.on("mcp_state", function(ev) print("mcp", ev.name, ev.state) end)
end}`)
	h.start()
	eventually.True(t, "the plugin listens", func() bool { return len(h.room.handlers("tool_call")) == 1 })
	writeFile(t, filepath.Join(h.dir, "b"), "text of b")
	wantFailure(t, h.call("glob", map[string]any{"pattern": "*"}), tools.KindDenied, "refused by plugin guard: no globbing, model")
	res := h.call("read", map[string]any{"path": "a"})
	if m, _ := res.Data.(map[string]any); res.Failed || m["content"] != "text of b" {
		t.Errorf("%+v", res)
	}
	if res := h.call("mkdir", map[string]any{"path": "made"}); res.Failed {
		t.Errorf("a handler that hangs stopped the call: %+v", res)
	}
	if res := h.call("grep", map[string]any{"pattern": "x"}); res.Failed {
		t.Errorf("a handler that fails stopped the call: %+v", res)
	}
	h.room.Prompt("hello")
	h.room.TurnEnd(3, "done")
	h.room.MCPState(MCPStatus{Name: "s", State: "connected"})
	log := func() string {
		var lines []string
		for _, l := range h.room.Log("guard") {
			lines = append(lines, l.Text)
		}
		return strings.Join(lines, "\n")
	}
	for _, want := range []string{"unknown event: nonsense", "declare permissions.events", "prompt\thello", "turn\t3\t4\tdone", "mcp\ts\tconnected", "result\tread\ttrue"} {
		eventually.True(t, want, func() bool { return strings.Contains(log(), want) })
	}
	if !strings.Contains(h.told.all(), "not available inside an event handler") || !strings.Contains(h.told.all(), "guard: tool_call: ") {
		t.Error(h.told.all())
	}
}

func TestCommandsReturnWhatTheContractSays(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	h.startupScript(`
jcode.command("show", {description = "d", args = "<x>", run = function(text) return "got " .. text end})
jcode.command("draft", {run = function(text) return {prompt = "do " .. text} end})
jcode.command("fails", {run = function() return {ok = false, error = "no luck"} end})
jcode.command("quiet", {run = function() end})
jcode.command("raises", {run = function() error("bang") end})
print(jcode.command("Bad Name", {run = print}).error)
print(jcode.command("show", {run = print}).error)
print(pcall(jcode.command, "x", {}))
print(jcode.command("quit", {run = print}).error)
`)
	h.room.around.opts.CommandTaken = func(name string) bool { return name == "quit" }
	h.start()
	run := func(name string) (string, string) {
		for _, c := range h.room.List() {
			if c.Name == name {
				out, err := c.Run(context.Background(), "it")
				if err != nil {
					return "", err.Error()
				}
				return out.Notice + "|" + out.Draft, ""
			}
		}
		return "", "absent"
	}
	for name, want := range map[string][2]string{
		"show": {"got it|", ""}, "draft": {"|do it", ""}, "fails": {"", "/fails: no luck"}, "quiet": {"|", ""}, "raises": {"", "/raises: startup.lua:6: bang"},
	} {
		if out, err := run(name); out != want[0] || err != want[1] {
			t.Errorf("%s: %q %q", name, out, err)
		}
	}
	l := h.room.Log("startup")
	if len(l) < 4 || !strings.Contains(l[0].Text, "must match") || !strings.Contains(l[1].Text, "already registered") || !strings.Contains(l[2].Text, "'run' is required") || !strings.Contains(l[3].Text, "already registered by jcode") {
		t.Errorf("%+v", l)
	}
}

func TestStartupFaultsAreWarnings(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"\nerror('x')":                         "warn: startup.lua: startup.lua:2: x",
		"startup = 5":                          "warn: startup.lua: startup is a number, not a function",
		"x = = 1":                              "warn: startup.lua: startup.lua:1: near '='",
		"function startup()\n nil_value() end": "warn: startup.lua: startup.lua:2:",
	} {
		h := build(t, setup{})
		h.startupScript(`jcode.register_intent({name = "early", description = "d", handler = function() return {success = true, data = "alive"} end, read_only = true}) ` + source)
		h.start()
		if !strings.Contains(h.told.all(), want) {
			t.Errorf("%q: %s", source, h.told.all())
		}
		if strings.HasPrefix(source, "x =") {
			continue
		}
		if !h.has("early") {
			t.Errorf("%q: what was registered before the error is gone", source)
		}
	}
}

func TestStartupCanBeReloaded(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.startupScript(`jcode.register_intent({name = "one", description = "d", handler = print})`)
	h.start()
	if !h.has("one") {
		t.Fatal(h.told.all())
	}
	h.startupScript(`jcode.register_intent({name = "two", description = "d", handler = print})`)
	must(t, h.room.Reload("startup"))
	eventually.True(t, "the new script runs", func() bool { return h.has("two") && !h.has("one") })
}

func TestDeadPluginHostStartsAgain(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.plugin("p", `local n = 0 return {id = "p", init = function()
  jcode.register_intent({name = "count", description = "d", read_only = true, handler = function() n = n + 1 return {success = true, data = n} end})
  jcode.register_intent({name = "die", description = "d", read_only = true, timeout_ms = 200, handler = function() while true do end end})
end}`)
	h.start()
	wantText(t, h.call("count", none()), "1")
	wantText(t, h.call("count", none()), "2")
	res := h.call("die", none())
	if !strings.HasPrefix(res.Text, "lua plugin:p: ") {
		t.Errorf("%+v", res)
	}
	wantText(t, h.call("count", none()), "1")
	for range maxFailures {
		h.call("die", none())
	}
	wantFailure(t, h.call("count", none()), tools.KindLoad, "disabled after 3 failures")
	must(t, h.room.Reload("p"))
	eventually.True(t, "it is enabled again", func() bool { return h.call("count", none()).Text == "1" })
}

func TestEvalReadsOnly(t *testing.T) {
	t.Parallel()
	h := build(t, setup{opts: Options{Eval: true}})
	h.start()
	writeFile(t, filepath.Join(h.dir, "a"), "text")
	res := h.call("lua_eval", map[string]any{"code": `print("hi", 1) return jcode.read("a").content .. " " .. tostring(jcode.write) .. tostring(state) .. " " .. jcode.dispatch("write", {path="b", content="c"}).error_kind`})
	wantText(t, res, `{"output":"hi\t1\n","result":"text nilnil permission_denied"}`)
	if res := h.call("lua_eval", map[string]any{"code": `while true do end`}); res.Kind != tools.KindLimit {
		t.Errorf("%+v", res)
	}
	res = h.call("lua_eval", map[string]any{"code": `for i = 1, 1e4 do print(("漢"):rep(100)) end`})
	if o, _ := res.Data.(*wire.Object); len(o.String("output")) > maxEvalOutput || len(o.String("output")) < maxEvalOutput-10 {
		t.Errorf("%d bytes captured", len(o.String("output")))
	}
}

const maxEvalOutput = 32 << 10

func TestProgressShowsWhileTheToolRuns(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("p", simple, `jcode.progress("half\nway") return "done"`)
	h.start()
	var got []string
	res := h.disp.Dispatch(context.Background(), tools.Call{ID: "1", Name: "p", Arguments: []byte("{}"), Caller: h.caller(), Progress: func(p tools.Progress) { got = append(got, p.Text) }}).Result
	if res.Text != "done" || len(got) != 1 || got[0] != "half" {
		t.Errorf("%+v %q", res, got)
	}
}

func TestWaitingForAPersonStopsTheClock(t *testing.T) {
	t.Parallel()
	// If the machine is too slow for one limit, the next longer one is tried.
	for _, limit := range []time.Duration{400 * time.Millisecond, 2 * time.Second, 10 * time.Second} {
		h := build(t, setup{})
		h.asker.says(tools.AnswerOnce)
		h.asker.wait = make(chan struct{})
		h.tool("w", fmt.Sprintf(`{"description": "d", "timeout_ms": %d, "permissions": {"intents": ["write"]}}`, limit.Milliseconds()), `local r = jcode.write("f", "x") return tostring(r.ok)`)
		h.start()
		result := make(chan tools.Result, 1)
		go func() { result <- h.call("w", none()) }()
		eventually.True(t, "the tool's question", func() bool { return len(h.asker.asked()) >= 1 || len(result) > 0 })
		wait := time.AfterFunc(2*limit, func() { close(h.asker.wait) })
		res := <-result
		wait.Stop()
		if res.Text == "true" {
			return
		}
		t.Logf("with %v: %+v", limit, res)
	}
	t.Error("the time that a person took was counted")
}

// A plain value that a handler returns is the data of its reply.
func TestWhatAHandlerReturnsIsTheData(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.startupScript(`
local function intent(name, handler)
  jcode.register_intent({name = name, description = "d", read_only = true, handler = handler})
end
intent("text", function() return "a text" end)
intent("number", function() return 42 end)
intent("yes", function() return true end)
intent("list", function() return {1, 2} end)
intent("named", function() return {a = 1} end)
intent("nothing", function() end)
intent("reply", function() return {success = true, data = "in a reply"} end)
intent("bad_reply", function() return {success = false, error = "as said"} end)
intent("message", function() return nil, "a message" end)
intent("not_ok", function() return {ok = false, error = "not ok"} end)
function on_request(req) if req.operation == "plain" then return "plain" end end
jcode.register_intent({name = "plain", description = "d", read_only = true, component = "lua::startup", operation = "plain"})
jcode.register_intent({name = "unserved", description = "d", read_only = true, component = "lua::startup", operation = "other"})
`)
	h.start()
	for name, want := range map[string]string{
		"text": "a text", "number": "42", "yes": "true", "list": "[1,2]", "named": `{"a":1}`, "nothing": "", "reply": "in a reply", "plain": "plain",
	} {
		wantText(t, h.call(name, none()), want)
	}
	for name, want := range map[string]string{
		"bad_reply": "as said", "message": "a message", "not_ok": "not ok", "unserved": "component RPC failed: lua::startup::other",
	} {
		wantFailure(t, h.call(name, none()), tools.KindRPC, want)
	}
}

func TestAScriptMayCallItself(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.startupScript(`
jcode.register_intent({name = "inner", description = "d", read_only = true, params = {n = {type = "integer", required = true}},
  handler = function(args) return "inner " .. args.n end})
jcode.register_intent({name = "outer", description = "d", read_only = true,
  handler = function() local r = jcode.dispatch("inner", {n = 7}) return tostring(r.ok) .. " " .. r.data .. " " .. type(r.duration_ms) end})
jcode.register_intent({name = "asks", description = "d", read_only = true,
  handler = function() local r = jcode.request("lua::startup", "inner", {n = 8}) return r.data end})
jcode.register_intent({name = "wrong", description = "d", read_only = true,
  handler = function() return jcode.dispatch("inner", {}).error end})
jcode.register_intent({name = "endless", description = "d", read_only = true,
  handler = function() local r = jcode.dispatch("endless", {}) return r.error or r.data end})
jcode.register_intent({name = "fails", description = "d", read_only = true, handler = function() error("broken here") end})
jcode.register_intent({name = "caught", description = "d", read_only = true,
  handler = function() local r = jcode.dispatch("fails", {}) return r.error_kind .. ": " .. r.error end})
jcode.register_intent({name = "in_a_coroutine", description = "d", read_only = true,
  handler = function() return coroutine.wrap(function() return jcode.dispatch("inner", {n = 9}).data end)() end})
function startup() started = jcode.dispatch("inner", {n = 1}).data end
jcode.register_intent({name = "at_start", description = "d", read_only = true, handler = function() return started end})
`)
	h.start()
	for name, want := range map[string]string{
		"outer": "true inner 7 number", "asks": "inner 8",
		"endless": "call depth over 4: a script called itself too often", "in_a_coroutine": "inner 9", "at_start": "inner 1",
	} {
		wantText(t, h.call(name, none()), want)
	}
	if res := h.call("wrong", none()); res.Failed || !strings.HasPrefix(res.Text, "missing required argument: n") {
		t.Errorf("%+v", res)
	}
	if res := h.call("caught", none()); res.Failed || !strings.HasPrefix(res.Text, "script_error: startup.lua:") || !strings.HasSuffix(res.Text, "broken here") {
		t.Errorf("%+v", res)
	}
}

// A tool that a script calls does not count as part of that script.
func TestAToolInBetweenIsNotAnsweredByItsCaller(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.tool("between", `{"description": "d", "permissions": {"intents": ["mine"]}}`, `local r = jcode.dispatch("mine", {}) return tostring(r.ok) .. " " .. tostring(r.error)`)
	h.startupScript(`
jcode.register_intent({name = "mine", description = "d", read_only = true, handler = function() return "x" end})
jcode.register_intent({name = "through", description = "d", handler = function() return jcode.dispatch("between", {}).content end})
`)
	h.start()
	wantText(t, h.call("through", none()), "false component lua::startup is busy: it waits for this very call")
}

func TestFunctionsOfOtherScriptsSayWhereTheyAre(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.tool("t", simple, `
local out = {}
for _, r in ipairs({jcode.register_intent({name = "x", description = "d", handler = function() end}), jcode.on("prompt", print), jcode.command("x", {})}) do
  out[#out + 1] = tostring(r.ok) .. " " .. r.error_kind .. " " .. r.error
end
local r = jcode.request("lua::x", "y")
out[#out + 1] = tostring(r.success) .. " " .. r.error
return table.concat(out, "\n")`)
	h.start()
	where := " is for startup.lua and plugins, not for tools"
	wantText(t, h.call("t", none()), "false permission_denied permission denied: jcode.register_intent"+where+
		"\nfalse permission_denied permission denied: jcode.on"+where+"\nfalse permission_denied permission denied: jcode.command"+where+
		"\nfalse permission denied: jcode.request"+where)
}

func TestAPluginLoadedInYoloIsAskedAboutInAStricterMode(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.switchTo(tools.ModeYolo)
	h.plugin("p", `return {id = "p", permissions = {env = {"HOME"}}, init = function()
  jcode.register_intent({name = "a", description = "d", read_only = true, handler = function() return {success = true, data = "ran"} end})
end}`)
	h.start()
	eventually.True(t, "the plugin is loaded", func() bool { return h.has("a") })
	wantText(t, h.call("a", none()), "ran")
	if n := len(h.asker.asked()); n != 0 {
		t.Fatalf("yolo asked %d times", n)
	}

	// The plugin stops at once, and the next scan asks about it.
	h.switchTo(tools.ModeAsk)
	h.asker.says(tools.AnswerSession)
	wantFailure(t, h.call("a", none()), tools.KindDenied, "nobody saw its permissions")
	h.room.Refresh()
	eventually.True(t, "the plugin works again", func() bool { return !h.call("a", none()).Failed })
	loads := func() (n int) {
		for _, q := range h.asker.asked() {
			if q.Title == "Load plugin p" {
				n++
			}
		}
		return n
	}
	h.room.Refresh()
	if loads() != 1 {
		t.Errorf("asked %d times", loads())
	}

	// A refusal removes the plugin, and it is not asked about again.
	h.switchTo(tools.ModeYolo)
	h.plugin("q", `return {id = "q", permissions = {env = {"HOME"}}, init = function()
  jcode.register_intent({name = "b", description = "d", read_only = true, handler = function() return {success = true, data = "ran"} end})
end}`)
	eventually.True(t, "the second is loaded", func() bool { return h.has("b") })
	h.switchTo(tools.ModeAsk)
	h.asker.says(tools.AnswerNo)
	h.room.Refresh()
	eventually.True(t, "it is gone", func() bool { return !h.has("b") })
	asked := len(h.asker.asked())
	h.room.Refresh()
	if n := len(h.asker.asked()); n != asked {
		t.Errorf("asked again: %d questions, were %d", n, asked)
	}
}

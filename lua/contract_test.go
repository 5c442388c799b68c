package lua

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/lua/pool"
	"jcode/tools"
	"jcode/tools/permission"
)

// The contract of the functions that scripts can call, one entry per line of it. Each source
// runs as a tool that may read and write, and returns true if its line holds.
func TestFunctionsDoWhatTheContractSays(t *testing.T) {
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	writeFile(t, filepath.Join(h.dir, "a.txt"), "one\ntwo needle\n")
	writeFile(t, filepath.Join(h.dir, "sub", "b.txt"), "needle\n")
	writeFile(t, filepath.Join(h.dir, "bin"), "x\x00needle\n")
	writeFile(t, filepath.Join(h.dir, "big"), strings.Repeat("x", 11<<20))
	writeFile(t, filepath.Join(h.dir, "hidden", "f"), "x")
	for name, target := range map[string]string{"out": filepath.Dir(h.dir), "link": "hidden/f", "sub/link": "../hidden/f"} {
		if err := os.Symlink(target, filepath.Join(h.dir, name)); err != nil {
			t.Skipf("links can't be made here: %v", err)
		}
	}
	const manifest = `{"description": "d", "timeout_ms": 60000, "permissions": {
		"intents": ["read", "write", "grep", "glob", "mkdir", "remove", "mv", "exec"], "fs": {"read": ["*.txt", "sub/**", "out/**", "link"], "write": ["sub/**"]}, "env": ["PLAIN", "OPENAI_API_KEY"], "exec": [["echo"]]}}`
	t.Setenv("PLAIN", "value")
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	sources := map[string]string{
		// Section 2: results and errors.
		"an unknown intent is a table":  `local r = jcode.dispatch("nope", {}) return r.ok == false and r.error_kind == "unknown_intent" and r.error:find("unknown intent: nope", 1, true) ~= nil`,
		"a wrong type raises":           `local ok, why = pcall(jcode.dispatch, 5) return not ok and type(why) == "string"`,
		"a missing argument is a table": `local r = jcode.dispatch("write", {path = "x"}) return r.error:find("missing required argument: content", 1, true) == 1 and r.error_kind == "invalid_args"`,
		"integers stay integers":        `local r = jcode.grep("needle", "a.txt") return tostring(r.matches[1].line_number) == "2" and json.encode(r.count) == "1"`,
		// Section 5: core intents.
		"read returns exact bytes and size": `local r = jcode.read("a.txt") return r.content == "one\ntwo needle\n" and r.size == 15`,
		"read of a folder is an error":      `local r = jcode.read("sub") return r.ok == false and r.error:find("folder", 1, true) ~= nil`,
		"read of a large file is refused":   `local r = jcode.read("big") return r.ok == false and r.error:find("11", 1, true) ~= nil and r.error:find("10", 1, true) ~= nil`,
		"but not a part of it":              `return jcode.dispatch("read", {path = "big", limit = 1}).ok`,
		"write returns the number of bytes": `local r = jcode.write("new/deep/f", "12345") return r.ok and r.bytes_written == 5 and jcode.read("new/deep/f").content == "12345"`,
		"grep names the file of each match": `local r = jcode.grep("needle") local seen = {} for _, m in ipairs(r.matches) do seen[m.path] = m.line end return seen["a.txt"] == "two needle" and seen["sub/b.txt"] == "needle"`,
		"grep skips binary files":           `for _, m in ipairs(jcode.grep("needle").matches) do if m.path == "bin" then return false end end return true`,
		"grep takes further arguments":      `local r = jcode.grep("needle", ".", {include = "b.*"}) return r.count == 1 and r.matches[1].path == "sub/b.txt"`,
		"a bad pattern is a table":          `local r = jcode.grep("foo(") return r.ok == false and r.error_kind == "invalid_args"`,
		"glob is sorted and inside":         `local r = jcode.glob("**/*.txt") return r.count == 2 and r.files[1] == "a.txt" and r.files[2] == "sub/b.txt"`,
		"glob refuses to climb":             `local r = jcode.glob("../*") return r.ok == false`,
		"remove takes trees, not the root":  `jcode.mkdir("t/u") jcode.write("t/u/f", "x") return jcode.remove("t").ok and jcode.remove(".").ok == false and jcode.remove(jcode.pwd).ok == false`,
		"mv makes folders":                  `jcode.write("m", "x") return jcode.mv("m", "n/o/p").ok and jcode.read("n/o/p").content == "x" and jcode.read("m").ok == false`,
		"exec in argv form":                 `local r = jcode.exec({"echo", "a b", "$HOME"}) return r.ok and r.stdout == "a b $HOME\n" and r.code == 0`,
		"exec of what is not declared":      `local r = jcode.exec({"ls"}) return r.ok == false and r.stdout == "" and r.code == -1 and r.stderr == r.error and r.error:find("permission denied", 1, true) ~= nil`,
		"exec of nothing":                   `local r = jcode.exec({}) return r.ok == false and r.code == -1`,
		"pwd is a string":                   `return type(jcode.pwd) == "string" and jcode.pwd:sub(1, 1) == "/" or jcode.pwd:sub(2, 2) == ":"`,
		"a long result says so":             `local r = jcode.grep("x", "big", {limit = 1}) return r.ok ~= nil`,
		// Section 6: introspection.
		"types of arguments are those of the schema": `for _, s in ipairs(jcode.tool_schemas()) do if s.name == "read" then local by = {} for _, a in ipairs(s.args) do by[a.name] = a end return s.args[1].name == "path" and by.path.type == "string" and by.path.required == true and by.limit.type == "integer?" and by.limit.required == false end end`,
		"parameters are a table":                     `return jcode.intent_defs()[1].parameters.type == "object"`,
		"descriptions are one text":                  `local d = jcode.tool_descriptions() return d:find("grep(pattern, path?", 1, true) ~= nil and d:match("[^\n]+%s*$"):find("jcode.pwd", 1, true) ~= nil`,
		// Section 8: MCP, as a tool sees it.
		"tools may not change servers": `local ok, why = tools.mcp_add("x", "http://127.0.0.1:1") return ok == false and why:find("permission denied", 1, true) ~= nil and tools.mcp_connect == nil`,
		"and see that there are none":  `return #tools.mcp_list() == 0 and tools.mcp_status("x") == nil and jcode.mcp_servers().ok and #jcode.mcp_tools().tools == 0`,
		// Section 12: libraries.
		"fs lists and looks":                             `local l = fs.list("sub") local s = fs.stat("a.txt") return l.ok and l.entries[1].name == "b.txt" and l.entries[1].dir == false and l.entries[1].size == 7 and s.size == 15 and s.dir == false and s.mtime > 0`,
		"fs writes where it may":                         `return fs.write("sub/new", "x").ok and fs.read("sub/new").content == "x" and fs.write("top", "x").error:find("permission denied", 1, true) ~= nil`,
		"fs stays inside":                                `return fs.read("../x").ok == false and fs.read("out/x").ok == false and fs.list("out").ok == false`,
		"fs judges where a link leads":                   `return fs.read("link").error:find("permission denied", 1, true) ~= nil and fs.stat("link").ok == false and fs.write("sub/link", "x").ok == false`,
		"state refuses what is not text":                 `local ok, why = pcall(state.set, "k", "\255") return not ok`,
		"state bounds its keys":                          `local a = pcall(state.set, ("k"):rep(257), 1) local b = pcall(state.set, ("k"):rep(256), 1) return not a and b`,
		"state holds tables":                             `state.set("t", {1, {x = true}}) return state.get("t")[2].x == true and state.get("absent") == nil`,
		"json keeps arrays and nulls":                    `return json.encode(json.decode('{"a":[1,null],"b":[]}')) == '{"a":[1,null],"b":[]}' and json.decode('{"a":null}').a == nil`,
		"regex is linear":                                `return regex.match(("a"):rep(100000) .. "b", "(a*)*c") == nil`,
		"a bad regex is nil and a message":               `local v, why = regex.find("x", "(") return v == nil and type(why) == "string"`,
		"env returns what is declared":                   `return jcode.env("PLAIN") == "value"`,
		"env never returns keys":                         `local ok, v = pcall(jcode.env, "OPENAI_API_KEY") return not ok or v == nil or type(v) == "table" and v.ok == false`,
		"http that is not declared says what to declare": `local r = http.get("http://example.com") return r.ok == false and r.error == "permission denied: declare permissions.network in mcp_tool.json" and r.error_kind == "permission_denied"`,
		// Section 13: globals of a tool.
		"tools get no more than a tool": `return jcode.register_intent({}).error_kind == "permission_denied" and not jcode.on("prompt", print).ok and not jcode.command("c", {}).ok and not jcode.request("a", "b").success and require == nil and params ~= nil`,
	}
	names := map[string]string{}
	for what, source := range sources {
		name := fmt.Sprintf("t%02d", len(names))
		names[name] = what
		h.tool(name, manifest, source)
	}
	h.start()
	for name, what := range names {
		if res := h.call(name, none()); res.Text != "true" {
			t.Errorf("%s: %q %s", what, res.Kind, res.Text)
		}
	}
}

// A host serves a limited number of calls, and no further one after a call that ended badly.
func TestHostsAreReplaced(t *testing.T) {
	t.Parallel()
	hosts := &recorded{}
	h := build(t, setup{opts: Options{start: hosts.start}})
	h.tool("one", simple, `return "x"`)
	h.tool("bad", `{"description": "d", "timeout_ms": 300}`, `while true do end`)
	h.start()
	for range pool.MaxServed + 10 {
		wantText(t, h.call("one", none()), "x")
	}
	before := len(hosts.all())
	if before < 2 {
		t.Errorf("%d hosts for %d calls", before, pool.MaxServed+10)
	}
	h.call("bad", none())
	for range 3 {
		wantText(t, h.call("one", none()), "x")
	}
	// The spare host that took over is replaced in the background.
	eventually.True(t, "a new host after a bad end", func() bool { return len(hosts.all()) > before })
}

// Three failures by a limit in a row disable a plugin until its file changes.
func TestPluginIsDisabledAfterThreeBadEnds(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	path := h.plugin("loops", `return {id = "loops", init = function()
		jcode.register_intent({name = "loop", description = "d", timeout_ms = 100, read_only = true, handler = function() while true do end end})
	end}`)
	h.start()
	for range maxFailures {
		if res := h.call("loop", none()); !res.Failed {
			t.Fatalf("%+v", res)
		}
	}
	if res := h.call("loop", none()); !strings.Contains(res.Text, "disabled") {
		t.Errorf("%+v", res)
	}
	writeFile(t, path, `return {id = "loops", init = function()
		jcode.register_intent({name = "loop", description = "d", read_only = true, handler = function() return {success = true, data = "mended"} end})
	end}`)
	eventually.True(t, "it is mended", func() bool {
		h.room.Refresh()
		return h.call("loop", none()).Text == "mended"
	})
}

// A rule that forbids reading a file also forbids fs.list and fs.stat of it.
func TestFSLooksAtNothingThatARuleForbids(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	rules, err := permission.ParseRules(nil, nil, []string{"read(secrets/**)"})
	must(t, err)
	h.gate.SetRules(rules)
	h.asker.says(tools.AnswerProject)
	writeFile(t, filepath.Join(h.dir, "secrets", "key"), "x")
	h.tool("looks", `{"description": "d", "read_only": true, "permissions": {"fs": {"read": ["**"]}}}`,
		`return tostring(fs.list(".").ok) .. tostring(fs.list("secrets").ok) .. tostring(fs.stat("secrets/key").ok) .. tostring(fs.read("secrets/key").ok)`)
	h.start()
	wantText(t, h.call("looks", none()), "truefalsefalsefalse")
}

package lua

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/lua/wire"
	"jcode/tools"
)

// The forty acceptance tests of intents. Each runs as Lua in a real host process, and in the same
// host code over an in-memory pipe.

func both(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	inBoth(t, setup{noGate: true}, f)
}

// judged is like both, with the real gate.
func judged(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	inBoth(t, setup{}, f)
}

func inBoth(t *testing.T, s setup, f func(t *testing.T, h *house)) {
	t.Helper()
	for _, memory := range []bool{true, false} {
		s.memory = memory
		t.Run(map[bool]string{true: "memory", false: "process"}[memory], func(t *testing.T) { f(t, build(t, s)) })
	}
}

// alone is the caller of a script while no session is open and nobody can be asked.
func alone(s *principal) { s.caller = tools.Caller{Origin: tools.OriginScript} }

func caps(set tools.Capabilities) func(*principal) {
	return func(s *principal) { s.caller.Scope = &tools.Scope{Capabilities: &set} }
}

func wantOK(t *testing.T, o *wire.Object) {
	t.Helper()
	if !o.Bool("ok") {
		t.Fatalf("not ok: %v", o.Get("error"))
	}
}

func wantError(t *testing.T, o *wire.Object, part string) {
	t.Helper()
	if o.Bool("ok") || !strings.Contains(o.String("error"), part) {
		t.Fatalf("ok %v, error %q; want an error with %q", o.Get("ok"), o.String("error"), part)
	}
}

// wantRefused checks that a component's reply is a failure whose error contains part.
func wantRefused(t *testing.T, reply *wire.Object, part string) {
	t.Helper()
	if reply.Get("success") != false || !strings.Contains(reply.String("error"), part) {
		t.Fatalf("success %v, error %q; want an error with %q", reply.Get("success"), reply.String("error"), part)
	}
}

func lookup(reg *tools.Registry, name string) (tools.Entry, bool) {
	e, ok, _ := reg.Snapshot(nil).Lookup(name)
	return e, ok
}

func count(reg *tools.Registry) int { return len(reg.Snapshot(nil).List()) }

// stub is a tool with a fixed spec and result.
type stub struct {
	spec tools.Spec
	res  tools.Result
}

func (s stub) Spec() tools.Spec                                      { return s.spec }
func (s stub) Run(context.Context, tools.Call) (tools.Result, error) { return s.res, nil }

func Test_registry_new_has_8_builtins(t *testing.T) {
	t.Parallel()
	if n := count(build(t, setup{memory: true}).reg); n != 8 {
		t.Errorf("%d", n)
	}
}

func Test_registry_get_existing(t *testing.T) {
	t.Parallel()
	h := build(t, setup{memory: true})
	e, ok := lookup(h.reg, "read")
	if _, component := e.Tool.(*intentTool); !ok || e.Spec.Name != "read" || component || e.Owner != tools.OwnerBuiltin {
		t.Errorf("%+v", e)
	}
}

func Test_registry_get_nonexistent(t *testing.T) {
	t.Parallel()
	if _, ok := lookup(build(t, setup{memory: true}).reg, "nonexistent"); ok {
		t.Error("found")
	}
}

func Test_registry_register_new_intent(t *testing.T) {
	t.Parallel()
	h := build(t, setup{memory: true})
	i := &intent{name: "custom_action", description: "d", fqn: "lua::my_comp", operation: "execute", params: []byte(`{"type":"object","properties":{}}`)}
	if err := h.reg.Register("plugin:x", tools.RankPlugin, &intentTool{intent: i, around: h.room.around}); err != nil {
		t.Fatal(err)
	}
	if _, ok := lookup(h.reg, "custom_action"); !ok || count(h.reg) != 9 {
		t.Errorf("found %v, %d intents", ok, count(h.reg))
	}
}

func Test_registry_register_duplicate_fails(t *testing.T) {
	t.Parallel()
	h := build(t, setup{memory: true})
	err := h.reg.Register("plugin:x", tools.RankPlugin, stub{spec: tools.Spec{Name: "read", Description: "d"}})
	if err == nil || !strings.Contains(err.Error(), "already registered") {
		t.Error(err)
	}
}

func Test_registry_all_intent_defs_have_json_schema(t *testing.T) {
	t.Parallel()
	for _, e := range build(t, setup{memory: true}).reg.Snapshot(nil).List() {
		var s struct {
			Type       string         `json:"type"`
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(e.Spec.Parameters, &s); err != nil || s.Type != "object" || s.Properties == nil {
			t.Errorf("%s: %s", e.Spec.Name, e.Spec.Parameters)
		}
	}
}

func Test_builtin_intent_names_match_expected(t *testing.T) {
	t.Parallel()
	if got := strings.Join(build(t, setup{memory: true}).names(), ", "); got != "read, write, grep, glob, mkdir, remove, mv, exec" {
		t.Error(got)
	}
}

func Test_dispatch_read(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		writeFile(t, filepath.Join(h.dir, "test.txt"), "hello dispatch")
		o := h.table(fmt.Sprintf(`return orcs.dispatch("read", {path=%q})`, filepath.Join(h.dir, "test.txt")), alone)
		wantOK(t, o)
		if o.String("content") != "hello dispatch" {
			t.Error(o.String("content"))
		}
	})
}

func Test_dispatch_write_and_read(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		p := filepath.Join(h.dir, "written.txt")
		o := h.table(fmt.Sprintf(`
            local w = orcs.dispatch("write", {path="%[1]s", content="via dispatch"})
            local r = orcs.dispatch("read", {path="%[1]s"})
            return r
            `, p), alone)
		wantOK(t, o)
		if o.String("content") != "via dispatch" {
			t.Error(o.String("content"))
		}
	})
}

func Test_dispatch_grep(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		writeFile(t, filepath.Join(h.dir, "search.txt"), "line one\nline two\nthird")
		o := h.table(fmt.Sprintf(`return orcs.dispatch("grep", {pattern="line", path=%q})`, filepath.Join(h.dir, "search.txt")), alone)
		wantOK(t, o)
		if n, _ := o.Number("count"); n != 2 {
			t.Error(n)
		}
	})
}

func Test_dispatch_glob(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		for _, n := range []string{"a.rs", "b.rs", "c.txt"} {
			writeFile(t, filepath.Join(h.dir, n), "")
		}
		o := h.table(fmt.Sprintf(`return orcs.dispatch("glob", {pattern="*.rs", dir=%q})`, h.dir), alone)
		wantOK(t, o)
		if n, _ := o.Number("count"); n != 2 {
			t.Error(n)
		}
	})
}

func Test_dispatch_mkdir_remove(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(fmt.Sprintf(`
            local m = orcs.dispatch("mkdir", {path="%[1]s"})
            local r = orcs.dispatch("remove", {path="%[1]s"})
            return {mkdir=m, remove=r}
            `, filepath.Join(h.dir, "sub/deep")), alone)
		for _, key := range []string{"mkdir", "remove"} {
			wantOK(t, o.Get(key).(*wire.Object))
		}
	})
}

func Test_dispatch_mv(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		src, dst := filepath.Join(h.dir, "src.txt"), filepath.Join(h.dir, "dst.txt")
		writeFile(t, src, "move me")
		wantOK(t, h.table(fmt.Sprintf(`return orcs.dispatch("mv", {src="%s", dst="%s"})`, src, dst), alone))
		if _, err := os.Stat(src); err == nil || readText(t, dst) != "move me" {
			t.Error("not moved")
		}
	})
}

func Test_dispatch_unknown_tool(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`return orcs.dispatch("nonexistent", {arg="val"})`, alone)
		wantError(t, o, "unknown intent: nonexistent")
		if o.String("error_kind") != "unknown_intent" {
			t.Error(o.String("error_kind"))
		}
	})
}

func Test_dispatch_missing_required_arg(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`return orcs.dispatch("read", {})`, alone)
		wantError(t, o, "missing required argument: path")
		if o.String("error_kind") != "invalid_args" {
			t.Error(o.String("error_kind"))
		}
	})
}

func Test_tool_schemas_returns_all(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		v, fail := h.eval(wire.EnvStartup, `return orcs.tool_schemas()`, alone)
		list, _ := v.([]any)
		if fail != nil || len(list) != 8 {
			t.Fatalf("%v, %d", fail, len(list))
		}
		first := list[0].(*wire.Object)
		arg := first.Get("args").([]any)[0].(*wire.Object)
		if first.String("name") != "read" || first.String("description") == "" || arg.String("name") != "path" || arg.String("type") != "string" || !arg.Bool("required") {
			t.Errorf("%+v %+v", first, arg)
		}
		grep := list[2].(*wire.Object).Get("args").([]any)[1].(*wire.Object)
		if grep.String("type") != "string?" || grep.Bool("required") {
			t.Errorf("an optional argument: %+v", grep)
		}
	})
}

func Test_descriptions_include_all_tools(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		v, _ := h.eval(wire.EnvStartup, `return orcs.tool_descriptions()`, alone)
		text, _ := v.(string)
		for _, name := range []string{"read", "write", "grep", "glob", "mkdir", "remove", "mv", "exec"} {
			if !strings.Contains(text, name+"(") {
				t.Errorf("%s is missing in %s", name, text)
			}
		}
		if !strings.HasSuffix(text, "jcode.pwd - project root path (string).\n") || !strings.Contains(text, "grep(pattern, path?") {
			t.Error(text)
		}
	})
}

// Without a session, the gate judges a command like any other.
func Test_dispatch_exec_uses_registered_exec(t *testing.T) {
	t.Parallel()
	judged(t, func(t *testing.T, h *house) {
		for _, src := range []string{`return orcs.dispatch("exec", {cmd="touch made"})`, `return orcs.exec("touch made")`, `return orcs.exec({"touch", "made"})`} {
			o := h.table(src, alone)
			wantError(t, o, "nobody to ask")
			code, _ := o.Number("code")
			if code != -1 || o.Get("stdout") != "" || o.String("stderr") != o.String("error") || o.String("error_kind") != "denied" {
				t.Errorf("%+v", o)
			}
		}
		if _, err := os.Stat(filepath.Join(h.dir, "made")); err == nil {
			t.Error("the command ran")
		}
	})
}

func Test_intent_defs_returns_all(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		v, _ := h.eval(wire.EnvStartup, `return orcs.intent_defs()`, alone)
		list, _ := v.([]any)
		if len(list) != 8 {
			t.Fatal(len(list))
		}
		first := list[0].(*wire.Object)
		params := first.Child("parameters")
		if first.String("name") != "read" || first.String("description") == "" || params.String("type") != "object" {
			t.Errorf("%+v", first)
		}
	})
}

func Test_register_intent_adds_to_registry(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`
                local r = orcs.register_intent({
                    name = "custom_action",
                    description = "A custom action",
                    component = "lua::my_component",
                    operation = "do_stuff",
                    params = {
                        input = { type = "string", description = "Input data", required = true },
                    },
                })
                r.count = #orcs.tool_schemas()
                return r
                `, alone)
		wantOK(t, o)
		if n, _ := o.Number("count"); n != 9 {
			t.Error(n)
		}
		e, _ := lookup(h.reg, "custom_action")
		if string(e.Spec.Parameters) != `{"type":"object","properties":{"input":{"type":"string","description":"Input data"}},"required":["input"]}` {
			t.Errorf("%s", e.Spec.Parameters)
		}
	})
}

func Test_register_intent_duplicate_fails(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		wantError(t, h.table(`
                return orcs.register_intent({
                    name = "read",
                    description = "duplicate",
                    component = "lua::x",
                })
                `, alone), "already registered")
	})
}

// Without a session, the gate judges an intent of a component like any other. Once it may run, there must be
// a component that serves it.
func Test_dispatch_component_no_request_fn_returns_error(t *testing.T) {
	t.Parallel()
	const source = `
            orcs.register_intent({
                name = "comp_action",
                description = "component action",
                component = "lua::test_comp",
                operation = "do_stuff",
            })
            return orcs.dispatch("comp_action", {input="hello"})
            `
	judged(t, func(t *testing.T, h *house) {
		wantError(t, h.table(source, alone), "nobody to ask")
		wantRefused(t, h.table(`return orcs.request("lua::test_comp", "do_stuff", {input="hello"})`, alone), "nobody to ask")
	})
	both(t, func(t *testing.T, h *house) {
		wantError(t, h.table(source, alone), "component RPC failed: lua::test_comp::do_stuff")
		wantRefused(t, h.table(`return orcs.request("lua::test_comp", "do_stuff", {input="hello"})`, alone), "component RPC failed: lua::test_comp::do_stuff")
	})
}

func Test_dispatch_component_success_normalized(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`
            orcs.register_intent({
                name = "mock_comp",
                description = "mock component",
                component = "lua::mock",
                operation = "echo",
            })
            orcs.request = function(target, operation, payload)
                return { success = true, data = { echo = payload.input, target = target, op = operation } }
            end
            return orcs.dispatch("mock_comp", {input="hello"})
            `, alone)
		wantOK(t, o)
		data := o.Get("data").(*wire.Object)
		ms, isNumber := o.Number("duration_ms")
		if data.String("echo") != "hello" || data.String("target") != "lua::mock" || data.String("op") != "echo" || !isNumber || ms >= 1000 {
			t.Errorf("%+v %+v", o, data)
		}
	})
}

func Test_dispatch_component_failure_normalized(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`
            orcs.register_intent({
                name = "fail_comp",
                description = "failing component",
                component = "lua::fail",
                operation = "explode",
            })
            orcs.request = function(target, operation, payload)
                return { success = false, error = "component exploded" }
            end
            return orcs.dispatch("fail_comp", {})
            `, alone)
		if _, isNumber := o.Number("duration_ms"); o.Bool("ok") || o.String("error") != "component exploded" || !isNumber {
			t.Errorf("%+v", o)
		}
	})
}

func Test_dispatch_component_forwards_all_args(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`
            orcs.register_intent({
                name = "args_comp",
                description = "args test",
                component = "lua::args_test",
                operation = "check_args",
            })
            -- Mock that captures and returns the payload
            orcs.request = function(target, operation, payload)
                return { success = true, data = payload }
            end
            return orcs.dispatch("args_comp", {a="1", b="2", c="3"})
            `, alone)
		wantOK(t, o)
		data := o.Get("data").(*wire.Object)
		if data.String("a") != "1" || data.String("b") != "2" || data.String("c") != "3" {
			t.Errorf("%+v", data)
		}
	})
}

func raises(t *testing.T, source, part string) {
	t.Helper()
	both(t, func(t *testing.T, h *house) {
		_, fail := h.eval(wire.EnvStartup, source, alone)
		if fail == nil || fail.Kind != tools.KindScript || !strings.Contains(fail.Text, part) {
			t.Errorf("%+v", fail)
		}
	})
}

func Test_register_intent_missing_name_errors(t *testing.T) {
	t.Parallel()
	raises(t, `return orcs.register_intent({ description = "no name", component = "lua::x", })`, "name")
}

func Test_register_intent_missing_description_errors(t *testing.T) {
	t.Parallel()
	raises(t, `return orcs.register_intent({ name = "no_desc", component = "lua::x", })`, "description")
}

func Test_register_intent_missing_component_errors(t *testing.T) {
	t.Parallel()
	raises(t, `return orcs.register_intent({ name = "no_comp", description = "missing component", })`, "component")
}

func Test_register_intent_defaults_operation_to_execute(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`
                assert(orcs.register_intent({
                    name = "default_op",
                    description = "test default operation",
                    component = "lua::test_comp",
                }).ok)
            orcs.request = function(target, operation, payload)
                return { success = true, data = { captured_op = operation } }
            end
            return orcs.dispatch("default_op", {})
            `, alone)
		wantOK(t, o)
		if op := o.Get("data").(*wire.Object).String("captured_op"); op != "execute" {
			t.Error(op)
		}
	})
}

func Test_register_tool_adds_intent_and_tool(t *testing.T) {
	t.Parallel()
	h := build(t, setup{memory: true, noGate: true})
	ping := stub{tools.Spec{Name: "ping", Description: "Returns pong", Needs: tools.CapRead, ReadOnly: true}, tools.Result{Data: map[string]string{"reply": "pong"}}}
	if err := h.reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, ping); err != nil {
		t.Fatal(err)
	}
	e, ok := lookup(h.reg, "ping")
	if _, component := e.Tool.(*intentTool); !ok || component || e.Tool == nil || count(h.reg) != 9 {
		t.Errorf("%+v, %d", e, count(h.reg))
	}
	if o := h.table(`return jcode.dispatch("ping")`, nil); o.String("reply") != "pong" {
		t.Errorf("%+v", o)
	}
}

func Test_register_tool_duplicate_fails(t *testing.T) {
	t.Parallel()
	h := build(t, setup{memory: true})
	err := h.reg.Register("plugin:x", tools.RankPlugin, stub{spec: tools.Spec{Name: "read", Description: "d"}})
	if err == nil || !strings.Contains(err.Error(), "already registered") {
		t.Error(err)
	}
}

func Test_grep_dispatch_preserves_integer_line_number(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		writeFile(t, filepath.Join(h.dir, "nums.txt"), "alpha\nbeta\nalpha again\n")
		v, fail := h.eval(wire.EnvStartup, fmt.Sprintf(`
            local r = orcs.dispatch("grep", {pattern="alpha", path=%q})
            return tostring(r.matches[1].line_number) .. "/" .. tostring(r.count) .. "/" .. json.encode({n = r.count})`, filepath.Join(h.dir, "nums.txt")), alone)
		if fail != nil || v != `1/2/{"n":2}` {
			t.Errorf("%v %v", v, fail)
		}
	})
}

func Test_dispatch_rust_tool_denies_without_capability(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		writeFile(t, filepath.Join(h.dir, "secret.txt"), "classified")
		wantError(t, h.table(fmt.Sprintf(`return orcs.dispatch("read", {path=%q})`, filepath.Join(h.dir, "secret.txt")), caps(0)), "permission denied: READ not granted")
	})
}

func Test_dispatch_rust_tool_allows_with_capability(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		writeFile(t, filepath.Join(h.dir, "allowed.txt"), "public data")
		o := h.table(fmt.Sprintf(`return orcs.dispatch("read", {path=%q})`, filepath.Join(h.dir, "allowed.txt")), caps(tools.CapRead))
		wantOK(t, o)
		if o.String("content") != "public data" {
			t.Error(o.String("content"))
		}
	})
}

func Test_positional_write_denied_with_read_only_cap(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		p := filepath.Join(h.dir, "nope.txt")
		wantError(t, h.table(fmt.Sprintf(`return orcs.write(%q, "hacked")`, p), caps(tools.CapRead)), "permission denied")
		if _, err := os.Stat(p); err == nil {
			t.Error("the file was made")
		}
	})
}

func Test_positional_read_denied_without_capability(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		writeFile(t, filepath.Join(h.dir, "pos_secret.txt"), "restricted")
		wantError(t, h.table(fmt.Sprintf(`return orcs.read(%q)`, filepath.Join(h.dir, "pos_secret.txt")), caps(0)), "permission denied")
	})
}

func Test_mcp_servers_returns_ok_without_manager(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`return orcs.mcp_servers()`, alone)
		wantOK(t, o)
		if list, ok := o.Get("servers").([]any); !ok || len(list) != 0 {
			t.Errorf("%v", o.Get("servers"))
		}
	})
}

func Test_mcp_tools_returns_empty_without_mcp_intents(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		o := h.table(`return orcs.mcp_tools()`, alone)
		wantOK(t, o)
		if list, ok := o.Get("tools").([]any); !ok || len(list) != 0 {
			t.Errorf("%v", o.Get("tools"))
		}
	})
}

func Test_mcp_tools_filters_by_server(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		for _, x := range [][2]string{{"srv_a", "tool1"}, {"srv_b", "tool2"}} {
			err := h.reg.Register("mcp:"+x[0], tools.RankMCP, stub{spec: tools.Spec{
				Name: "mcp:" + x[0] + ":" + x[1], Wire: "mcp__" + x[0] + "__" + x[1], Description: "[MCP:" + x[0] + "] " + x[1] + " desc", Group: tools.GroupMCP, Server: x[0],
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if list := h.table(`return orcs.mcp_tools()`, alone).Get("tools").([]any); len(list) != 2 {
			t.Errorf("%d tools", len(list))
		}
		list := h.table(`return orcs.mcp_tools("srv_a")`, alone).Get("tools").([]any)
		if len(list) != 1 {
			t.Fatalf("%d tools", len(list))
		}
		first := list[0].(*wire.Object)
		if first.String("server") != "srv_a" || first.String("tool") != "tool1" || first.String("name") != "mcp:srv_a:tool1" {
			t.Errorf("%+v", first)
		}
	})
}

func Test_mcp_call_without_manager_returns_error(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, h *house) {
		wantError(t, h.table(`return orcs.mcp_call("srv", "tool", {})`, alone), "MCP client not initialized")
	})
}

func TestReadFromLuaGivesTheWholeFile(t *testing.T) {
	t.Parallel()
	h := build(t, setup{memory: true, noGate: true})
	text := strings.Repeat("a line of text\n", 20_000) + "\xff\x00 end"
	writeFile(t, filepath.Join(h.dir, "big"), text)
	o := h.table(`return jcode.read("big")`, nil)
	if size, _ := o.Number("size"); o.String("content") != text || size != float64(len(text)) {
		t.Errorf("%d of %d bytes, size %v, %v", len(o.String("content")), len(text), size, o.Get("error"))
	}
}

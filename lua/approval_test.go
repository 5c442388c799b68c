package lua

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

const writer = `{"description": "d", "permissions": {"intents": ["write"]}}`

func TestRefusedWriteIsATableEvenInPcall(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.answer = func(q tools.Question) tools.AnswerScope {
		if q.Tool == "write" {
			return tools.AnswerNo
		}
		return tools.AnswerOnce
	}
	h.tool("w", writer, `local ok, r = pcall(jcode.write, "f", "x") return tostring(ok) .. " " .. tostring(r.ok) .. " " .. r.error_kind .. " " .. r.error`)
	h.start()
	res := h.call("w", none())
	if res.Failed || !strings.HasPrefix(res.Text, "true false denied ") || !strings.Contains(res.Text, "Write to file: f") {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "f")); err == nil {
		t.Error("written")
	}
}

func TestOneApprovalIsOneExecution(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	h.tool("w", writer, `state.set("runs", (state.get("runs") or 0) + 1) local r = jcode.write("f", "x") return tostring(r.ok) .. state.get("runs")`)
	h.start()
	wantText(t, h.call("w", none()), "true1")
	var asked []string
	for _, q := range h.asker.asked() {
		asked = append(asked, q.Title)
	}
	if !slices.Equal(asked, []string{"Execute intent: w", "Write to file: f"}) {
		t.Errorf("%q", asked)
	}
}

func TestEditedToolAsksAgain(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	dir := h.tool("r", `{"description": "d", "read_only": true, "permissions": {"intents": ["read"]}}`, `return "one"`)
	h.start()
	wantText(t, h.call("r", none()), "one")
	wantText(t, h.call("r", none()), "one")
	if n := len(h.asker.asked()); n != 1 {
		t.Errorf("asked %d times", n)
	}
	writeFile(t, filepath.Join(dir, manifest.MainName), `return "two"`)
	h.asker.says(tools.AnswerNo)
	wantFailure(t, h.call("r", none()), tools.KindDenied, "")
	qs := h.asker.asked()
	if len(qs) != 2 || !strings.Contains(qs[1].Diff, `-return "one"`) || !strings.Contains(qs[1].Diff, `+return "two"`) || !slices.Contains(qs[1].Details, "changed since it was approved") {
		t.Errorf("%+v", qs)
	}
}

func TestReadOnlyToolCannotWriteByAnyRoute(t *testing.T) {
	t.Parallel()
	h := build(t, setup{opts: Options{MCP: &manager{}}})
	h.mode = tools.ModeYolo
	must(t, h.reg.Register("mcp:s", tools.RankMCP, stub{spec: tools.Spec{Name: "mcp:s:change", Wire: "mcp__s__change", Description: "d", Group: tools.GroupMCP, Server: "s"}}))
	must(t, h.reg.Register("mcp:s2", tools.RankMCP, stub{spec: tools.Spec{Name: "mcp:s2:look", Wire: "mcp__s2__look", Description: "d", Group: tools.GroupMCP, Server: "s2", ReadOnly: true}}))
	h.startupScript(`jcode.register_intent({name = "sneak", description = "d", read_only = true, handler = function() return {success = true, data = jcode.write("f", "x")} end})`)
	h.tool("mutates", `{"description": "d", "permissions": {"intents": ["write"]}}`, `return jcode.write("f", "x")`)
	h.tool("ro", `{"description": "d", "read_only": true, "permissions": {"intents": ["write", "remove", "mkdir", "mv", "sneak", "mutates"], "fs": {"write": ["**"]},
		"exec": [["touch"]], "mcp": ["s:change", "s2:look"], "network": {"allowed_hosts": ["example.com"], "methods": ["POST"]}}}`, `
local out = {}
local function try(name, r) out[#out + 1] = name .. "=" .. tostring(r.ok) .. ":" .. tostring(r.error_kind) end
try("write", jcode.write("f", "x"))
try("dispatch", jcode.dispatch("write", {path = "f", content = "x"}))
try("mkdir", jcode.mkdir("d"))
try("fs", fs.write("f", "x"))
try("exec", jcode.exec({"touch", "f"}))
try("shell", jcode.exec("touch f"))
try("mcp", jcode.mcp_call("s", "change", {}))
try("mcp2", jcode.dispatch("mcp:s2:look", {}))
try("sneak", jcode.dispatch("sneak", {}))
try("mutates", jcode.dispatch("mutates", {}))
try("http", http.request("POST", "http://example.com/"))
return table.concat(out, "\n")`)
	h.start()
	res := h.call("ro", none())
	if res.Failed || strings.Count(res.Text, "=false:permission_denied") != 11 {
		t.Errorf("%s", res.Text)
	}
	for _, name := range []string{"f", "d"} {
		if _, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func TestDeclarationsAreACeiling(t *testing.T) {
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	writeFile(t, filepath.Join(h.dir, "src/a"), "text")
	writeFile(t, filepath.Join(h.dir, "other"), "text")
	h.tool("t", `{"description": "d", "permissions": {"fs": {"read": ["src/**"]}, "exec": [["echo", "hi"]], "env": ["LUA_TEST_OK", "MY_API_KEY"]}}`, `
local out = {}
local function try(name, r) out[#out + 1] = name .. "=" .. tostring(r.ok) .. " " .. tostring(r.error or r.content or r.stdout or "") end
try("in", fs.read("src/a"))
try("out", fs.read("other"))
try("up", fs.read("../x"))
try("list", fs.list("src"))
try("stat", fs.stat("src/a"))
try("write", fs.write("src/b", "x"))
try("read", jcode.read("src/a"))
try("echo", jcode.exec({"echo", "hi", "; touch evil", "$(touch evil)"}))
try("other", jcode.exec({"echo", "ho"}))
try("shell", jcode.exec("echo hi"))
out[#out + 1] = "env=" .. tostring(jcode.env("LUA_TEST_OK")) .. tostring(jcode.env("MY_API_KEY")) .. tostring(pcall(jcode.env, "PATH"))
out[#out + 1] = type(jcode.register_intent) .. type(jcode.on) .. type(jcode.request) .. type(require)
return table.concat(out, "\n")`)
	t.Setenv("LUA_TEST_OK", "v")
	t.Setenv("MY_API_KEY", "secret")
	h.start()
	want := []string{
		"in=true text", `out=false permission denied: declare permissions.fs.read in mcp_tool.json with a glob that covers "other"`,
		"up=false permission denied: ../x is outside the project", "list=true ", "stat=true ",
		`write=false permission denied: declare permissions.fs.write in mcp_tool.json with a glob that covers "src/b"`,
		`read=false permission denied: declare permissions.intents in mcp_tool.json with "read"`,
		"echo=true hi ; touch evil $(touch evil)\n", `other=false permission denied: declare permissions.exec in mcp_tool.json that begins as "echo ho" does`,
		`shell=false permission denied: a tool runs commands as a table of words, jcode.exec({"git", "log"}), never through a shell`,
		"env=vnilfalse", "functionfunctionfunctionnil",
	}
	if got := h.call("t", none()).Text; got != strings.Join(want, "\n") {
		t.Errorf("got\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "evil")); err == nil {
		t.Error("a word was taken for shell text")
	}
}

func TestExecResultsFromLua(t *testing.T) {
	t.Parallel()
	h := build(t, setup{noGate: true})
	o := h.table(`return jcode.exec("echo out; echo err >&2; exit 2")`, nil)
	if code, _ := o.Number("code"); o.Bool("ok") || code != 2 || o.String("stdout") != "out\n" || o.String("error") != "exit status 2: err" {
		t.Errorf("%+v", o)
	}
	if o := h.table(`return jcode.exec("true")`, nil); !o.Bool("ok") || o.Get("error") != nil && o.Get("error") != "" {
		t.Errorf("%+v", o)
	}
	if runtime.GOOS != "windows" {
		o = h.table(`return jcode.exec("kill -9 $$")`, nil)
		if _, has := o.Lookup("code"); o.Bool("ok") || !o.Bool("signal_terminated") || has {
			t.Errorf("%+v", o)
		}
	}
	wantError(t, h.table(`return jcode.exec({})`, nil), "exec denied")
	wantError(t, h.table(`return jcode.dispatch("exec", {})`, nil), "missing required argument: cmd")
}

func TestNoAPIGrantsAnything(t *testing.T) {
	t.Parallel()
	for _, f := range wire.API() {
		name := strings.ToLower(f.Name + f.Doc)
		for _, bad := range []string{"grant", "approve", "allow ", "trust", "mode"} {
			if strings.Contains(name, bad) {
				t.Errorf("%s: %s", f.Name, f.Doc)
			}
		}
	}
}

func TestGrantIsNotInheritedByTheNextHolderOfAName(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerProject)
	path := h.plugin("p", `return {id = "p", init = function() jcode.register_intent({name = "x", description = "d", handler = function() return {success = true, data = "p"} end}) end}`)
	h.start()
	wantText(t, h.call("x", none()), "p")
	n := len(h.asker.asked())
	wantText(t, h.call("x", none()), "p")
	if len(h.asker.asked()) != n {
		t.Error("asked again although granted")
	}
	must(t, os.Remove(path))
	eventually.True(t, "it is gone", func() bool { return !h.has("x") })
	h.plugin("q", `return {id = "q", init = function() jcode.register_intent({name = "x", description = "d", handler = function() return {success = true, data = "q"} end}) end}`)
	eventually.True(t, "another has the name", func() bool { return h.has("x") })
	wantText(t, h.call("x", none()), "q")
	if len(h.asker.asked()) != n+1 {
		t.Error("the new holder inherited the grant")
	}
}

func TestAlwaysAsks(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	h.tool("a", `{"description": "d", "approval": "always", "read_only": true, "permissions": {"intents": ["read"]}}`, `return 1`)
	h.start()
	for range 3 {
		wantText(t, h.call("a", none()), "1")
	}
	if n := len(h.asker.asked()); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestPlanModeOffersHarmlessLuaOnly(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("pure", simple, `return 1`)
	h.tool("ro", `{"description": "d", "read_only": true, "permissions": {"intents": ["read"]}}`, `return 1`)
	h.tool("rw", writer, `return 1`)
	h.start()
	var order tools.Order
	var got []string
	for _, e := range h.reg.Snapshot(nil).Offer(&order, h.gate, tools.ModePlan) {
		if e.Spec.Group == tools.GroupLua {
			got = append(got, e.Spec.Name)
		}
	}
	if strings.Join(got, " ") != "pure ro" {
		t.Error(got)
	}
}

// The limit in a manifest holds for the command that a tool runs, too, and the time in which a person is asked does not
// count.
func TestTheLimitOfAToolHoldsForWhatItRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs sleep")
	}
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	h.tool("long", `{"description": "d", "timeout_ms": 500, "permissions": {"exec": [["sleep"]]}}`, `return jcode.exec({"sleep", "300"})`)
	h.start()
	done := make(chan tools.Result, 1)
	go func() { done <- h.call("long", none()) }()
	select {
	case res := <-done:
		if !res.Failed || !strings.Contains(res.Text, "time limit of 500ms reached") {
			t.Errorf("%+v", res)
		}
	case <-time.After(time.Minute):
		t.Error("the command of a tool runs beyond the tool's limit")
	}
}

func TestCancelDuringEachKindOfWait(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs sleep")
	}
	for name, source := range map[string]string{
		"exec":     `return jcode.exec({"sh", "-c", "touch began; exec sleep 300"})`,
		"approval": `return jcode.write("f", "x")`,
		"pattern":  `return (("a"):rep(28)):find((("a*"):rep(20)) .. "b")`,
		"loop":     `while true do end`,
	} {
		h := build(t, setup{})
		h.asker.says(tools.AnswerOnce)
		h.tool("w_"+name, `{"description": "d", "timeout_ms": 60000, "permissions": {"intents": ["write"], "exec": [["sh"]]}}`, source)
		h.start()
		if name == "approval" {
			h.call("w_"+name, none()) // pins
			h.asker.wait = make(chan struct{})
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan tools.Result, 1)
		go func() { done <- h.callCtx(ctx, "w_"+name, none()) }()
		eventually.True(t, name+" runs", func() bool {
			switch name {
			case "exec": // it leaves its place while the command runs
				_, err := os.Stat(filepath.Join(h.dir, "began"))
				return err == nil
			case "approval":
				return len(h.asker.asked()) > 2
			}
			return h.running() == 1
		})
		time.Sleep(200 * time.Millisecond) // while it runs
		began := time.Now()
		cancel()
		res := <-done
		if d := time.Since(began); d > late {
			t.Errorf("%s: returned after %v", name, d)
		} else {
			t.Logf("%s: %v, %q", name, d.Round(time.Millisecond), res.Kind)
		}
	}
}

func TestNoHostOutlivesTheRoom(t *testing.T) {
	t.Parallel()
	hosts := &recorded{}
	h := build(t, setup{opts: Options{start: hosts.start}})
	h.tool("x", simple, `return 1`)
	h.startupScript(`jcode.register_intent({name = "s", description = "d", handler = print})`)
	h.start()
	wantText(t, h.call("x", none()), "1")
	if len(hosts.all()) < 2 {
		t.Errorf("%d hosts were started", len(hosts.all()))
	}
	h.room.Close()
	for _, pid := range hosts.all() {
		if runtime.GOOS == "linux" && pool.ResidentMemory(pid) != 0 {
			t.Errorf("host %d still runs", pid)
		}
	}
}

func TestEnvironmentOfAHostHoldsNoKey(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	h := build(t, setup{})
	c, err := h.room.around.opts.start(context.Background(), false)
	must(t, err)
	defer c.Close()
	env := readText(t, fmt.Sprintf("/proc/%d/environ", c.Pid))
	for _, kv := range strings.Split(strings.TrimRight(env, "\x00"), "\x00") {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "LANG", "TZ", "JCODE_TREE", "PWD":
		default:
			t.Errorf("the host has %s", kv)
		}
	}
	t.Log("layers:", c.Layers)
}

func TestNoLuaFilesNoHost(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	_, idle := h.room.around.pool.Usage()
	h.room.mu.Lock()
	defer h.room.mu.Unlock()
	if idle != 0 || len(h.room.layers) != 0 {
		t.Error("a host was started without any Lua")
	}
}

func TestSpareEndsWhenIdle(t *testing.T) {
	t.Parallel()
	h := build(t, setup{opts: Options{idleLimit: 50 * time.Millisecond}})
	h.tool("x", simple, `return 1`)
	h.start()
	wantText(t, h.call("x", none()), "1")
	eventually.True(t, "idle hosts are gone", func() bool {
		_, idle := h.room.around.pool.Usage()
		return idle == 0
	})
	wantText(t, h.call("x", none()), "1")
}

func TestNewToolsAndPluginsWorkAsWritten(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	paths, err := NewTool(h.dir, "fresh", false)
	must(t, err)
	if _, err := NewTool(h.dir, "fresh", false); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Error(err)
	}
	_, err = NewPlugin(h.config, "fresh_plugin", true)
	must(t, err)
	for _, bad := range []string{"a b", "../x", "mcp__x", ""} {
		if _, err := NewTool(h.dir, bad, false); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	problems, err := Check(t.Context(), filepath.Dir(filepath.Dir(paths[0])), Around{})
	if err != nil || len(problems) != 0 {
		t.Errorf("%v %q", err, problems)
	}
	writeFile(t, filepath.Join(h.dir, "f"), "a\nbbb\n")
	h.start()
	wantText(t, h.call("fresh", map[string]any{"path": "f"}), "f has 2 lines; the longest is line 2 with 3 bytes")
	eventually.True(t, "the plugin is there", func() bool { return h.has("fresh_plugin_turns") })
	wantText(t, h.call("fresh_plugin_turns", none()), "0")
}

func TestCheckFindsFaultsWithoutRunning(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	writeFile(t, filepath.Join(dir, "bad/"+manifest.FileName), `{"description": "d", "permissions": {"x": 1}}`)
	writeFile(t, filepath.Join(dir, "bad/"+manifest.MainName), "local x = = 2")
	writeFile(t, filepath.Join(dir, "half/"+manifest.FileName), simple)
	writeFile(t, filepath.Join(dir, "no good/"+manifest.FileName), simple)
	writeFile(t, filepath.Join(dir, "no good/"+manifest.MainName), "while true do end")
	writeFile(t, filepath.Join(dir, "p.lua"), "return {")
	writeFile(t, filepath.Join(dir, "read/"+manifest.FileName), simple)
	writeFile(t, filepath.Join(dir, "read/"+manifest.MainName), "return 1")
	problems, err := Check(t.Context(), dir, Around{Builtin: func(name string) bool { return name == "read" }})
	must(t, err)
	text := strings.Join(problems, "\n")
	for _, want := range []string{
		"bad/mcp_tool.json:1: unknown key permissions.x", "bad/main.lua:1: near '='", "half/main.lua: is missing", "no good: the folder name is not a tool name", "p.lua:1: at the end",
		"read: a builtin tool is called read, and keeps the name: choose another",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestStubsDescribeTheWholeAPI(t *testing.T) {
	t.Parallel()
	s := Stubs()
	for _, f := range wire.API() {
		if !strings.Contains(s, "function "+f.Name+"(") {
			t.Errorf("%s is missing", f.Name)
		}
	}
}

// TestHostsEndWithTheirParent kills a parent by SIGKILL while its host is stuck inside a
// library call.
func TestHostsEndWithTheirParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks at /proc")
	}
	exe, err := os.Executable()
	must(t, err)
	parent := exec.Command(exe, parentMode)
	out, err := parent.StdoutPipe()
	must(t, err)
	must(t, parent.Start())
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil || pid == 0 {
		t.Fatalf("no host: %v", err)
	}
	if pool.ResidentMemory(pid) == 0 {
		t.Fatal("the host does not run")
	}
	must(t, parent.Process.Kill())
	_ = parent.Wait() // killed
	began := time.Now()
	eventually.True(t, "the host is gone", func() bool { return pool.ResidentMemory(pid) == 0 })
	t.Logf("gone after %v", time.Since(began))
}

// parentMode makes this binary a parent that waits for a stuck host.
const parentMode = "lua-parent"

func runParent() {
	c, err := pool.StartProcess(context.Background(), false)
	if err != nil {
		fmt.Println(0)
		return
	}
	st := &principal{around: &surroundings{}, env: wire.EnvTool, perms: &manifest.Permissions{}}
	time.AfterFunc(200*time.Millisecond, func() { fmt.Println(c.Pid) })
	c.Do(context.Background(), pool.Job{Msg: wire.Message{Type: wire.TypeRun, Name: "x", Text: `return (("a"):rep(28)):find((("a*"):rep(20)) .. "b")`}, Limit: time.Minute, Env: st.env, Owner: st})
}

func TestARunThatNobodySawIsNoApproval(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerNo)
	declared := `{"description": "d", "read_only": true, "permissions": {"intents": ["read"]}}`
	dir := h.tool("r", declared, `return "one"`)
	h.start()
	ask := func(mode tools.Mode) tools.Question {
		t.Helper()
		before := len(h.asker.asked())
		h.mode = mode
		h.call("r", none())
		qs := h.asker.asked()
		if len(qs) != before+1 {
			t.Fatalf("asked %d times", len(qs)-before)
		}
		return qs[before]
	}
	whole := func(q tools.Question, source string) {
		t.Helper()
		if !strings.Contains(q.Diff, "+"+declared) || !strings.Contains(q.Diff, "+"+source) || strings.Contains(q.Diff, "\n-{") || strings.Contains(q.Diff, "\n-return") {
			t.Errorf("not the whole declared and source:\n%s", q.Diff)
		}
		if slices.Contains(q.Details, "changed since it was approved") {
			t.Errorf("nobody approved it: %q", q.Details)
		}
	}
	h.mode = tools.ModeYolo
	wantText(t, h.call("r", none()), "one")
	whole(ask(tools.ModeAsk), `return "one"`)

	writeFile(t, filepath.Join(dir, manifest.MainName), `return "two"`)
	whole(ask(tools.ModeAsk), `return "two"`)

	h.asker.says(tools.AnswerOnce)
	whole(ask(tools.ModeAsk), `return "two"`)
	writeFile(t, filepath.Join(dir, manifest.MainName), `return "three"`)
	h.mode = tools.ModeYolo
	wantText(t, h.call("r", none()), "three")
	writeFile(t, filepath.Join(dir, manifest.MainName), `return "four"`)
	if q := ask(tools.ModeAsk); !strings.Contains(q.Diff, `-return "two"`) || !strings.Contains(q.Diff, `+return "four"`) || strings.Contains(q.Diff, "three") {
		t.Errorf("the difference is to what was approved:\n%s", q.Diff)
	}
}

func TestAPluginIsShownWithAllItsFiles(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	dir := filepath.Join(h.dir, ".jcode", "lua", "plugins", "many")
	writeFile(t, filepath.Join(dir, "init.lua"), `local m = require("parts.inner") return {id = "many", permissions = {events = {"prompt"}}}`)
	writeFile(t, filepath.Join(dir, "parts", "inner.lua"), "return 'inner text'")
	h.start()
	eventually.True(t, "the question is put", func() bool { return len(h.asker.asked()) == 1 })
	q := h.asker.asked()[0]
	for _, want := range []string{"+++ b/many/init.lua", "+++ b/many/parts/inner.lua", "+return 'inner text'"} {
		if !strings.Contains(q.Diff, want) {
			t.Errorf("%q is missing in\n%s", want, q.Diff)
		}
	}
}

func TestAnIntentThatGoesBeyondTheCapabilitiesIsSaid(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerNo)
	h.plugin("p", `return {id = "p", permissions = {capabilities = {"READ"}, intents = {"write", "read"}}}`)
	h.start()
	eventually.True(t, "the question is put", func() bool { return len(h.asker.asked()) == 1 })
	want := "permissions.intents grants write by name, without the capability WRITE"
	if q := h.asker.asked()[0]; !slices.Contains(q.Details, want) {
		t.Errorf("%q", q.Details)
	}
}

// A script may not dial an address that fetch refuses.
func TestScriptsDoNotDialAddressesOutsideThePublicInternet(t *testing.T) {
	t.Parallel()
	guard := &dialGuard{}
	for _, address := range []string{"127.0.0.1:9", "198.18.0.1:9", "240.0.0.1:9", "100.64.0.1:9", "[64:ff9b::7f00:1]:9", "[2002:7f00:1::]:9", "[::7f00:1]:9"} {
		c, err := guard.dial(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "leads to the local address") && !strings.Contains(err.Error(), "protocol not supported") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

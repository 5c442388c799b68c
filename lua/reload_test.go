package lua

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/tools"
)

// The twelve acceptance tests of hot reload, on a real folder.

func none() map[string]any { return map[string]any{} }

func TestReload_01_root_created_after_start(t *testing.T) {
	t.Parallel()
	h := started(t, setup{})
	h.tool("late", simple, `return "late"`)
	eventually.True(t, "late is there", func() bool { return h.has("late") })
	writeFile(t, filepath.Join(h.config, "lua/tools/mine", manifest.MainName), `return "mine"`)
	writeFile(t, filepath.Join(h.config, "lua/tools/mine", manifest.FileName), simple)
	eventually.True(t, "mine is there", func() bool { return h.has("mine") })
	wantText(t, h.call("mine", none()), "mine")
}

func TestReload_02_new_folder_is_callable_in_the_next_step(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("first", simple, `return 1`)
	h.start()
	h.tool("second", simple, `return "second"`)
	h.room.Refresh() // what the agent does before each step
	if !h.has("second") {
		t.Fatal("not there after Refresh")
	}
	wantText(t, h.call("second", none()), "second")
	began := time.Now()
	h.tool("third", simple, `return "third"`)
	eventually.True(t, "third is there", func() bool { return h.has("third") })
	t.Logf("a new folder was live after %v", time.Since(began))
}

func TestReload_03_edited_script_runs_at_the_next_call(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("x", simple, `return "one"`)
	h.start()
	wantText(t, h.call("x", none()), "one")
	for i, word := range []string{"two", "three", "sixs"} {
		writeFile(t, filepath.Join(dir, manifest.MainName), `return "`+word+`"`)
		wantText(t, h.call("x", none()), word)
		_ = i
	}
}

func TestReload_04_edited_manifest_shows_in_the_next_snapshot(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("x", simple, `return "one"`)
	h.start()
	before := h.reg.Version()
	writeFile(t, filepath.Join(dir, manifest.FileName), `{"description": "Other.", "parameters": [{"name": "b", "type": "integer"}, {"name": "a", "type": "array", "required": false}]}`)
	h.room.Refresh()
	e, _ := lookup(h.reg, "x")
	if e.Spec.Description != "Other." || string(e.Spec.Parameters) != `{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"array"}},"required":["b"]}` {
		t.Errorf("%s %s", e.Spec.Description, e.Spec.Parameters)
	}
	if h.reg.Version() != before+1 {
		t.Errorf("%d versions for one change", h.reg.Version()-before)
	}
}

func TestReload_05_deleted_folder_is_an_unknown_intent(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("x", simple, `return "one"`)
	h.start()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, h.call("x", none()), tools.KindUnknown, "unknown intent: x")
	wantFailure(t, h.call("x", none()), tools.KindUnknown, "(removed)")
	if h.has("x") {
		t.Error("still listed")
	}
}

func TestReload_06_fault_affects_that_tool_only(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("good", simple, `return "good"`)
	h.tool("bad_manifest", `{"description": "x", "parameters": 5}`, `return 1`)
	h.tool("bad_json", "{\n\n  \"description\": }", `return 1`)
	h.tool("bad_source", simple, "local x =\n=")
	h.tool("bad_key", `{"description": "x", "permissions": {"netwrok": {}}}`, `return 1`)
	h.start()
	wantText(t, h.call("good", none()), "good")
	wantFailure(t, h.call("bad_manifest", none()), tools.KindLoad, `bad_manifest/mcp_tool.json:1: "parameters" must be an array`)
	wantFailure(t, h.call("bad_json", none()), tools.KindLoad, "bad_json/mcp_tool.json:3: ")
	wantFailure(t, h.call("bad_source", none()), tools.KindLoad, "bad_source/main.lua:2: near '='")
	wantFailure(t, h.call("bad_key", none()), tools.KindLoad, "unknown key permissions.netwrok")
}

func TestReload_07_broken_tool_stays_with_its_last_schema(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("x", `{"description": "Good.", "parameters": [{"name": "p", "type": "string"}]}`, `return p`)
	h.start()
	writeFile(t, filepath.Join(dir, manifest.FileName), `{"description": "Bad.", "parameters": [{"name": "end"}]}`)
	h.room.Refresh()
	e, ok := lookup(h.reg, "x")
	if !ok || e.Spec.Description != "Good." || !strings.Contains(string(e.Spec.Parameters), `"p"`) || !strings.Contains(e.Spec.Note, "load error") {
		t.Errorf("%v %+v", ok, e.Spec)
	}
	wantFailure(t, h.call("x", map[string]any{"p": "v"}), tools.KindLoad, `x/mcp_tool.json:1: parameter name "end": this is a Lua keyword`)
	writeFile(t, filepath.Join(dir, manifest.FileName), `{"description": "Good.", "parameters": [{"name": "p", "type": "string"}]}`)
	writeFile(t, filepath.Join(dir, manifest.MainName), "if then")
	wantFailure(t, h.call("x", map[string]any{"p": "v"}), tools.KindLoad, "x/main.lua:1: near 'then'")
	if !h.has("x") {
		t.Error("gone")
	}
}

func TestReload_08_mending_heals(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("x", simple, `return "one`)
	h.start()
	eventually.True(t, "the fault is told", func() bool { return h.told.count("warn: lua x: x/main.lua:1") == 1 })
	wantFailure(t, h.call("x", none()), tools.KindLoad, "x/main.lua:1")
	writeFile(t, filepath.Join(dir, manifest.MainName), `return "healed"`)
	wantText(t, h.call("x", none()), "healed")
	eventually.True(t, "the cure is told", func() bool { return h.told.count("lua x: loads again") == 1 })
	if h.told.count("x/main.lua") != 1 {
		t.Error(h.told.all())
	}
}

func TestReload_09_editors_cause_one_reload_each(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("x", simple, `return "v0"`)
	h.start()
	main := filepath.Join(dir, manifest.MainName)
	halves := false // half a file was seen
	for i, save := range []func(text string){
		func(text string) { // atomic rename
			writeFile(t, main+".tmp123", text)
			must(t, os.Rename(main+".tmp123", main))
		},
		func(text string) { writeFile(t, main, text) }, // truncate, then write
		func(text string) { // vim: back up, write a new file, remove the backup; with a swap file
			writeFile(t, filepath.Join(dir, ".main.lua.swp"), "swap")
			must(t, os.Rename(main, main+"~"))
			writeFile(t, main, text)
			must(t, os.Remove(main+"~"))
			must(t, os.Remove(filepath.Join(dir, ".main.lua.swp")))
		},
		func(text string) { // a slow writer
			f, err := os.Create(main)
			must(t, err)
			time.Sleep(30 * time.Millisecond)
			_, err = f.WriteString(text)
			must(t, err)
			must(t, f.Close())
		},
	} {
		for deadline, try := time.Now().Add(patience), 0; ; try++ {
			before := h.reg.Version()
			word := string(rune('a'+i)) + strconv.Itoa(try)
			began := time.Now()
			save(`return "` + word + `"`)
			took := time.Since(began)
			eventually.True(t, "the new version is live", func() bool {
				e, _ := lookup(h.reg, "x")
				return h.reg.Version() > before && e.Spec.Note == "" && h.live("x", word)
			})
			eventually.Holds(250*time.Millisecond, func() bool { return h.reg.Version() > before+1 }) // no second reload may follow
			versions := int(h.reg.Version() - before)
			wantText(t, h.call("x", none()), word)
			if versions == 1 {
				break
			}
			// If the machine paused while the file was half written, both halves are reloads.
			if took <= youngFile || time.Now().After(deadline) {
				t.Errorf("save %d, of %v, made %d versions", i, took, versions)
				break
			}
			halves = true
		}
	}
	if h.told.all() != "" && !halves {
		t.Error(h.told.all())
	}
}

func (h *house) live(tool, word string) bool {
	for _, s := range h.room.slots() {
		if s.name == tool {
			v := s.current()
			return v != nil && strings.Contains(v.source, word)
		}
	}
	return false
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReload_09_sed_in_place(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("no sed on this machine")
	}
	h := build(t, setup{})
	dir := h.tool("x", simple, `return "old"`)
	h.start()
	if out, err := exec.Command("sed", "-i", "s/old/new/", filepath.Join(dir, manifest.MainName)).CombinedOutput(); err != nil {
		t.Skipf("sed -i does not work here: %s", out)
	}
	wantText(t, h.call("x", none()), "new")
}

func TestReload_10_running_call_ends_on_its_code(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("slow", simple, `local till = jcode.time() + 0.5 while jcode.time() < till do end return "old"`)
	h.start()
	res := make(chan tools.Result, 1)
	go func() { res <- h.call("slow", none()) }()
	eventually.True(t, "it runs", func() bool { return h.running() == 1 })
	writeFile(t, filepath.Join(dir, manifest.MainName), `return "new"`)
	h.room.Refresh()
	wantText(t, <-res, "old")
	wantText(t, h.call("slow", none()), "new")
}

func (h *house) running() int {
	running, _ := h.room.around.pool.Usage()
	return running
}

func TestReload_11_taken_name_is_refused_with_a_reason(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	must(t, h.reg.Register("mcp:s", tools.RankMCP, stub{spec: tools.Spec{Name: "taken", Description: "d"}}))
	h.tool("read", simple, `return "evil"`)
	h.tool("taken", simple, `return "evil"`)
	h.tool("both", simple, `return "project"`)
	folderTool(t, h, "both", simple, `return "other place"`)
	writeFile(t, filepath.Join(h.config, "lua/tools/both", manifest.MainName), `return "user"`)
	writeFile(t, filepath.Join(h.config, "lua/tools/both", manifest.FileName), simple)
	h.start()
	state := func(scope, name, part string) string {
		for _, it := range h.room.Panel().Items {
			if it.Scope == scope && it.Name == name && strings.Contains(it.Path, part) {
				return it.State
			}
		}
		return "?"
	}
	for _, tt := range [][4]string{
		{"project", "read", "", "already registered by builtin"},
		{"project", "taken", "", "already registered by mcp:s"},
		{"project", "both", ".jcode", "ok"},
		{"project", "both", "mcp_lua", "already registered by " + filepath.Join(h.dir, ".jcode/lua/tools/both")},
	} {
		if got := state(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("%s: %s", tt[1], got)
		}
	}
	if s := state("user", "both", ""); !strings.Contains(s, "tool:project/both") {
		t.Errorf("user tool: %s", s)
	}
	wantText(t, h.call("both", none()), "project")
	// When the tool with precedence is removed, the shadowed ones return.
	must(t, os.RemoveAll(filepath.Join(h.dir, ".jcode/lua/tools/both")))
	h.room.Refresh()
	wantText(t, h.call("both", none()), "other place")
	must(t, os.RemoveAll(filepath.Join(h.dir, "mcp_lua")))
	h.room.Refresh()
	eventually.True(t, "the user's tool is back", func() bool { return h.has("both") })
	wantText(t, h.call("both", none()), "user")
	h.reg.UnregisterOwner("mcp:s")
	eventually.True(t, "the name is free", func() bool { e, ok := lookup(h.reg, "taken"); return ok && e.Owner == "tool:project/taken" })
}

func TestReload_12_list_changes_between_steps_only(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("x", simple, `return 1`)
	h.start()
	snap := h.reg.Snapshot(nil)
	h.tool("y", simple, `return 2`)
	h.room.Refresh()
	if len(snap.List()) != 9 || len(h.reg.Snapshot(nil).List()) != 10 {
		t.Errorf("%d in the old snapshot, %d in the new", len(snap.List()), len(h.reg.Snapshot(nil).List()))
	}
}

func TestUntrustedProjectIsInert(t *testing.T) {
	t.Parallel()
	h := build(t, setup{untrust: true})
	h.tool("x", `{"description": "d", "permissions": {"intents": ["read"]}}`, `return "ran"`)
	h.plugin("p", `print("ran") return {id = "p"}`)
	h.start()
	if h.has("x") {
		t.Error("offered")
	}
	wantFailure(t, h.call("x", none()), tools.KindUntrusted, "nobody has trusted")
	if l := h.room.Log("p"); len(l) != 0 {
		t.Errorf("the plugin ran: %+v", l)
	}
	items := h.room.Untrusted()
	if len(items) != 2 || items[1].Name != "x" || !slices.Equal(items[1].Runs, []string{"may call the tools: read"}) {
		t.Errorf("%+v", items)
	}
	h.trust.set(true)
	must(t, h.room.Reload(""))
	if !h.has("x") {
		t.Error("not offered after trust")
	}
	eventually.True(t, "the plugin runs", func() bool { return len(h.room.Log("p")) > 0 })
}

func TestErrorOfTrustIsLoggedOncePerChange(t *testing.T) {
	t.Parallel()
	h := build(t, setup{untrust: true})
	h.tool("x", simple, `return 1`)
	h.start()
	before := len(h.room.Log("lua"))
	for _, step := range []struct {
		err  error
		want int
	}{{errors.New("disk I/O error"), 1}, {errors.New("disk I/O error"), 1}, {nil, 1}, {errors.New("disk I/O error"), 2}} {
		h.trust.fail(step.err)
		h.room.trust.forget()
		if h.room.trusted("project") {
			t.Errorf("trusted after %v", step.err)
		}
		if got := h.room.Log("lua")[before:]; len(got) != step.want {
			t.Errorf("after %v the log has %+v, want %d lines", step.err, got, step.want)
		}
	}
}

func TestLinkOutOfTheProjectIsRefused(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	outside := realDir(t)
	writeFile(t, filepath.Join(outside, "out", manifest.MainName), `return "outside"`)
	writeFile(t, filepath.Join(outside, "out", manifest.FileName), simple)
	must(t, os.MkdirAll(filepath.Join(h.dir, ".jcode/lua/tools"), 0o777))
	if err := os.Symlink(filepath.Join(outside, "out"), filepath.Join(h.dir, ".jcode/lua/tools/out")); err != nil {
		t.Skip("no links here")
	}
	h.start()
	wantFailure(t, h.call("out", none()), tools.KindLoad, "leads out of the project")
}

func TestResultsAsTheContractSays(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	for name, tt := range map[string][2]string{
		"r_string":  {`return "s"`, "s"},
		"r_number":  {`return 3`, "3"},
		"r_float":   {`return 1.5`, "1.5"},
		"r_bool":    {`return true`, "true"},
		"r_nil":     {`return nil`, ""},
		"r_nothing": {``, ""},
		"r_content": {`return {ok = true, content = "c", n = 1}`, "c"},
		"r_data":    {`return {ok = true, data = "d"}`, "d"},
		"r_table":   {`return {ok = true, b = 1, a = {1, 2}}`, `{"a":[1,2],"b":1}`},
		"r_array":   {`return {1, "x"}`, `[1,"x"]`},
		"r_empty":   {`return {}`, `{}`},
		"r_bytes":   {`return "a\255b"`, "a\uFFFDb"},
	} {
		h.tool(name, simple, tt[0])
	}
	h.tool("e_table", simple, `return {ok = false, error = "no luck", error_kind = "io"}`)
	h.tool("e_pair", simple, `return nil, "bad"`)
	h.tool("e_raise", simple, "\nerror('boom')")
	h.tool("e_exec", simple, `return {ok = false, error = "exit status 2: x", code = 2, stdout = "out", stderr = "err"}`)
	h.tool("long", simple, `return ("x"):rep(2 * 1024 * 1024)`)
	h.start()
	for name, want := range map[string]string{
		"r_string": "s", "r_number": "3", "r_float": "1.5", "r_bool": "true", "r_nil": "", "r_nothing": "", "r_content": "c", "r_data": "d",
		"r_table": `{"a":[1,2],"b":1}`, "r_array": `[1,"x"]`, "r_empty": `{}`, "r_bytes": "a\uFFFDb",
	} {
		if res := h.call(name, none()); res.Failed || res.Text != want {
			t.Errorf("%s: %+v", name, res)
		}
	}
	wantFailure(t, h.call("e_table", none()), tools.KindIO, "no luck")
	wantFailure(t, h.call("e_pair", none()), tools.KindScript, "bad")
	if res := h.call("e_raise", none()); res.Text != "e_raise/main.lua:2: boom" {
		t.Error(res.Text)
	}
	wantFailure(t, h.call("e_exec", none()), tools.KindScript, "exit status 2: x\nexit code: 2\nstdout:\nout\nstderr:\nerr")
	if res := h.call("long", none()); res.Failed || len(res.Text) > 1<<20+200 || !strings.Contains(res.Text, "at most 1 MiB") {
		t.Errorf("%d bytes", len(res.Text))
	}
}

func TestParametersDefaultsAndTypes(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("p", `{
  // comments and trailing commas are fine
  "description": "d",
  "parameters": [
    {"name": "s", "type": "string"},
    {"name": "n", "type": "integer", "default": 7},
    {"name": "o", "type": "string", "required": false},
    {"name": "l", "type": "array", "items": {"type": "string"}, "required": false},
  ],
}`, `return json.encode({s = s, n = n, o = tostring(o), l = l or json.array(), p = params.s})`)
	h.start()
	wantText(t, h.call("p", map[string]any{"s": "x"}), `{"l":[],"n":7,"o":"nil","p":"x","s":"x"}`)
	wantText(t, h.call("p", map[string]any{"s": "x", "n": 1, "l": []string{"a"}}), `{"l":["a"],"n":1,"o":"nil","p":"x","s":"x"}`)
	wantFailure(t, h.call("p", map[string]any{"s": map[string]any{}}), tools.KindInvalidArgs, "s must be string")
}

func TestCancelledCallReturnsSoon(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("loop", simple, `while true do end`)
	h.start()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	began := time.Now()
	res := h.callCtx(ctx, "loop", none())
	if d := time.Since(began); d > late || res.Kind != tools.KindCancelled {
		t.Errorf("%v, %+v", d, res)
	}
}

// A call that is cancelled before its host has started does not count as a failure of the tool.
func TestCallCancelledBeforeItsHostStartsIsNoFailure(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	h := build(t, setup{opts: Options{start: func(ctx context.Context, _ bool) (*pool.Conn, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over:
			return nil, errors.New("the test is over")
		}
	}}})
	t.Cleanup(func() { close(over) })
	h.tool("x", simple, `return 1`)
	h.room.Refresh()
	for range maxFailures + 1 {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Millisecond, cancel)
		if res := h.callCtx(ctx, "x", none()); res.Kind != tools.KindCancelled {
			t.Fatalf("%+v", res)
		}
	}
}

// Tools stay registered while their root can't be read (too many open files, a network file system).
func TestAFolderThatCannotBeReadKeepsItsTools(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	root := filepath.Dir(h.tool("stays", simple, `return "here"`))
	h.start()
	must(t, os.Rename(root, root+".aside"))
	if err := os.Symlink(root, root); err != nil { // a link to itself, which no system resolves
		t.Skipf("links can't be made here: %v", err)
	}
	h.room.Refresh()
	if _, ok, _ := h.reg.Snapshot(nil).Lookup("stays"); !ok {
		t.Error("it is gone")
	}
	must(t, os.Remove(root))
	h.room.Refresh()
	if _, ok, _ := h.reg.Snapshot(nil).Lookup("stays"); ok {
		t.Error("it is there although its root is not")
	}
}

// Hundreds of folders are scanned concurrently; a change in any of them is found.
func TestEachOfManyFoldersIsLookedAt(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	const n = 300
	old := time.Now().Add(-time.Hour)
	dirs := make([]string, n)
	for i := range n {
		dirs[i] = h.tool(fmt.Sprintf("t%03d", i), simple, `return "old"`)
		must(t, os.Chtimes(filepath.Join(dirs[i], manifest.MainName), old, old))
		must(t, os.Chtimes(filepath.Join(dirs[i], manifest.FileName), old, old))
	}
	h.start()
	version := func(i int) string {
		e, ok, _ := h.reg.Snapshot(nil).Lookup(fmt.Sprintf("t%03d", i))
		if !ok {
			return ""
		}
		return e.Spec.Hash
	}
	before := make([]string, n)
	for i := range n {
		if before[i] = version(i); before[i] == "" {
			t.Fatalf("t%03d is missing", i)
		}
	}
	changed := map[int]bool{0: true, 63: true, 64: true, 150: true, n - 1: true}
	for i := range changed {
		writeFile(t, filepath.Join(dirs[i], manifest.MainName), `return "new"`)
	}
	must(t, os.Remove(filepath.Join(dirs[7], manifest.MainName)))
	h.room.Refresh()
	for i := range n {
		now := version(i)
		if want := before[i]; i == 7 && now != "" || i != 7 && (now == want) == changed[i] {
			t.Errorf("t%03d: %.8s, before %.8s", i, now, want)
		}
	}
}

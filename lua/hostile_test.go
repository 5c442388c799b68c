package lua

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/shorten"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// The hostile scripts. Each must end within twice its time limit, let this process grow by less
// than 64 MB, and leave the next call working.

const (
	shortManifest = `{"description": "d", "timeout_ms": 500}`
	growManifest  = `{"description": "d", "timeout_ms": 2000}`  // time to reach a limit of memory
	longManifest  = `{"description": "d", "timeout_ms": 60000}` // for scripts that must not end by time
)

// growing are hostile scripts that allocate memory until something stops them.
var growing = strings.Fields("concat_growth table_growth sparse_table wide_format gmatch_early ten_million")

func heapMB() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc >> 20)
}

func TestHostileScripts(t *testing.T) {
	type kinds []tools.ErrorKind
	limits := kinds{tools.KindLimit, tools.KindTimeout, tools.KindKilled}
	for _, tt := range []struct {
		name, source string
		kinds        kinds  // the accepted outcomes; KindNone is success
		text         string // in the result, if set
	}{
		{"endless", `while true do end`, limits, "reached"},
		{"nested_pcall", `while true do pcall(function() while true do pcall(error, 1) end end) end`, limits, "reached"},
		{"nested_xpcall", `while true do xpcall(function() while true do end end, function() while true do end end) end`, limits, "reached"},
		{"coroutine_loop", `local co = coroutine.wrap(function() while true do end end) co()`, limits, "reached"},
		{"concat_growth", `local s = "xxxxxxxxxxxxxxxx" while true do s = s .. s end`, limits, ""},
		{"table_growth", `local t = {} while true do t[#t + 1] = {1, 2, 3} end`, limits, ""},
		{"sparse_table", `local t = {} for i = 1, 100 do local u = {} u[60000000] = 1 t[i] = u end`, limits, ""},
		{"rep_1e10", `return ("x"):rep(1e10)`, kinds{tools.KindScript}, "10 MiB"},
		{"rep_1e18", `return ("x"):rep(1e18)`, kinds{tools.KindScript}, "10 MiB"},
		{"wide_format", `local a = {} for i = 1, 2000 do a[i] = 1 end return #(("%999999d"):rep(2000)):format(unpack(a))`, limits, ""},
		{"nested_repeats", `return (("a"):rep(28)):find((("a*"):rep(20)) .. "b")`, append(limits, tools.KindNone, tools.KindScript), ""},
		{"lazy_900k", `return (("a"):rep(900 * 1024)):find(".-b")`, append(limits, tools.KindNone, tools.KindScript), ""},
		{"greedy_6m", `return (("a"):rep(6 * 1024 * 1024)):find("a*b")`, append(limits, tools.KindNone, tools.KindScript), ""},
		{"gsub_100k", `return #((("a"):rep(100 * 1024)):gsub("a", "b"))`, append(limits, tools.KindNone), ""},
		{"gmatch_early", `for w in (("a "):rep(1024 * 1024)):gmatch("%a") do return w end`, append(limits, tools.KindNone), ""},
		{"concat_20000", `local t = {} for i = 1, 20000 do t[i] = "x" end return #table.concat(t)`, kinds{tools.KindNone}, "20000"},
		{"recursion", `local function f() return 1 + f() end return f()`, kinds{tools.KindScript}, "overflow"},
		{"unpack_1e8", `return unpack({}, 1, 1e8)`, kinds{tools.KindScript}, "overflow"},
		{"coroutine_bomb", `local t = {} while true do t[#t + 1] = coroutine.create(function() coroutine.yield() end) coroutine.resume(t[#t]) end`, append(limits, tools.KindScript), ""},
		{"yield_in_pcall", `return coroutine.wrap(function() local ok, why = pcall(coroutine.yield) return why end)()`, kinds{tools.KindNone}, "attempt to yield across pcall"},
		{"yield_in_sort", `local ok, why = pcall(coroutine.wrap(function() table.sort({3, 2, 1}, function() coroutine.yield() end) end)) return why`, kinds{tools.KindNone}, "attempt to yield"},
		{"yield_in_metamethod", `return coroutine.wrap(function() return setmetatable({}, {__index = function() coroutine.yield(1) end}).x end)()`, append(limits, tools.KindNone, tools.KindScript), ""},
		{"deep_data", `local t = {} local u = t for i = 1, 100 do u.t = {} u = u.t end return t`, kinds{tools.KindScript}, "nested deeper than 64"},
		{"cycle", `local t = {} t.t = t return t`, kinds{tools.KindScript}, "cycle"},
		{"nan", `return {x = 0/0}`, kinds{tools.KindScript}, "result.x"},
		{"ten_million", `local t = {} for i = 1, 1e7 do t[i] = 1 end return t`, append(limits, tools.KindScript), ""},
		{"invalid_utf8", `return "\255\254ok"`, kinds{tools.KindNone}, "ok"},
		{"print_flood", `while true do print(("x"):rep(1000)) end`, limits, ""},
		{"progress_flood", `while true do jcode.progress("x") end`, limits, ""},
		{"state_flood", `for i = 1, 1e9 do state.set("k", i) end`, limits, ""},
		{"big_state", `state.set("k", ("x"):rep(70000))`, kinds{tools.KindScript}, "at most 65536"},
		{"proxy", `setmetatable(string, {__newindex = error}) return ("x"):upper()`, kinds{tools.KindNone}, "X"},
		{"tostring_loop", `return tostring(setmetatable({}, {__tostring = function() while true do end end}))`, limits, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shorten.OneIn(t, 3)
			h := build(t, setup{})
			manifest := shortManifest
			switch {
			case !slices.Contains(tt.kinds, tools.KindTimeout):
				manifest = longManifest
			case slices.Contains(growing, tt.name):
				manifest = growManifest
			}
			h.tool(tt.name, manifest, tt.source)
			h.tool("after", simple, `return ("ok"):upper()`)
			h.start()
			before := heapMB()
			began := time.Now()
			res := h.call(tt.name, none())
			took := time.Since(began)
			if took > late {
				t.Errorf("took %v", took)
			}
			fine := false
			for _, k := range tt.kinds {
				fine = fine || k == res.Kind
			}
			if !fine || !strings.Contains(res.Text, tt.text) {
				t.Errorf("kind %q, %.300s", res.Kind, res.Text)
			}
			if res.Kind == tools.KindTimeout || res.Kind == tools.KindLimit || res.Kind == tools.KindKilled {
				if !strings.HasPrefix(res.Text, "lua tool:project/"+tt.name+": ") || !strings.Contains(res.Text, "; ") {
					t.Errorf("text %q", res.Text)
				}
			}
			t.Logf("%v, %q %.100s", took.Round(time.Millisecond), res.Kind, res.Text)
			if grown := heapMB() - before; grown > 64 {
				t.Errorf("this process grew by %d MB", grown)
			}
			wantText(t, h.call("after", none()), "OK")
		})
	}
}

// Corner cases of the language and of its arguments. Each must end in a value or in a script error
// that mentions nothing of Go, and the host must serve the next call.
func TestCornersEndInAValueOrAnErrorOfTheScript(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.tool("after", simple, `return ("ok"):upper() .. type(string.find) .. math.floor(2.5) .. json.encode({1}) .. tostring(json.null == json.decode("[null]")[1])`)
	sources := map[string]string{
		"error_tostring_loop": `error(setmetatable({}, {__tostring = function() while true do end end}))`,
		"error_tostring_err":  `error(setmetatable({}, {__tostring = function() error("x") end}))`,
		"error_table":         `error({1})`,
		"error_nil":           `error()`,
		"error_big":           `error(("x"):rep(1e7))`,
		"error_level":         `error("x", 1e9)`,
		"error_neg_level":     `error("x", -5)`,
		"error_func":          `error(print)`,
		"error_null":          `error(json.null)`,
		"xpcall_handler_err":  `return tostring(xpcall(function() error("a") end, function() error("b") end))`,
		"xpcall_rec":          `local function h() xpcall(error, h) end xpcall(error, h) return "x"`,
		"xpcall_self":         `return tostring(xpcall(xpcall, xpcall))`,
		"rep_nan":             `return pcall(string.rep, "x", 0/0) and "y" or "n"`,
		"byte_1e8":            `return select("#", ("x"):rep(1e7):byte(1, 1e8))`,
		"char_300":            `return string.char(300, -1)`,
		"fmt_d_huge":          `return string.format("%d %d %d", 1e300, -1e300, 0/0)`,
		"fmt_c":               `return string.format("%c", 1e9)`,
		"fmt_star":            `return string.format("%*d", 1e9, 1)`,
		"fmt_prec":            `return #string.format("%.99999999f", 1)`,
		"fmt_q":               `return string.format("%q", ("\0"):rep(1000))`,
		"fmt_few":             `return string.format("%s %s %s", 1)`,
		"fmt_bad":             `return string.format("%y %", 1)`,
		"fmt_v":               `return string.format("%v %T %p", string, string, string)`,
		"select_neg":          `return select(-1e9, 1)`,
		"select_nan":          `return select(0/0, 1)`,
		"unpack_range":        `return unpack({}, -1e9, 1e9)`,
		"unpack_max":          `return unpack({}, 2^53, 2^53+10)`,
		"tinsert_neg":         `local t = {} table.insert(t, -5, 1) return #t`,
		"tremove":             `local t = {1,2} table.remove(t, 1e18) table.remove(t, -1) return #t`,
		"tsort_bad":           `local t = {} for i = 1, 1000 do t[i] = i end table.sort(t, function() return true end) return #t`,
		"tsort_mixed":         `local t = {1, "a", {}} table.sort(t) return 1`,
		"tsort_modify":        `local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function(a, b) for i = 1, 100 do t[i] = nil end return a < b end) return #t`,
		"setn":                `return tostring(table.setn) .. tostring(table.getn)`,
		"next_bad":            `return next({}, "nokey")`,
		"find_init":           `return tostring(("abc"):find("b", -1e18)) .. tostring(("abc"):find("b", 1e18))`,
		"find_bad":            `return ("x"):find("%")`,
		"find_paren":          `return ("x"):find("((((((((((((((((((((((((((((((((((((((((")`,
		"find_class":          `return ("x"):find("[")`,
		"gsub_empty":          `return (("abc"):gsub("", function() return "-" end))`,
		"gsub_tbl":            `return (("abc"):gsub("%w", setmetatable({}, {__index = function(t, k) error("idx") end})))`,
		"gsub_repl":           `return (("abc"):gsub("%w", "%9"))`,
		"gsub_self":           `return (("abc"):gsub("%w", function(c) return (c:gsub(".", "x")) end))`,
		"gmatch_yield":        `return coroutine.wrap(function() for w in ("a b"):gmatch("%w") do coroutine.yield(w) end end)()`,
		"index_loop":          `local a, b = {}, {} setmetatable(a, {__index = b}) setmetatable(b, {__index = a}) return tostring(a.x)`,
		"newindex_loop":       `local a = {} setmetatable(a, {__newindex = a}) a.x = 1 return "x"`,
		"call_loop":           `local a = setmetatable({}, {}) getmetatable(a).__call = a return a()`,
		"concat_loop":         `local a = setmetatable({}, {__concat = function(x, y) return x .. y end}) return a .. a`,
		"eq_loop":             `local mt = {} mt.__eq = function(a, b) return a == b end local a, b = setmetatable({}, mt), setmetatable({}, mt) return tostring(a == b)`,
		"len_meta":            `return #setmetatable({}, {__len = function() return 1e18 end})`,
		"concat_len":          `return table.concat(setmetatable({}, {__len = function() return 1e18 end}))`,
		"unm":                 `return -setmetatable({}, {__unm = function(a) return -a end})`,
		"tostring_notstr":     `return tostring(setmetatable({}, {__tostring = function() return {} end}))`,
		"print_meta":          `print(setmetatable({}, {__tostring = function() error("p") end})) return "x"`,
		"null_meta":           `local ok1 = pcall(setmetatable, json.null, {}) local m = getmetatable(json.null) return tostring(ok1) .. tostring(m)`,
		"null_index":          `return json.null.x`,
		"null_call":           `return json.null()`,
		"jcode_meta":          `setmetatable(jcode, {__index = error, __newindex = error}) return type(jcode.time())`,
		"jcode_nil":           `jcode.log = nil jcode = nil return orcs.pwd and "x" or "y"`,
		"array_meta":          `local a = json.array() local m = getmetatable(a) if m then m.__index = error m.__newindex = error end return json.encode(json.array())`,
		"params_meta":         `setmetatable(params, {__index = function() return params end}) return type(params.x.y.z)`,
		"string_meta":         `local m = getmetatable("") return tostring(m)`,
		"string_index":        `string.x = string return ("a").x.x.x.upper("a")`,
		"decode_deep":         `return tostring(json.decode(("["):rep(1e6)))`,
		"decode_num":          `return tostring(json.decode("1e999"))`,
		"encode_deep":         `local t = {} for i = 1, 1e5 do t = {t} end return tostring(json.encode(t))`,
		"result_func_key":     `return {[print] = 1}`,
		"huge_result":         `return ("x"):rep(9e6)`,
		"dispatch_self":       `local t = {} t.t = t return tostring(pcall(jcode.dispatch, "x", t))`,
		"dispatch_meta":       `return tostring(jcode.dispatch("nope", setmetatable({}, {__index = error, __pairs = error})).error)`,
		"state_deep":          `local t = {} for i = 1, 100 do t = {t} end return tostring(pcall(state.set, "k", t))`,
		"state_key":           `return tostring(pcall(state.set, ("k"):rep(300), 1))`,
		"log_level":           `return tostring(pcall(jcode.log, "nolevel", "x"))`,
		"date_huge":           `return jcode.date("%Y", 1e300) .. jcode.date("%Y", 0/0)`,
		"regex_big":           `return tostring(regex.find("x", ("(a{1000}){1000}")))`,
		"regex_nest":          `return tostring(regex.find("x", ("("):rep(5000) .. (")"):rep(5000)))`,
		"regex_init_nan":      `return tostring(regex.find("abc", "b", 0/0))`,
		"co_wrap_err":         `local f = coroutine.wrap(function() error({}) end) f()`,
		"co_self":             `local co co = coroutine.create(function() coroutine.resume(co) coroutine.wrap(function() coroutine.resume(co) end)() end) return tostring(coroutine.resume(co))`,
		"co_yield_main":       `coroutine.yield()`,
		"co_status":           `return coroutine.status(coroutine.create(print))`,
		"co_deep":             `local function f(n) if n == 0 then return "x" end return coroutine.wrap(function() return f(n - 1) end)() end return f(60)`,
		"co_deep2":            `local function f(n) return coroutine.wrap(function() return f(n - 1) end)() end return f(60)`,
		"co_in_tostring":      `return tostring(setmetatable({}, {__tostring = function() return coroutine.wrap(function() coroutine.yield("y") end)() end}))`,
		"co_sort":             `return coroutine.wrap(function() table.sort({3,2,1}, function(a, b) coroutine.yield(1) return a < b end) end)()`,
		"for_nan":             `for i = 1, 0/0 do end for i = 1, 10, 0/0 do end return "x"`,
		"for_zero":            `for i = 1, 10, 0 do end return "x"`,
		"random":              `return math.random(0) .. math.random(2, 1)`,
		"randomseed":          `math.randomseed(0/0) return math.random(1, 2^60) and "x"`,
		"mod0":                `return tostring(1 % 0) .. tostring(2^1e9)`,
		"rawset_idx":          `local t = {} t[0/0] = 1`,
		"nil_idx":             `local t = {} t[nil] = 1`,
		"tonumber":            `return tostring(tonumber("1", 99))`,
		"getmeta":             `return tostring(getmetatable(print)) .. tostring(getmetatable(coroutine.create(print)))`,
		"print_big":           `print(("x"):rep(9e6)) return "x"`,
		"env":                 `return tostring(jcode.env("HOME").error or jcode.env("HOME"))`,
	}
	for name, source := range sources {
		h.tool(name, longManifest, source)
	}
	h.start()
	for name := range sources {
		res := h.call(name, none())
		switch res.Kind {
		case tools.KindNone, tools.KindScript, tools.KindPermission:
		default:
			t.Errorf("%s: kind %q, %.300s", name, res.Kind, res.Text)
		}
		for _, trace := range []string{"goroutine", "runtime error", ".go:", "panic"} {
			if strings.Contains(res.Text, trace) {
				t.Errorf("%s: %.300s", name, res.Text)
			}
		}
		if got := h.call("after", none()); got.Text != "OKfunction2[1]true" {
			t.Fatalf("after %s: %+v", name, got)
		}
	}
}

func TestHostileSources(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	for name, source := range map[string]string{
		"braces_1000": "return " + strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
		"sum_1000":    "local a = 1 return a" + strings.Repeat("+a", 1000),
		"sum_200k":    "local a = 1 return a" + strings.Repeat("+a", 100_000),
		"kib_257":     "return 1 --" + strings.Repeat("x", 257<<10),
		"braces_2m":   "return " + strings.Repeat("{", 2_000_000),
	} {
		h.tool(name, simple, source)
	}
	h.tool("after", simple, `return "ok"`)
	h.start()
	for _, name := range []string{"braces_1000", "sum_1000", "sum_200k", "kib_257", "braces_2m"} {
		began := time.Now()
		wantFailure(t, h.call(name, none()), tools.KindLoad, name)
		if d := time.Since(began); d > late {
			t.Errorf("%s took %v", name, d)
		}
	}
	wantText(t, h.call("after", none()), "ok")
}

func TestThreeEndsDisableATool(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	dir := h.tool("loop", `{"description": "d", "timeout_ms": 100}`, `while true do end`)
	h.start()
	for range maxFailures {
		if res := h.call("loop", none()); res.Kind != tools.KindTimeout && res.Kind != tools.KindLimit {
			t.Fatalf("%+v", res)
		}
	}
	wantFailure(t, h.call("loop", none()), tools.KindLoad, "disabled after 3 failures in a row")
	if it := h.room.Errors(); len(it) != 1 || it[0].State != "disabled" {
		t.Errorf("%+v", it)
	}
	for deadline, try := time.Now().Add(patience), 0; ; try++ {
		writeFile(t, dir+"/"+manifest.MainName, fmt.Sprintf(`return "mended", %d`, try)) // each change enables it
		res := h.call("loop", none())
		if strings.HasPrefix(res.Text, "mended") {
			return
		}
		if res.Kind != tools.KindTimeout || time.Now().After(deadline) { // a busy machine needs more than its 100 ms
			t.Fatalf("%+v", res)
		}
	}
}

func TestHostKilledFromOutside(t *testing.T) {
	t.Parallel()
	hosts := &recorded{}
	h := build(t, setup{opts: Options{start: hosts.start}})
	h.tool("wait", `{"description": "d", "timeout_ms": 20000}`, `while true do end`)
	h.tool("after", simple, `return "ok"`)
	h.start()
	done := make(chan tools.Result, 1)
	go func() { done <- h.call("wait", none()) }()
	eventually.True(t, "it runs", func() bool { return h.running() == 1 })
	var res tools.Result
	eventually.True(t, "its host is killed", func() bool {
		for _, pid := range hosts.all() { // it is unknown which of them runs the call
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
		select {
		case res = <-done:
			return true
		default:
			return false
		}
	})
	wantFailure(t, res, tools.KindKilled, "the host ended unexpectedly")
	eventually.True(t, "the next call works", func() bool { return h.call("after", none()).Text == "ok" })
}

// fakeHost is a host that sends the messages of a test.
func fakeHost(speak func(in io.Reader, out io.Writer)) pool.Starter {
	return func(ctx context.Context, _ bool) (*pool.Conn, error) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		go func() {
			_ = wire.Write(outW, &wire.Message{Type: wire.TypeReady, N: wire.Version, Value: []any{"memory limit"}})
			speak(inR, outW)
			_ = outW.Close()
		}()
		go func() { _, _ = io.Copy(io.Discard, inR) }()
		c := pool.NewConn(inW, outR)
		c.KillProcess = func() { _ = outR.Close(); _ = inR.Close() }
		return c, c.Greet(ctx)
	}
}

func TestHostileHosts(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	defer close(hang)
	call := func(id int64, name string, args ...any) *wire.Message {
		return &wire.Message{Type: wire.TypeCall, ID: id, Name: name, Value: args}
	}
	say := func(list ...*wire.Message) func(io.Reader, io.Writer) {
		return func(_ io.Reader, out io.Writer) {
			for _, m := range list {
				if wire.Write(out, m) != nil {
					return
				}
			}
			<-hang
		}
	}
	raw := func(text string) func(io.Reader, io.Writer) {
		return func(_ io.Reader, out io.Writer) { _, _ = io.WriteString(out, text); <-hang }
	}
	for name, tt := range map[string]struct {
		speak func(io.Reader, io.Writer)
		want  string
	}{
		"garbage":            {raw("\x00\x00\x00\x04junk"), "protocol error: bad frame"},
		"longest frame":      {raw("\xff\xff\xff\xff"), "protocol error: bad frame"},
		"endless frame":      {raw("\x01\x00\x00\x00" + strings.Repeat(" ", 1000)), "time limit of"},
		"unknown type":       {say(&wire.Message{Type: "dance"}), "unexpected message"},
		"forged register":    {say(call(1, "jcode.register_intent", wire.NewObject("name", "x"))), "not offered here"},
		"forged request":     {say(call(1, "jcode.request", "lua::x", "op")), "not offered here"},
		"local function":     {say(call(1, "jcode.log", "info", "x")), "not offered here"},
		"unknown function":   {say(call(1, "os.execute", "x")), "not offered here"},
		"no arguments":       {say(call(1, "state.get")), "argument 1 of state.get is missing"},
		"wrong argument":     {say(call(1, "state.get", 5.0)), "argument 1 of state.get has the wrong type"},
		"too many arguments": {say(call(1, "state.get", "a", "b", "c", "d")), "4 arguments"},
		"reused id":          {say(call(1, "state.get", "a"), call(1, "state.get", "a")), "protocol error: "},
		"wrong answer":       {say(&wire.Message{Type: wire.TypeResult, ID: 77}), "an answer to work 77"},
		"wrong kind":         {say(&wire.Message{Type: wire.TypeError, ID: 1, Kind: "grant"}), "unknown error kind"},
		"silence":            {say(), "time limit of"},
		"end":                {func(io.Reader, io.Writer) {}, "the host ended unexpectedly"},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, setup{opts: Options{start: fakeHost(tt.speak)}})
			manifest := longManifest
			if tt.want == "time limit of" {
				manifest = `{"description": "d", "timeout_ms": 300}`
			}
			h.tool("x", manifest, `return 1`)
			h.room.Refresh()
			began := time.Now()
			res := h.call("x", none())
			if !res.Failed || !strings.Contains(res.Text, tt.want) {
				t.Errorf("%+v", res)
			}
			if d := time.Since(began); d > late {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestEightToolsAtOnceAndNested(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.asker.says(tools.AnswerOnce)
	h.mode = tools.ModeYolo
	for i := range 8 {
		h.tool(fmt.Sprintf("leaf%d", i), simple, fmt.Sprintf(`local n = 0 for i = 1, 100000 do n = n + i end return "leaf %d"`, i))
		h.tool(fmt.Sprintf("nest%d", i), fmt.Sprintf(`{"description": "d", "read_only": true, "permissions": {"intents": ["leaf%d"]}}`, i),
			fmt.Sprintf(`return jcode.dispatch("leaf%d").content`, i))
	}
	h.start()
	for _, kind := range []string{"leaf", "nest"} {
		done := make(chan string, 8)
		for i := range 8 {
			go func() {
				res := h.call(fmt.Sprintf("%s%d", kind, i), none())
				done <- fmt.Sprintf("%v %s", res.Failed, res.Text)
			}()
		}
		for range 8 {
			select {
			case got := <-done:
				if !strings.HasPrefix(got, "false leaf ") {
					t.Error(got)
				}
			case <-time.After(time.Minute):
				t.Fatal("locked up")
			}
		}
	}
}

func TestCallDepthIsLimited(t *testing.T) {
	t.Parallel()
	h := build(t, setup{})
	h.mode = tools.ModeYolo
	h.tool("deep", `{"description": "d", "read_only": true, "permissions": {"intents": ["deep"]}}`,
		`local r = jcode.dispatch("deep") if not r.ok then return r.error_kind .. ": " .. r.error end return r.content`)
	h.start()
	if res := h.call("deep", none()); !strings.HasPrefix(res.Text, "limit: call depth") {
		t.Errorf("%+v", res)
	}
}

func TestFloodOfAHostStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 160 MB")
	}
	big := strings.Repeat("x", 4<<20)
	h := build(t, setup{opts: Options{start: fakeHost(func(_ io.Reader, out io.Writer) {
		for i := range 40 { // 160 MB
			m := &wire.Message{Type: wire.TypeLog, Kind: "print", Text: big}
			if i%3 == 1 {
				m = &wire.Message{Type: wire.TypeProgress, Text: big}
			}
			if wire.Write(out, m) != nil {
				return
			}
		}
		_ = wire.Write(out, &wire.Message{Type: wire.TypeError, ID: 1, Kind: "script_error", Text: big})
	})}})
	h.tool("x", `{"description": "d", "timeout_ms": 60000}`, `return 1`)
	h.room.Refresh()
	before := heapMB()
	res := h.call("x", none())
	if !res.Failed || len(res.Text) > pool.MaxErrorText+100 {
		t.Errorf("%d bytes", len(res.Text))
	}
	if grown := heapMB() - before; grown > 64 {
		t.Errorf("this process grew by %d MB", grown)
	}
}

// FuzzHostCall sends arbitrary calls to this side. None may panic, and a call that is malformed or not
// offered must be a protocol error.
func FuzzHostCall(f *testing.F) {
	f.Add(0, `["read",{"path":"a"},{"replaced":true}]`)
	f.Add(8, `[["echo","hi"],{"timeout_ms":1}]`)
	f.Add(12, `[{"name":"x","description":"d","handler":true,"params":{"a":{"type":["string",1],"enum":{}}}}]`)
	f.Add(22, `["name",{"command":"x","args":{},"env":{"A":1}}]`)
	f.Add(31, `["http://127.0.0.1:1/",{"headers":{"a":1},"timeout":-1}]`)
	h := build(f, setup{memory: true, opts: Options{MCP: &manager{}}})
	sc := &script{around: h.room.around, env: wire.EnvStartup, id: "test", fqn: "lua::test", owner: "startup", src: bundle{hash: "h"}}
	api := wire.API()
	f.Fuzz(func(t *testing.T, n int, text string) {
		v, err := wire.DecodeJSON([]byte(text))
		if err != nil {
			return
		}
		args, ok := v.([]any)
		if !ok {
			return
		}
		fn := api[(n%len(api)+len(api))%len(api)]
		if fn.Local || fn.Table() == "http" || strings.HasPrefix(fn.Name, "jcode.exec") || fn.Name == "jcode.dispatch" && len(args) > 0 && args[0] == "exec" {
			return
		}
		for _, st := range []*principal{
			{around: h.room.around, env: wire.EnvStartup, owner: "startup", name: "s", scope: "startup", perms: &manifest.Permissions{}, all: true, declare: "x", caller: h.caller(), script: sc, phase: phaseInit},
			{around: h.room.around, env: wire.EnvTool, owner: "tool:user/x", name: "x", scope: "user/x", perms: &manifest.Permissions{HasFS: true, FSRead: []string{"**"}}, declare: "x", caller: h.caller()},
			{around: h.room.around, env: wire.EnvTool, name: "y", perms: &manifest.Permissions{}, caller: h.caller(), phase: phaseEvent},
		} {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			values, err := st.Call(ctx, fn, args)
			cancel()
			if err == nil {
				if _, err := wire.Encode(values); err != nil {
					t.Fatalf("%s(%s) returned what cannot be sent: %v", fn.Name, text, err)
				}
			}
		}
	})
}

package host

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/lua/wire"
)

func TestGlobalsAreAnAllowList(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for _, name := range []string{
		"getfenv", "setfenv", "package", "load", "loadstring", "loadfile", "dofile", "io", "os", "debug", "newproxy",
		"_printregs", "module", "collectgarbage", "rawset", "require", "channel", "_GOPHER_LUA_VERSION",
	} {
		if v := c.value("return " + name); v != nil {
			t.Errorf("%s = %v, want nil", name, v)
		}
	}
	if v := c.value(`x = 1 _G.y = 2 return _G == _G._G and _G.x == 1 and y == 2 and _G.print == print and _G.os == nil`); v != true {
		t.Errorf("_G is not the script's environment: %v", v)
	}
	if v := c.value(`return type(string.dump)`); v != "nil" {
		t.Errorf("string.dump is a %v", v)
	}
	want := "assert coroutine error getmetatable ipairs math next pairs pcall rawequal rawget select setmetatable string table tonumber tostring type unpack xpcall _VERSION"
	for _, name := range strings.Fields(want) {
		if v := c.value("return type(" + name + ")"); v == "nil" {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestJcodeAndOrcsAreOneTable(t *testing.T) {
	t.Parallel()
	for _, e := range []wire.Env{wire.EnvStartup, wire.EnvTool, wire.EnvEval} {
		c := memory(t, nil).env(e)
		src := `return jcode == orcs and jcode.pwd == "/project"`
		m, err := c.run(src)
		if err != nil || m.Type != wire.TypeResult {
			t.Fatalf("%v: %v %+v", e, err, m)
		}
	}
}

func TestValuesAndDialect(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for _, tt := range []struct {
		src  string
		want any
	}{
		{`math.randomseed(7) local a, b = math.random(1000000), math.random() math.randomseed(7) return a == math.random(1000000) and b == math.random()`, true},
		{`for i = 1, 1000 do local n = math.random(-2, 3) if n < -2 or n > 3 or n % 1 ~= 0 then return n end end return "in range"`, "in range"},
		{`return select(2, pcall(function() return 1 + math.random(0) end))`, "test/main.lua:1: bad argument #1 to random (interval is empty or too large)"},
		{`return select(2, pcall(function() return 1 + math.random(2, 1) end))`, "test/main.lua:1: bad argument #2 to random (interval is empty or too large)"},
		{`return (pcall(math.random, 0/0))`, false},
		{`return (pcall(math.random, 1e300))`, false},
		{`return math.random(5, 5)`, 5.0},
		{`return tonumber("1e2")`, 100.0},
		{`return tonumber("0x10")`, 16.0},
		{`return tonumber("  12  ")`, 12.0},
		{`return tonumber("ff", 16)`, 255.0},
		{`return tonumber("z", 36)`, 35.0},
		{`return tostring(tonumber("inf"))`, "nil"},
		{`return tostring(tonumber("1_0"))`, "nil"},
		{`return tostring(tonumber(""))`, "nil"},
		{`return ("x"):rep(3)`, "xxx"},
		{`local t = {} for i = 1, 20000 do t[i] = "a" end return #table.concat(t, ",")`, 39999.0},
		{`return table.concat({1, 2, 3}, "-", 2, 3)`, "2-3"},
		{`local n = 0 for i = 1, 3 do for k in next, {a=1,b=2,c=3} do n = n + 1 end end return n`, 9.0},
		{`local function f() return "x", "y" end return "a" .. f()`, "ax"},
		{`return getmetatable("")`, false},
		{`return (pcall(setmetatable, 1, {}))`, false},
		{`local t = {} for k in pairs({z=1, a=2, m=3}) do t[#t+1] = k end return table.concat(t)`, "zam"},
		{`return select("#", pcall(function() return 1, 2, 3 end))`, 4.0},
		{`return select(2, xpcall(function() error("x", 0) end, function(e) return e .. "!" end))`, "x!"},
		{`return json.encode({b=1, a={1,2}, e={}, n=json.array()})`, `{"a":[1,2],"b":1,"e":{},"n":[]}`},
		{`return json.decode('{"a":[1,null,{"b":"c"}]}').a[3].b`, "c"},
		{`return json.decode('[null]')[1] == json.null`, true},
		{`return select(2, json.decode("{"))`, "bad JSON at byte 1: expected a key"},
		{`return regex.gsub("a1b22", "([0-9]+)", "<%1>")`, "a<1>b<22>"},
		{`return regex.match("key=val", "(\\w+)=(\\w+)")`, "key"},
		{`return regex.find("hello", "l+")`, 3.0},
		{`return regex.find("x", "(") == nil`, true},
		{`return jcode.date("!%Y-%m-%d", 0)`, "1970-01-01"},
		{`return jcode.date("!%j %w %s %e%%%n%t%", 86400)`, "002 5 86400  2%\n\t%"},
		{`return jcode.date("%é %Q", 0)`, "%é %Q"},
		{`return (regex.gsub("ab", "(a)(b)", "%2%1%0%%%é%"))`, "baab%é%"},
		{`goto done do return 1 end ::done:: return 2`, 2.0},
	} {
		if got := c.value(tt.src); got != tt.want {
			t.Errorf("%s = %v, want %v", tt.src, got, tt.want)
		}
	}
}

func TestValueErrorsNameThePath(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for src, want := range map[string]string{
		`return {items={1,2,{f=print}}}`:                     "result.items[3].f: function",
		`local t = {} t.t = t return t`:                      "result.t: a cycle",
		`return {1, 2, x=3}`:                                 "mixed keys",
		`return {a=0/0}`:                                     "result.a: a number that is not finite",
		`local t = {} t[1], t[3] = 1, 2 return t`:            "not 1 to n",
		`return {[true]=1}`:                                  "a key of type boolean",
		`return coroutine.create(print)`:                     "result: thread",
		`local t = {} for i = 1, 80 do t = {t} end return t`: "nested deeper than 64",
	} {
		if m := c.fails(src); !strings.Contains(m.Text, want) {
			t.Errorf("%s: %q, want %q", src, m.Text, want)
		}
	}
}

func TestBytesPassUnchanged(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for _, s := range []string{"\xff\xfe", "\x00a", "a\x00b", "漢字", strings.Repeat("\x01", 100)} {
		if got := c.value("return text", "text", s); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	}
}

func TestMetamethodsAreNotRunByConversion(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	got := c.value(`return setmetatable({a=1}, {__index=function() error("ran") end, __pairs=error, __len=error})`)
	if o, ok := got.(*wire.Object); !ok || o.Len() != 1 {
		t.Errorf("got %v", got)
	}
}

func TestErrorsCarryFileAndLineWithoutTraceback(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	m := c.fails("local x = 1\nerror('boom')")
	if m.Text != "test/main.lua:2: boom" || m.Kind != "script_error" {
		t.Errorf("%q %q", m.Text, m.Kind)
	}
	m = c.fails("local x =\n=")
	if !strings.HasPrefix(m.Text, "test/main.lua:2: near '='") || m.Kind != "load_error" || m.N != 2 {
		t.Errorf("%q %q %d", m.Text, m.Kind, m.N)
	}
	m = c.fails("return {")
	if m.Kind != "load_error" {
		t.Errorf("%q %q", m.Text, m.Kind)
	}
}

func TestInstructionLimitCannotBeCaught(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for _, src := range []string{
		`while true do end`,
		`while true do pcall(function() while true do end end) end`,
		`local function f() xpcall(function() while true do end end, function() while true do end end) end while true do f() end`,
		`local co = coroutine.wrap(function() while true do end end) while true do pcall(co) end`,
		`while true do coroutine.resume(coroutine.create(function() while true do end end)) end`,
	} {
		m, err := c.work(&wire.Message{Type: wire.TypeRun, Name: "x", Text: src, Limits: wire.Limits{Instructions: 1_000_000}})
		if err != nil || m.Kind != "limit" || m.Text != "instruction limit reached" || !m.Spent.Tainted {
			t.Errorf("%s: %v %+v", src, err, m)
		}
	}
}

func TestCoroutineLimits(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	m := c.fails(`local keep = {} for i = 1, 65 do keep[i] = coroutine.create(function() coroutine.yield() end) coroutine.resume(keep[i]) end`)
	if !strings.Contains(m.Text, "too many coroutines") {
		t.Error(m.Text)
	}
	if got := c.value(`for i = 1, 500 do local co = coroutine.wrap(function() return i end) co() end return "done"`); got != "done" {
		t.Error(got)
	}
	m = c.fails(`local co = coroutine.wrap(function() pcall(function() coroutine.yield(1) end) error("after") end) co()`)
	if !strings.Contains(m.Text, "after") {
		t.Error(m.Text)
	}
	got := c.value(`local co = coroutine.create(function() return pcall(coroutine.yield, 1) end) local ok, a, b = coroutine.resume(co) return tostring(b)`)
	if s, _ := got.(string); !strings.Contains(s, "attempt to yield across pcall") {
		t.Error(got)
	}
	got = c.value(`local co co = coroutine.create(function() return coroutine.resume(co) end) local _, ok, msg = coroutine.resume(co) return msg`)
	if s, _ := got.(string); !strings.Contains(s, "not suspended") {
		t.Error(got)
	}
	if got := c.value(`local co = coroutine.wrap(function(a) local b = coroutine.yield(a + 1) return b * 2 end) return co(1) + co(10)`); got != 22.0 {
		t.Error(got)
	}
}

func TestDeepSourceIsRefusedQuickly(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for name, src := range map[string]string{
		"1,000 braces":     "return " + strings.Repeat("{", 1000) + strings.Repeat("}", 1000),
		"2 million braces": "return " + strings.Repeat("{", 2_000_000),
		"a+a+…":            "local a = 1 return a" + strings.Repeat("+a", 1000),
		"200 KB of a+a":    "local a = 1 return a" + strings.Repeat("+a", 100_000),
		"257 KiB":          "return 1 --" + strings.Repeat("x", 257<<10),
		"bytecode":         "\x1bLua",
	} {
		began := time.Now()
		if m := c.fails(src); m.Kind != "load_error" || len(m.Text) > 400 {
			t.Errorf("%s: %s %.200s", name, m.Kind, m.Text)
		}
		if d := time.Since(began); d > 40*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
	m, err := c.run("return " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000))
	if err != nil || m.Type == wire.TypeError && m.Kind != "load_error" {
		t.Errorf("1,000 parentheses: %v %+v", err, m)
	}
	if got := c.value("return 1"); got != 1.0 {
		t.Error("the next call does not work")
	}
}

func TestCleanErrorsLeaveTheHostUsable(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	for src, want := range map[string]string{
		`local function f() return 1 + f() end return f()`: "overflow",
		`return unpack({}, 1, 1e8)`:                        "overflow",
		`return ("x"):rep(1e10)`:                           "10 MiB",
		`return ("x"):rep(1e18)`:                           "10 MiB",
	} {
		if m := c.fails(src); !strings.Contains(m.Text, want) {
			t.Errorf("%s: %q", src, m.Text)
		}
		if got := c.value("return 1"); got != 1.0 {
			t.Errorf("after %s the next call returned %v", src, got)
		}
	}
}

func TestPoisonedLibraryIsInvisibleToTheNextCall(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	c.value(`string.upper = function() return "evil" end string.find = nil math = nil return 1`)
	if got := c.value(`return ("a"):upper() .. type(string.find) .. type(math)`); got != "Afunctiontable" {
		t.Error(got)
	}
}

func TestPanicInAHostFunctionTaintsTheHost(t *testing.T) {
	t.Parallel()
	c := memory(t, probes())
	m, err := c.run(`return pcall(probe_panic)`)
	if err != nil || !m.Spent.Tainted {
		t.Fatalf("%v %+v", err, m)
	}
	if !strings.Contains(strings.Join(c.logs, "\n"), "panic in probe_panic: probe") {
		t.Errorf("logs: %q", c.logs)
	}
}

func TestPrintIsLoggedAndCapped(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	if got := c.value(`print("a", 1, nil, true) return "r"`); got != "r" {
		t.Error(got)
	}
	if len(c.logs) != 1 || c.logs[0] != "print: a\t1\tnil\ttrue" {
		t.Errorf("%q", c.logs)
	}
	c.logs = nil
	c.value(`for i = 1, 10000 do print(("x"):rep(100)) end return 1`)
	if n := len(c.logs); n < 600 || n > 700 || !strings.Contains(c.logs[n-1], "the rest is dropped") {
		t.Errorf("%d lines, last %q", n, c.logs[n-1])
	}
}

func TestCancelEndsAWaitingCall(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	c.id++
	c.send(&wire.Message{Type: wire.TypeRun, ID: c.id, Name: "x", Text: `while true do pcall(jcode.read, "x") end`})
	m, err := wire.Read(c.out)
	if err != nil || m.Type != wire.TypeCall || m.Name != "jcode.dispatch" {
		t.Fatalf("%v %+v", err, m)
	}
	within(t, time.Minute, func() {
		c.send(&wire.Message{Type: wire.TypeCancel, ID: c.id})
		m, err = wire.Read(c.out)
	})
	if err != nil || m.Kind != "cancelled" || !m.Spent.Tainted {
		t.Fatalf("%v %+v", err, m)
	}
}

func TestPositionalFunctionsBuildTheTable(t *testing.T) {
	t.Parallel()
	c := memory(t, nil)
	var seen string
	c.answer = func(name string, args []any) []any {
		raw, _ := wire.EncodeJSON(args, false)
		seen = name + " " + string(raw)
		return []any{wire.NewObject("ok", true)}
	}
	for src, want := range map[string]string{
		`jcode.write("p", "c")`:                     `jcode.dispatch ["write",{"path":"p","content":"c"},{"replaced":false,"positional":true}]`,
		`jcode.grep("T", "src", {include="*.go"})`:  `jcode.dispatch ["grep",{"pattern":"T","path":"src","include":"*.go"},{"replaced":false,"positional":true}]`,
		`jcode.glob("*")`:                           `jcode.dispatch ["glob",{"pattern":"*"},{"replaced":false,"positional":true}]`,
		`jcode.exec({"git","log"}, {timeout_ms=5})`: `jcode.exec [["git","log"],{"timeout_ms":5}]`,
		`jcode.exec("ls", {dir="x"})`:               `jcode.dispatch ["exec",{"cmd":"ls","dir":"x"},{"replaced":false,"positional":true}]`,
		`jcode.dispatch("any")`:                     `jcode.dispatch ["any",{},{"replaced":false,"positional":false}]`,
		`state.set("k", {1, 2})`:                    `state.set ["k",[1,2]]`,
	} {
		c.value(src + " return 1")
		if seen != want {
			t.Errorf("%s sent %s, want %s", src, seen, want)
		}
	}
	for _, src := range []string{`jcode.dispatch(5)`, `jcode.read({})`, `jcode.dispatch("x", 5)`, `state.get()`} {
		if m := c.fails(src); !strings.Contains(m.Text, "bad argument") {
			t.Errorf("%s: %s", src, m.Text)
		}
	}
}

func TestHostImportsNoNetworkAndNoProcesses(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range tree.Imports {
			switch p := strings.Trim(imp.Path.Value, `"`); {
			case p == "net", strings.HasPrefix(p, "net/"), p == "os/exec":
				t.Errorf("%s imports %s", f, p)
			}
		}
	}
}

func TestRunByHandExplainsItself(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, stderr := os.Stdin, os.Stderr
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdin, os.Stderr = null, w
	code := Main()
	os.Stdin, os.Stderr = stdin, stderr
	_ = w.Close()
	var text [200]byte
	n, _ := r.Read(text[:])
	if code != 2 || !strings.Contains(string(text[:n]), "internal") {
		t.Errorf("code %d, %q", code, text[:n])
	}
}

func TestIsolationOfTheProcess(t *testing.T) {
	t.Parallel()
	c := process(t)
	layers := fmt.Sprint(c.hello.Value)
	t.Log("layers:", layers)
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	check := func(layer, src string) {
		t.Helper()
		if !strings.Contains(layers, layer) {
			t.Logf("skipped, %q does not hold here: %s", layer, src)
			return
		}
		if got := c.value(src); got != "refused" {
			t.Errorf("%s: %v", src, got)
		}
	}
	check("no files", fmt.Sprintf("return probe_open(%q)", file))
	check("no files", fmt.Sprintf("return probe_create(%q)", file+"2"))
	check("no files", `return probe_open("/etc/passwd")`)
	check("no TCP", `return probe_dial("127.0.0.1:1")`)
	check("no signals", `return probe_signal()`)
	for _, key := range []string{"HOME", "PATH", "OPENAI_API_KEY"} {
		if got := c.value(fmt.Sprintf("return probe_env(%q)", key)); got != "" {
			t.Errorf("%s = %v", key, got)
		}
	}
}

// FuzzCompile checks that any source compiles to a prototype or fails with a load error that names the
// chunk.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		"return 1", "for k in next, t do end", "goto x ::x::", "local function f(...) return ... end", "x = {", "if then", "a.b:c{}'x'\"y\"", "--[[", "\x1bLua",
		"for i = 1, 2, 3 do break end repeat until not -#a .. 'b' >= 1 and 2 or ~= 3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		proto, err := compile("chunk", source)
		if err == nil {
			if proto == nil {
				t.Fatal("nothing")
			}
			return
		}
		if !strings.HasPrefix(err.Error(), "chunk") {
			t.Fatalf("%q", err)
		}
	})
}

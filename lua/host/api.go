package host

import (
	"fmt"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

// openAPI adds the tables of the API that this environment has. `jcode` and `orcs` are
// one table.
func (s *script) openAPI() {
	globals := s.L.G.Global
	tables := map[string]*lua.LTable{}
	own := s.functions()
	for _, f := range wire.API() {
		if f.In&s.env == 0 {
			if t := tables[f.Table()]; t != nil && s.env != wire.EnvEval { // a missing name would not say why
				refusing := s.RegisterHost(f.Name, s.elsewhere(f))
				t.RawSetString(f.Field(), refusing)
				if f.Name == "jcode.request" {
					s.request = refusing
				}
			}
			continue
		}
		fn := own[f.Name]
		if fn == nil {
			fn = s.remote(f)
		}
		registered := s.RegisterHost(f.Name, checked(f, fn))
		if f.Name == "jcode.request" {
			s.request = registered
		}
		if f.Table() == "" {
			globals.RawSetString(f.Name, registered)
			continue
		}
		t := tables[f.Table()]
		if t == nil {
			t = s.L.CreateTable(0, 24)
			tables[f.Table()] = t
			globals.RawSetString(f.Table(), t)
		}
		t.RawSetString(f.Field(), registered)
	}
	s.jcode = tables["jcode"]
	s.jcode.RawSetString("pwd", lua.LString(s.pwd))
	globals.RawSetString("orcs", s.jcode)
	tables["json"].RawSetString("null", s.null)
}

// elsewhere refuses a function that this kind of script does not have, in the form of its
// results, and says which kind has it.
func (s *script) elsewhere(f wire.Func) lua.LGFunction {
	text := "permission denied: " + f.Name + " is for " + f.In.Names() + ", not for " + s.env.Names()
	return func(L *lua.LState) int {
		refused := func(flag string) int {
			t := L.CreateTable(0, 3)
			t.RawSetString(flag, lua.LFalse)
			t.RawSetString("error", lua.LString(text))
			t.RawSetString("error_kind", lua.LString("permission_denied"))
			return pushAll(L, t)
		}
		switch {
		case strings.HasPrefix(f.Returns, "{ok"):
			return refused("ok")
		case strings.HasPrefix(f.Returns, "{success"):
			return refused("success")
		case strings.HasPrefix(f.Returns, "boolean"):
			return pushAll(L, lua.LFalse, lua.LString(text))
		}
		L.RaiseError("%s", text)
		return 0
	}
}

// functions returns the functions that run in this process, or do some of their work here before or after
// they call the other side.
func (s *script) functions() map[string]lua.LGFunction {
	m := map[string]lua.LGFunction{
		"jcode.log": s.jcodeLog, "jcode.progress": s.jcodeProgress, "print": s.print,
		"jcode.time": jcodeTime, "jcode.date": jcodeDate,
		"json.encode": s.jsonEncode, "json.decode": s.jsonDecode, "json.array": s.jsonArray,
		"regex.find": s.regexFind, "regex.match": s.regexMatch, "regex.gsub": s.regexGsub,
		"require": s.doRequire, "state.update": stateUpdate(s),

		"jcode.dispatch": s.jcodeDispatch, "jcode.exec": s.jcodeExec, "jcode.request": s.jcodeRequest,
		"jcode.register_intent": s.registerIntent, "jcode.on": s.jcodeOn, "jcode.command": s.jcodeCommand,
	}
	for name, args := range map[string][]string{
		"read": {"path"}, "write": {"path", "content"}, "grep": {"pattern", "path"}, "glob": {"pattern", "dir"},
		"mkdir": {"path"}, "remove": {"path"}, "mv": {"src", "dst"},
	} {
		m["jcode."+name] = s.positional(name, args)
	}
	return m
}

// checked wraps fn with the check of the argument types that the table declares.
func checked(f wire.Func, fn lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		for i, a := range f.Args {
			if a.Name != "..." {
				checkArg(L, i+1, a.Type)
			}
		}
		return fn(L)
	}
}

func checkArg(L *lua.LState, i int, want string) {
	types, optional := strings.CutSuffix(want, "?")
	got := L.Get(i).Type()
	if got == lua.LTNil && optional || types == "any" {
		return
	}
	for t := range strings.SplitSeq(types, "|") {
		if t == got.String() || t == "integer" && got == lua.LTNumber {
			return
		}
	}
	L.ArgError(i, fmt.Sprintf("%s expected, got %s", strings.ReplaceAll(types, "|", " or "), got))
}

// remote calls the other side with unchanged arguments.
func (s *script) remote(f wire.Func) lua.LGFunction {
	return func(L *lua.LState) int {
		args := make([]any, 0, L.GetTop())
		for i := 1; i <= min(L.GetTop(), len(f.Args)); i++ {
			args = append(args, s.arg(L, f.Args[i-1].Name, L.Get(i)))
		}
		return s.push(L, s.call(L, f.Name, args))
	}
}

// arg converts one argument, or raises.
func (s *script) arg(L *lua.LState, name string, v lua.LValue) any {
	out, err := s.toWire(name, v)
	if err != nil {
		L.RaiseError("%s", err.Error())
	}
	return out
}

// push pushes a reply's values onto the Lua stack.
func (s *script) push(L *lua.LState, values []any) int {
	for _, v := range values {
		L.Push(s.fromWire(v))
	}
	return len(values)
}

// call calls the other side and waits for its reply. An error reply raises a Lua error.
func (s *script) call(L *lua.LState, name string, args []any) []any {
	m, err := s.peer.call(name, args)
	if err != nil {
		L.RaiseError("%s: %s", name, err.Error())
	}
	if m.Kind != "" || m.Text != "" {
		L.RaiseError("%s", m.Text)
	}
	values, _ := m.Value.([]any)
	return values
}

// table returns the table at index i, or an empty one.
func table(L *lua.LState, i int) *lua.LTable {
	if t, ok := L.Get(i).(*lua.LTable); ok {
		return t
	}
	return L.CreateTable(0, 0)
}

// positional returns a core intent as a plain function: it builds the table of arguments and dispatches. An
// additional table at the end carries further arguments.
func (s *script) positional(name string, keys []string) lua.LGFunction {
	return func(L *lua.LState) int {
		args := L.CreateTable(0, len(keys)+2)
		for i, key := range keys {
			if v := L.Get(i + 1); v != lua.LNil {
				args.RawSetString(key, v)
			}
		}
		merge(args, table(L, len(keys)+1))
		return s.dispatch(L, name, args, true)
	}
}

func merge(into, from *lua.LTable) {
	for k, v := from.Next(lua.LNil); k != lua.LNil; k, v = from.Next(k) {
		into.RawSet(k, v)
	}
}

func (s *script) jcodeExec(L *lua.LState) int {
	if words, ok := L.Get(1).(*lua.LTable); ok {
		argv := s.arg(L, "cmd", words)
		return s.push(L, s.call(L, "jcode.exec", []any{argv, s.arg(L, "more", table(L, 2))}))
	}
	args := L.CreateTable(0, 3)
	args.RawSetString("cmd", L.Get(1))
	merge(args, table(L, 2))
	return s.dispatch(L, "exec", args, true)
}

func (s *script) jcodeDispatch(L *lua.LState) int {
	return s.dispatch(L, L.CheckString(1), table(L, 2), false)
}

// dispatch calls an intent. If the script has replaced jcode.request with another function,
// the other side returns the component's address, and that function is called with it. So a
// replacement affects only the script itself.
func (s *script) dispatch(L *lua.LState, name string, args *lua.LTable, positional bool) int {
	own, replaced := s.jcode.RawGetString("request").(*lua.LFunction)
	replaced = replaced && own != s.request
	values := s.call(L, "jcode.dispatch", []any{name, s.arg(L, "args", args), wire.NewObject("replaced", replaced, "positional", positional)})
	if len(values) < 2 {
		return s.push(L, values)
	}
	to, _ := values[1].(*wire.Object)
	began := time.Now()
	if to.Bool("own") {
		reply := s.serveOwn(L, to)
		return pushAll(L, normalise(L, reply, to, time.Since(began)))
	}
	if to == nil || !replaced {
		L.RaiseError("jcode.dispatch: unexpected reply")
	}
	copied := L.CreateTable(0, 8)
	merge(copied, args)
	opts := lua.LValue(lua.LNil)
	if ms, ok := to.Number("timeout_ms"); ok {
		t := L.CreateTable(0, 1)
		t.RawSetString("timeout_ms", lua.LNumber(ms))
		opts = t
	}
	s.threads.enter(L)
	defer s.threads.leave(L)
	reply := firstResult(L, own, lua.LString(to.String("fqn")), lua.LString(to.String("operation")), copied, opts)
	return pushAll(L, normalise(L, reply, to, time.Since(began)))
}

// normalise turns {success, data?, error?} into {ok, duration_ms, data? | error}.
func normalise(L *lua.LState, reply lua.LValue, to *wire.Object, took time.Duration) *lua.LTable {
	out := L.CreateTable(0, 4)
	r, _ := reply.(*lua.LTable)
	if r == nil {
		r = L.CreateTable(0, 0)
	}
	ok := lua.LVAsBool(r.RawGetString("success"))
	out.RawSetString("ok", lua.LBool(ok))
	out.RawSetString("duration_ms", lua.LNumber(took.Milliseconds()))
	if ok {
		out.RawSetString("data", r.RawGetString("data"))
		return out
	}
	text := r.RawGetString("error")
	if text == lua.LNil {
		text = lua.LString("component RPC failed: " + to.String("fqn") + "::" + to.String("operation"))
	}
	out.RawSetString("error", text)
	kind := r.RawGetString("error_kind")
	if kind == lua.LNil {
		kind = lua.LString("rpc")
	}
	out.RawSetString("error_kind", kind)
	return out
}

// replyOK reports whether a reply is a table with ok = true.
func replyOK(values []any) bool {
	if len(values) == 0 {
		return false
	}
	o, _ := values[0].(*wire.Object)
	return o.Bool("ok")
}

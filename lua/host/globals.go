package host

import (
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxString is the longest string that a library function creates.
const maxString = 10 << 20

// baseNames are the functions of the base library that scripts keep as they are.
var baseNames = [...]string{
	"assert", "error", "ipairs", "next", "pairs", "rawequal", "rawget", "select", "tostring", "type",
	"unpack", "getmetatable",
}

// open runs a library's opener and returns its table.
func (s *script) open(opener lua.LGFunction) *lua.LTable {
	s.L.Push(s.L.NewFunction(opener))
	s.L.Call(0, 1)
	t, _ := s.L.Get(-1).(*lua.LTable)
	s.L.Pop(1)
	return t
}

// openGlobals opens the harmless libraries and builds the globals from a list of allowed names.
// It never works by removing forbidden ones.
func (s *script) openGlobals() {
	L := s.L
	env := L.G.Global
	base := s.open(lua.OpenBase)
	kept := map[string]lua.LValue{}
	for _, name := range baseNames {
		kept[name] = base.RawGetString(name)
	}
	str, tab, math := s.open(lua.OpenString), s.open(lua.OpenTable), s.open(lua.OpenMath)
	co := s.openCoroutines()
	for k, _ := env.Next(lua.LNil); k != lua.LNil; k, _ = env.Next(k) {
		env.RawSet(k, lua.LNil)
	}
	L.G.Registry.RawSetString("_LOADED", lua.LNil)

	for name, v := range kept {
		env.RawSetString(name, v)
	}
	env.RawSetString("_VERSION", lua.LString(lua.LuaVersion))
	env.RawSetString("_G", env) // the script's own environment, as in any Lua
	env.RawSetString("string", s.openString(str))
	env.RawSetString("table", s.openTable(tab))
	env.RawSetString("math", s.openMath(math))
	env.RawSetString("coroutine", co)
	for name, fn := range map[string]lua.LGFunction{
		"tonumber": toNumber, "setmetatable": setMetatable, "pcall": s.pcall, "xpcall": s.xpcall,
	} {
		env.RawSetString(name, s.RegisterHost(name, fn))
	}
}

// plain copies a library table, so that nothing else refers to it.
func (s *script) plain(lib *lua.LTable) *lua.LTable {
	t := s.L.CreateTable(0, 32)
	for k, v := lib.Next(lua.LNil); k != lua.LNil; k, v = lib.Next(k) {
		t.RawSet(k, v)
	}
	return t
}

func (s *script) openString(lib *lua.LTable) *lua.LTable {
	t := s.plain(lib)
	t.RawSetString("dump", lua.LNil)
	t.RawSetString("rep", s.RegisterHost("string.rep", stringRep))
	gsub := lib.RawGetString("gsub").(*lua.LFunction).GFunction
	t.RawSetString("gsub", s.RegisterHost("string.gsub", s.noYield(gsub)))
	mt := s.L.CreateTable(0, 2)
	mt.RawSetString("__index", t)
	mt.RawSetString("__metatable", lua.LFalse)
	s.L.SetMetatable(lua.LString(""), mt)
	return t
}

func (s *script) openTable(lib *lua.LTable) *lua.LTable {
	t := s.plain(lib)
	t.RawSetString("concat", s.RegisterHost("table.concat", tableConcat))
	sort := lib.RawGetString("sort").(*lua.LFunction).GFunction
	t.RawSetString("sort", s.RegisterHost("table.sort", s.noYield(sort)))
	return t
}

// noYield wraps a library function that calls back into Lua.
func (s *script) noYield(fn lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		s.threads.enter(L)
		defer s.threads.leave(L)
		return fn(L)
	}
}

func stringRep(L *lua.LState) int {
	text, n := L.CheckString(1), float64(L.CheckNumber(2))
	if n <= 0 || text == "" {
		L.Push(lua.LString(""))
		return 1
	}
	if float64(len(text))*n > maxString {
		L.RaiseError("string.rep: the result would be longer than %d MiB", maxString>>20)
	}
	L.Push(lua.LString(strings.Repeat(text, int(n))))
	return 1
}

// tableConcat does not use the VM's stack, which overflows above some 2,500 items.
func tableConcat(L *lua.LState) int {
	t, sep := L.CheckTable(1), L.OptString(2, "")
	from, to := L.OptInt(3, 1), L.OptInt(4, t.Len())
	var b strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGetInt(i)
		if v == lua.LNil && i < 1 {
			v = t.RawGet(lua.LNumber(i))
		}
		if !lua.LVCanConvToString(v) {
			L.RaiseError("invalid value (%s) at index %d in table for concat", v.Type().String(), i)
		}
		b.WriteString(lua.LVAsString(v))
		if i != to {
			b.WriteString(sep)
		}
		if b.Len() > maxString {
			L.RaiseError("table.concat: the result would be longer than %d MiB", maxString>>20)
		}
	}
	L.Push(lua.LString(b.String()))
	return 1
}

func toNumber(L *lua.LState) int {
	base := L.OptInt(2, 10)
	switch v := L.CheckAny(1).(type) {
	case lua.LNumber:
		L.Push(v)
		return 1
	case lua.LString:
		if f, ok := parseNumber(strings.Trim(string(v), " \t\n\r\v\f"), base); ok {
			L.Push(lua.LNumber(f))
			return 1
		}
	}
	if base < 2 || base > 36 {
		L.ArgError(2, "base out of range")
	}
	L.Push(lua.LNil)
	return 1
}

// parseNumber reads a number as Lua 5.1 does.
func parseNumber(s string, base int) (float64, bool) {
	if base != 10 {
		if base == 16 {
			s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
		}
		if base < 2 || base > 36 || strings.ContainsAny(s, "_") {
			return 0, false
		}
		n, err := strconv.ParseInt(s, base, 64)
		return float64(n), err == nil
	}
	body := strings.TrimLeft(s, "+-")
	if len(s)-len(body) > 1 || body == "" || strings.ContainsAny(body, "_pPiInN") {
		return 0, false
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(body), "0x"); ok {
		n, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			return 0, false
		}
		if strings.HasPrefix(s, "-") {
			return -float64(n), true
		}
		return float64(n), true
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func setMetatable(L *lua.LState) int {
	t := L.CheckTable(1)
	L.CheckTypes(2, lua.LTNil, lua.LTTable)
	if mt, ok := t.Metatable.(*lua.LTable); ok && mt.RawGetString("__metatable") != lua.LNil {
		L.RaiseError("cannot change a protected metatable")
	}
	t.Metatable = L.Get(2)
	L.SetTop(1)
	return 1
}

func (s *script) pcall(L *lua.LState) int {
	fn := L.CheckAny(1)
	if fn.Type() != lua.LTFunction && L.GetMetaField(fn, "__call").Type() != lua.LTFunction {
		L.Push(lua.LFalse)
		L.Push(lua.LString("attempt to call a " + fn.Type().String() + " value"))
		return 2
	}
	s.threads.enter(L)
	defer s.threads.leave(L)
	if err := L.PCall(L.GetTop()-1, lua.MultRet, nil); err != nil {
		L.Push(lua.LFalse)
		L.Push(s.caught(err))
		return 2
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

func (s *script) xpcall(L *lua.LState) int {
	fn, handler := L.CheckFunction(1), L.CheckFunction(2)
	s.threads.enter(L)
	defer s.threads.leave(L)
	top := L.GetTop()
	L.Push(fn)
	if err := L.PCall(0, lua.MultRet, handler); err != nil {
		L.Push(lua.LFalse)
		L.Push(s.caught(err))
		return 2
	}
	L.Insert(lua.LTrue, top+1)
	return L.GetTop() - top
}

// caught returns the error value of a protected call. A Go panic of the engine is
// reported: the state is unsound, whatever the script does about it.
func (s *script) caught(err error) lua.LValue {
	api, ok := err.(*lua.ApiError) //nolint:errorlint // the engine returns exactly this type
	if !ok {
		return lua.LString(err.Error())
	}
	if api.Type == lua.ApiErrorPanic {
		s.onPanic("the engine", api.Object)
	}
	return api.Object
}

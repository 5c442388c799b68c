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
func (e *engine) open(opener lua.LGFunction) *lua.LTable {
	t, _ := firstResult(e.L, e.L.NewFunction(opener)).(*lua.LTable)
	return t
}

// openGlobals opens the harmless libraries and builds the globals from a list of allowed names.
// It never works by removing forbidden ones.
func (e *engine) openGlobals() {
	L := e.L
	env := L.G.Global
	base := e.open(lua.OpenBase)
	kept := map[string]lua.LValue{}
	for _, name := range baseNames {
		kept[name] = base.RawGetString(name)
	}
	str, tab, math := e.open(lua.OpenString), e.open(lua.OpenTable), e.open(lua.OpenMath)
	co := e.openCoroutines()
	for k, _ := env.Next(lua.LNil); k != lua.LNil; k, _ = env.Next(k) {
		env.RawSet(k, lua.LNil)
	}
	L.G.Registry.RawSetString("_LOADED", lua.LNil)

	for name, v := range kept {
		env.RawSetString(name, v)
	}
	env.RawSetString("_VERSION", lua.LString(lua.LuaVersion))
	env.RawSetString("_G", env) // the script's own environment, as in any Lua
	env.RawSetString("string", e.openString(str))
	env.RawSetString("table", e.openTable(tab))
	env.RawSetString("math", e.openMath(math))
	env.RawSetString("coroutine", co)
	for name, fn := range map[string]lua.LGFunction{
		"tonumber": toNumber, "setmetatable": setMetatable, "pcall": e.pcall, "xpcall": e.xpcall,
	} {
		env.RawSetString(name, e.RegisterHost(name, fn))
	}
}

// plain copies a library table, so that nothing else refers to it.
func (e *engine) plain(lib *lua.LTable) *lua.LTable {
	t := e.L.CreateTable(0, 32)
	merge(t, lib)
	return t
}

func (e *engine) openString(lib *lua.LTable) *lua.LTable {
	t := e.plain(lib)
	t.RawSetString("dump", lua.LNil)
	t.RawSetString("rep", e.RegisterHost("string.rep", stringRep))
	gsub := lib.RawGetString("gsub").(*lua.LFunction).GFunction
	t.RawSetString("gsub", e.RegisterHost("string.gsub", e.noYield(gsub)))
	mt := e.L.CreateTable(0, 2)
	mt.RawSetString("__index", t)
	mt.RawSetString("__metatable", lua.LFalse)
	e.L.SetMetatable(lua.LString(""), mt)
	return t
}

func (e *engine) openTable(lib *lua.LTable) *lua.LTable {
	t := e.plain(lib)
	t.RawSetString("concat", e.RegisterHost("table.concat", tableConcat))
	sort := lib.RawGetString("sort").(*lua.LFunction).GFunction
	t.RawSetString("sort", e.RegisterHost("table.sort", e.noYield(sort)))
	return t
}

// noYield wraps a library function that calls back into Lua.
func (e *engine) noYield(fn lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		e.threads.enter(L)
		defer e.threads.leave(L)
		return fn(L)
	}
}

func stringRep(L *lua.LState) int {
	text, n := L.CheckString(1), float64(L.CheckNumber(2))
	if n <= 0 || text == "" {
		return pushAll(L, lua.LString(""))
	}
	if float64(len(text))*n > maxString {
		L.RaiseError("string.rep: the result would be longer than %d MiB", maxString>>20)
	}
	return pushAll(L, lua.LString(strings.Repeat(text, int(n))))
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
	return pushAll(L, lua.LString(b.String()))
}

func toNumber(L *lua.LState) int {
	base := L.OptInt(2, 10)
	switch v := L.CheckAny(1).(type) {
	case lua.LNumber:
		return pushAll(L, v)
	case lua.LString:
		if f, ok := parseNumber(strings.Trim(string(v), " \t\n\r\v\f"), base); ok {
			return pushAll(L, lua.LNumber(f))
		}
	}
	if base < 2 || base > 36 {
		L.ArgError(2, "base out of range")
	}
	return pushAll(L, lua.LNil)
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

func (e *engine) pcall(L *lua.LState) int {
	fn := L.CheckAny(1)
	if fn.Type() != lua.LTFunction && L.GetMetaField(fn, "__call").Type() != lua.LTFunction {
		return pushAll(L, lua.LFalse, lua.LString("attempt to call a "+fn.Type().String()+" value"))
	}
	e.threads.enter(L)
	defer e.threads.leave(L)
	if err := L.PCall(L.GetTop()-1, lua.MultRet, nil); err != nil {
		return pushAll(L, lua.LFalse, e.caught(err))
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

func (e *engine) xpcall(L *lua.LState) int {
	fn, handler := L.CheckFunction(1), L.CheckFunction(2)
	e.threads.enter(L)
	defer e.threads.leave(L)
	top := L.GetTop()
	L.Push(fn)
	if err := L.PCall(0, lua.MultRet, handler); err != nil {
		return pushAll(L, lua.LFalse, e.caught(err))
	}
	L.Insert(lua.LTrue, top+1)
	return L.GetTop() - top
}

// caught returns the error value of a protected call. A Go panic of the engine is
// reported: the state is unsound, whatever the script does about it.
func (e *engine) caught(err error) lua.LValue {
	api, ok := err.(*lua.ApiError) //nolint:errorlint // the engine returns exactly this type
	if !ok {
		return lua.LString(err.Error())
	}
	if api.Type == lua.ApiErrorPanic {
		e.guard.onPanic("the engine", api.Object)
	}
	return api.Object
}

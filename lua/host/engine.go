package host

import (
	"fmt"

	"jcode/internal/text"

	lua "github.com/yuin/gopher-lua"
)

// Sizes of one Lua state. Small growth steps would make large concatenations slow.
const (
	registrySize     = 1024
	registryMax      = 65536
	registryGrowStep = 1024
	callStackSize    = 200
)

// engine is one Lua state with its guards and its standard library. It is used by one goroutine at a time.
type engine struct {
	L       *lua.LState
	meter   *meter
	threads *threads
	null    *lua.LUserData // json.null
	arrayMT *lua.LTable    // marks a table as an array
	guard   *guard
}

// guard keeps Go panics of host functions from Lua.
type guard struct {
	// onPanic is called after a Go panic inside a host function; the state is unsound then.
	onPanic func(where string, what any)
}

func newEngine(m *meter) *engine {
	e := &engine{meter: m, guard: &guard{onPanic: func(string, any) {}}}
	e.L = lua.NewState(lua.Options{
		SkipOpenLibs:        true,
		RegistrySize:        registrySize,
		RegistryMaxSize:     registryMax,
		RegistryGrowStep:    registryGrowStep,
		CallStackSize:       callStackSize,
		MinimizeStackMemory: true,
	})
	e.L.SetContext(m)
	e.null = &lua.LUserData{Value: jsonNull{}, Metatable: lua.LNil, Env: e.L.G.Global}
	e.arrayMT = e.L.CreateTable(0, 1)
	e.arrayMT.RawSetString("__metatable", lua.LFalse)
	e.openGlobals()
	return e
}

// Close ends the state. It must be called exactly once: a second Close would poison a
// process-wide pool of the engine.
func (e *engine) Close() { e.L.Close() }

// RegisterHost returns fn as a Lua function of the state.
func (e *engine) RegisterHost(name string, fn lua.LGFunction) *lua.LFunction {
	return e.guard.register(e.L, name, fn)
}

// register returns fn as a Lua function. A Go panic in it becomes a Lua error, and is also
// reported, because a script's pcall would swallow it otherwise.
func (g *guard) register(L *lua.LState, name string, fn lua.LGFunction) *lua.LFunction {
	return L.NewFunction(func(L *lua.LState) int {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			if _, ok := r.(*lua.ApiError); ok {
				panic(r) // an ordinary Lua error
			}
			g.onPanic(name, r)
			L.RaiseError("internal error in %s", name)
		}()
		return fn(L)
	})
}

// Call runs fn in a protected call and returns all its results.
func (e *engine) Call(fn lua.LValue, args ...lua.LValue) ([]lua.LValue, error) {
	rets, err := protected(e.L, fn, args...)
	if err != nil {
		return nil, e.failure(err)
	}
	return rets, nil
}

// protected calls fn in a protected call and returns all its results.
func protected(L *lua.LState, fn lua.LValue, args ...lua.LValue) ([]lua.LValue, error) {
	base := L.GetTop()
	defer L.SetTop(base)
	L.Push(fn)
	if err := L.PCall(pushAll(L, args...), lua.MultRet, nil); err != nil {
		return nil, err
	}
	var out []lua.LValue
	for i := base + 1; i <= L.GetTop(); i++ {
		out = append(out, L.Get(i))
	}
	return out, nil
}

// firstResult calls fn, which may raise, and returns its first result.
func firstResult(L *lua.LState, fn lua.LValue, args ...lua.LValue) lua.LValue {
	L.Push(fn)
	L.Call(pushAll(L, args...), 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// pushAll pushes values onto the stack and returns their number: what a function for Lua has to return.
func pushAll(L *lua.LState, values ...lua.LValue) int {
	for _, v := range values {
		L.Push(v)
	}
	return len(values)
}

// scriptError is a Lua error that a script did not catch.
type scriptError struct {
	text  string // first line, with position
	trace string
}

func (e *scriptError) Error() string { return e.text }

func (e *engine) failure(err error) error {
	api, ok := err.(*lua.ApiError) //nolint:errorlint // the engine returns exactly this type
	if !ok {
		return &scriptError{text: text.Headline(err.Error())}
	}
	if api.Type == lua.ApiErrorPanic {
		e.guard.onPanic("the engine", api.Object)
	}
	return &scriptError{text: text.Headline(errorText(api.Object)), trace: api.StackTrace}
}

// errorText describes an error value without running any of its metamethods.
func errorText(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return v.String()
	case *lua.LTable:
		for _, key := range []string{"error", "message"} {
			if s, ok := v.RawGetString(key).(lua.LString); ok {
				return string(s)
			}
		}
	}
	return fmt.Sprintf("(error object is a %s value)", v.Type())
}

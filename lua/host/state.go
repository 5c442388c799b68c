package host

import (
	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

// maxTries bounds how often an update begins anew because something else wrote the value. One writer of several always
// succeeds, so only a function that changes its own key fails so often.
const maxTries = 1000

// stateUpdate implements state.update: the other side gives the value, and keeps the new one only if the stored one is
// still what it gave.
func stateUpdate(s *script) lua.LGFunction {
	return func(L *lua.LState) int {
		key, fn := L.CheckString(1), L.CheckFunction(2)
		values := s.call(L, "state.update", []any{key})
		for range maxTries {
			before := lua.LValue(lua.LNil)
			if len(values) > 0 {
				before = s.fromWire(values[0])
			}
			s.threads.enter(L)
			after := firstResult(L, fn, before)
			s.threads.leave(L)
			put := &wire.Object{}
			if after != lua.LNil {
				put.Set("value", s.arg(L, "value", after))
			}
			values = s.call(L, "state.update", []any{key, nil, put})
			if len(values) > 1 && values[1] == true {
				return pushAll(L, after)
			}
		}
		L.RaiseError("state.update %q: the value changed %d times meanwhile: does the function change it itself?", key, maxTries)
		return 0
	}
}

package host

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

// script is one Lua state with its environment: a tool's for one call, a plugin's or
// the startup script's for the life of the process.
type script struct {
	*engine
	place
	peer     *peer
	patterns patterns
	jcode    *lua.LTable
	// request is the host's own jcode.request; a script may replace it.
	request *lua.LFunction
	// handlers, events and commands are what the script registered.
	handlers map[string]*lua.LFunction
	events   map[string][]*lua.LFunction
	commands map[string]*lua.LFunction
	// component is the table that a plugin's file returned.
	component *lua.LTable
	modules   *wire.Object // sources of a folder plugin by name
	loaded    map[string]lua.LValue
	out       output
	ownDepth  int // requests to itself that are being answered
}

// newScript returns a script that runs in a place, measured by m. extra are further globals.
func newScript(at place, m *meter, p *peer, cache patterns, extra map[string]lua.LGFunction) *script {
	s := &script{
		engine: newEngine(m), place: at, peer: p, patterns: cache,
		handlers: map[string]*lua.LFunction{}, events: map[string][]*lua.LFunction{}, commands: map[string]*lua.LFunction{},
		loaded: map[string]lua.LValue{},
	}
	s.guard.onPanic = func(where string, what any) {
		m.tainted = true
		s.log("error", fmt.Sprintf("panic in %s: %v", where, what))
	}
	s.openAPI()
	for name, fn := range extra {
		s.L.G.Global.RawSetString(name, s.RegisterHost(name, fn))
	}
	return s
}

// runTool runs a tool's chunk with its parameters as globals and in `params`. The
// result is what it returned: nothing, a value, or a value and a message.
func (s *script) runTool(proto *lua.FunctionProto, params *wire.Object) (any, error) {
	if s.env == wire.EnvTool {
		for i := range params.Len() {
			name, v := params.At(i)
			s.L.G.Global.RawSetString(name, s.fromWire(v))
		}
		s.L.G.Global.RawSetString("params", s.fromWire(params))
	}
	return s.run("result", s.L.NewFunctionFromProto(proto))
}

// run calls a function and converts what it returns; root names that in errors.
func (s *script) run(root string, fn lua.LValue, args ...lua.LValue) (any, error) {
	rets, err := s.Call(fn, args...)
	if err != nil {
		return nil, err
	}
	return s.returned(root, rets)
}

// returned converts the first two return values of a script.
func (s *script) returned(root string, rets []lua.LValue) (any, error) {
	out := []any{}
	for _, r := range rets[:min(len(rets), 2)] {
		v, err := s.toWire(root, r)
		if err != nil {
			return nil, &scriptError{text: err.Error()}
		}
		out = append(out, v)
	}
	return out, nil
}

// load runs the body of a plugin or the startup script. A plugin's description of
// itself is the result.
func (s *script) load(proto *lua.FunctionProto, chunk string) (any, error) {
	rets, err := s.Call(s.L.NewFunctionFromProto(proto))
	if err != nil || s.env != wire.EnvPlugin {
		return nil, err
	}
	if len(rets) == 0 || rets[0].Type() != lua.LTTable {
		return nil, &scriptError{text: chunk + ": a plugin must return a table with id, permissions, init"}
	}
	s.component = rets[0].(*lua.LTable)
	about := &wire.Object{}
	for _, key := range []string{"id", "permissions"} {
		v, err := s.toWire(key, s.component.RawGetString(key))
		if err != nil {
			return nil, &scriptError{text: chunk + ": " + err.Error()}
		}
		about.Set(key, v)
	}
	for _, key := range []string{"init", "on_request", "shutdown"} {
		if t := s.component.RawGetString(key).Type(); t != lua.LTNil && t != lua.LTFunction {
			return nil, &scriptError{text: fmt.Sprintf("%s: %s is a %s, not a function", chunk, key, t)}
		}
	}
	return about, nil
}

// start runs init() of a plugin, or the global startup().
func (s *script) start() (any, error) {
	v, name := s.L.G.Global.RawGetString("startup"), "startup"
	if s.env == wire.EnvPlugin {
		v, name = s.component.RawGetString("init"), "init"
	}
	switch v.Type() {
	case lua.LTNil:
		return nil, nil
	case lua.LTFunction:
		_, err := s.Call(v)
		return nil, err
	}
	return nil, &scriptError{text: name + " is a " + v.Type().String() + ", not a function"}
}

// shutdown runs shutdown() of a plugin.
func (s *script) shutdown() (any, error) {
	if s.component == nil {
		return nil, nil
	}
	if fn, ok := s.component.RawGetString("shutdown").(*lua.LFunction); ok {
		_, err := s.Call(fn)
		return nil, err
	}
	return nil, nil
}

// serve answers a component request by a registered handler or by on_request.
func (s *script) serve(operation, from string, payload any) (any, error) {
	fn, arg, reply := s.serves(operation, from, payload)
	if fn == nil {
		return []any{wire.NewObject("success", false, "error", "unknown operation: "+operation)}, nil
	}
	rets, err := s.Call(fn, arg)
	if err != nil {
		return nil, err
	}
	return s.returned("reply", []lua.LValue{reply(rets)})
}

func orEmpty(payload any) any {
	if payload == nil {
		return &wire.Object{}
	}
	return payload
}

// event runs the n-th handler (from 1) of an event.
func (s *script) event(name string, n int64, table any) (any, error) {
	list := s.events[name]
	if n < 1 || n > int64(len(list)) {
		return nil, &scriptError{text: "no such handler"}
	}
	return s.run("event", list[n-1], s.fromWire(table))
}

// command runs a slash command.
func (s *script) command(name, text string) (any, error) {
	fn := s.commands[name]
	if fn == nil {
		return nil, &scriptError{text: "no such command: " + name}
	}
	return s.run("result", fn, lua.LString(text))
}

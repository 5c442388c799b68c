package host

import (
	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

// registerIntent checks a definition and sends it. Faults of the definition raise an error; a
// refusal is a table.
func (s *script) registerIntent(L *lua.LState) int {
	def := L.CheckTable(1)
	for _, key := range []string{"name", "description"} {
		if def.RawGetString(key).Type() != lua.LTString {
			L.RaiseError("register_intent: '%s' is required and must be a string", key)
		}
	}
	handler := def.RawGetString("handler")
	component := def.RawGetString("component")
	switch {
	case handler == lua.LNil && component.Type() != lua.LTString:
		L.RaiseError("register_intent: 'component' is required and must be a string (or give a 'handler' function)")
	case handler != lua.LNil && handler.Type() != lua.LTFunction:
		L.RaiseError("register_intent: 'handler' must be a function")
	}
	out := &wire.Object{}
	for k, v := def.Next(lua.LNil); k != lua.LNil; k, v = def.Next(k) {
		name, ok := k.(lua.LString)
		if !ok {
			L.RaiseError("register_intent: a key of type %s", k.Type().String())
		}
		if name != "handler" {
			out.Set(string(name), s.intentField(L, string(name), v))
		}
	}
	if ro, mut := out.Bool("read_only"), out.Bool("mutating"); out.Get("read_only") != nil && out.Get("mutating") != nil && ro == mut {
		L.RaiseError("register_intent: 'read_only' and 'mutating' contradict each other")
	}
	if handler != lua.LNil {
		out.Set("handler", true)
	}
	values := s.call(L, "jcode.register_intent", []any{out})
	if fn, ok := handler.(*lua.LFunction); ok && replyOK(values) {
		s.handlers[out.String("name")] = fn
	}
	return s.push(L, values)
}

// intentField converts one field of a definition and checks its type.
func (s *script) intentField(L *lua.LState, name string, v lua.LValue) any {
	want := map[string]lua.LValueType{
		"name": lua.LTString, "description": lua.LTString, "component": lua.LTString, "operation": lua.LTString,
		"params": lua.LTTable, "timeout_ms": lua.LTNumber, "read_only": lua.LTBool, "mutating": lua.LTBool, "approval": lua.LTString,
	}
	t, known := want[name]
	if !known {
		L.RaiseError("register_intent: unknown key '%s'", name)
	}
	if v.Type() != t {
		L.RaiseError("register_intent: '%s' must be a %s, got %s", name, t.String(), v.Type().String())
	}
	if name == "params" {
		checkParams(L, v.(*lua.LTable))
	}
	return s.arg(L, name, v)
}

// checkParams raises for parameters that are not a map of names to tables. A full schema (type = "object") is
// passed on unchanged.
func checkParams(L *lua.LState, params *lua.LTable) {
	if params.RawGetString("type") == lua.LString("object") {
		return
	}
	for k, v := params.Next(lua.LNil); k != lua.LNil; k, v = params.Next(k) {
		if k.Type() != lua.LTString {
			L.RaiseError("register_intent: 'params' must map names to tables; a key is a %s", k.Type().String())
		}
		if v.Type() != lua.LTTable {
			L.RaiseError("register_intent: 'params.%s' must be a table, got %s", k.String(), v.Type().String())
		}
	}
}

func (s *script) jcodeOn(L *lua.LState) int {
	event, fn := L.CheckString(1), L.CheckFunction(2)
	values := s.call(L, "jcode.on", []any{event})
	if replyOK(values) {
		s.events[event] = append(s.events[event], fn)
	}
	return s.push(L, values)
}

func (s *script) jcodeCommand(L *lua.LState) int {
	name, def := L.CheckString(1), L.CheckTable(2)
	run, ok := def.RawGetString("run").(*lua.LFunction)
	if !ok {
		L.RaiseError("command: 'run' is required and must be a function")
	}
	out := &wire.Object{}
	for _, key := range []string{"description", "args"} {
		switch v := def.RawGetString(key).(type) {
		case lua.LString:
			out.Set(key, string(v))
		case *lua.LNilType:
		default:
			L.RaiseError("command: '%s' must be a string, got %s", key, v.Type().String())
		}
	}
	values := s.call(L, "jcode.command", []any{name, out})
	if replyOK(values) {
		s.commands[name] = run
	}
	return s.push(L, values)
}

// doRequire loads another file of a folder plugin, once.
func (s *script) doRequire(L *lua.LState) int {
	name := L.CheckString(1)
	if v, ok := s.loaded[name]; ok {
		return pushAll(L, v)
	}
	source, ok := s.modules.Get(name).(string)
	if !ok {
		L.RaiseError("module '%s' not found: only files of the plugin's own folder can be required", name)
	}
	proto, err := compile(s.owner+"/"+name+".lua", source)
	if err != nil {
		L.RaiseError("%s", err.Error())
	}
	s.loaded[name] = lua.LTrue // a module that requires itself gets this
	s.threads.enter(L)
	defer s.threads.leave(L)
	v := firstResult(L, L.NewFunctionFromProto(proto), lua.LString(name))
	if v == lua.LNil {
		v = lua.LTrue
	}
	s.loaded[name] = v
	return pushAll(L, v)
}

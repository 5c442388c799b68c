package host

import (
	lua "github.com/yuin/gopher-lua"

	"jcode/internal/text"
	"jcode/lua/wire"
)

// maxOwnDepth bounds requests of a script to itself.
const maxOwnDepth = 4

// serves returns the function that answers an operation of this script: the handler of an intent, otherwise
// on_request; nil when there is none. reply converts its results into a reply.
func (s *script) serves(operation, from string, payload any) (fn *lua.LFunction, arg lua.LValue, reply func([]lua.LValue) lua.LValue) {
	if fn := s.handlers[operation]; fn != nil {
		return fn, s.fromWire(orEmpty(payload)), s.handlerReply
	}
	fn, _ = s.L.G.Global.RawGetString("on_request").(*lua.LFunction)
	if s.component != nil {
		fn, _ = s.component.RawGetString("on_request").(*lua.LFunction)
	}
	req := s.L.CreateTable(0, 3)
	req.RawSetString("operation", lua.LString(operation))
	req.RawSetString("payload", s.fromWire(orEmpty(payload)))
	req.RawSetString("from", lua.LString(from))
	return fn, req, s.requestReply
}

// handlerReply turns the results of an intent's handler into a reply. A plain value is the data, and no value
// means no data; a reply stays as it is, and a failure in the form of a tool's is also one here.
func (s *script) handlerReply(rets []lua.LValue) lua.LValue {
	first := lua.LValue(lua.LNil)
	if len(rets) > 0 {
		first = rets[0]
	}
	if first == lua.LNil && len(rets) > 1 && rets[1] != lua.LNil {
		return s.failedReply(errorText(rets[1]))
	}
	if t, ok := first.(*lua.LTable); ok {
		switch {
		case t.RawGetString("success").Type() == lua.LTBool:
			return t
		case t.RawGetString("ok") == lua.LFalse:
			return s.failedReply(errorText(t))
		}
	}
	out := s.L.CreateTable(0, 2)
	out.RawSetString("success", lua.LTrue)
	out.RawSetString("data", first)
	return out
}

// requestReply turns the results of on_request into a reply. Strings, numbers and booleans are data. A table
// without success, or no value, is a failure: on_request serves all operations, and this is how it says that
// it does not know one.
func (s *script) requestReply(rets []lua.LValue) lua.LValue {
	if len(rets) > 0 {
		switch rets[0].Type() {
		case lua.LTTable:
			return rets[0]
		case lua.LTString, lua.LTNumber, lua.LTBool:
			return s.handlerReply(rets)
		}
	}
	if len(rets) > 1 && rets[1] != lua.LNil {
		return s.failedReply(errorText(rets[1]))
	}
	return s.L.CreateTable(0, 0)
}

func (s *script) failedReply(text string) *lua.LTable {
	out := s.L.CreateTable(0, 3)
	out.RawSetString("success", lua.LFalse)
	out.RawSetString("error", lua.LString(text))
	return out
}

// jcodeRequest sends a request to a component. When the other side returns this script's own
// address, it has judged the request; it is then answered here, because the script can't serve
// a request from outside while it waits.
func (s *script) jcodeRequest(L *lua.LState) int {
	args := []any{L.CheckString(1), L.CheckString(2), s.arg(L, "payload", L.Get(3))}
	if opts, ok := L.Get(4).(*lua.LTable); ok {
		args = append(args, s.arg(L, "opts", opts))
	}
	values := s.call(L, "jcode.request", args)
	if len(values) == 2 {
		if to, _ := values[1].(*wire.Object); to.Bool("own") {
			return pushAll(L, s.serveOwn(L, to))
		}
	}
	return s.push(L, values)
}

// serveOwn answers a request of the script to itself, on the calling thread.
func (s *script) serveOwn(L *lua.LState, to *wire.Object) lua.LValue {
	if s.ownDepth >= maxOwnDepth {
		failed := s.failedReply("call depth over 4: a script called itself too often")
		failed.RawSetString("error_kind", lua.LString("limit"))
		return failed
	}
	fn, arg, reply := s.serves(to.String("operation"), to.String("from"), to.Get("payload"))
	if fn == nil {
		return s.failedReply("unknown operation: " + to.String("operation"))
	}
	s.ownDepth++
	s.threads.enter(L)
	defer func() {
		s.threads.leave(L)
		s.ownDepth--
	}()
	rets, err := protected(L, fn, arg)
	if err != nil {
		failed := s.failedReply(text.Headline(errorText(s.caught(err))))
		failed.RawSetString("error_kind", lua.LString("script_error"))
		return failed
	}
	return reply(rets)
}

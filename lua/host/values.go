package host

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"jcode/lua/wire"
)

// valueError says which part of a value cannot leave Lua: "args.items[3].f: function".
type valueError struct {
	path []string // innermost first
	what string
}

// maxShownPath is how many steps of a path an error shows.
const maxShownPath = 12

func (e *valueError) Error() string {
	var b strings.Builder
	for i := len(e.path) - 1; i >= 0; i-- {
		p := e.path[i]
		if len(e.path)-i > maxShownPath {
			b.WriteString("…")
			break
		}
		if b.Len() > 0 && !strings.HasPrefix(p, "[") {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	if b.Len() == 0 {
		return e.what
	}
	return b.String() + ": " + e.what
}

// export converts values that leave Lua. It uses raw access and never runs a metamethod.
type export struct {
	nodes   int
	open    map[*lua.LTable]bool
	arrayMT *lua.LTable
}

// toWire converts v; root names it in errors.
func (e *engine) toWire(root string, v lua.LValue) (any, error) {
	x := export{open: map[*lua.LTable]bool{}, arrayMT: e.arrayMT}
	out, err := x.value(v, 0)
	if err != nil {
		if root != "" {
			err.path = append(err.path, root)
		}
		return nil, err
	}
	return out, nil
}

func (x *export) value(v lua.LValue, depth int) (any, *valueError) {
	if x.nodes++; x.nodes > wire.MaxNodes {
		return nil, &valueError{what: fmt.Sprintf("more than %d values", wire.MaxNodes)}
	}
	switch v := v.(type) {
	case *lua.LNilType:
		return nil, nil
	case lua.LBool:
		return bool(v), nil
	case lua.LNumber:
		f := float64(v)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, &valueError{what: "a number that is not finite (" + v.String() + ")"}
		}
		return f, nil
	case lua.LString:
		return string(v), nil
	case *lua.LTable:
		if depth >= wire.MaxDepth {
			return nil, &valueError{what: fmt.Sprintf("nested deeper than %d", wire.MaxDepth)}
		}
		if x.open[v] {
			return nil, &valueError{what: "a cycle"}
		}
		x.open[v] = true
		defer delete(x.open, v)
		return x.table(v, depth)
	case *lua.LUserData:
		if v.Value == (jsonNull{}) {
			return nil, nil
		}
	}
	return nil, &valueError{what: v.Type().String()}
}

func (x *export) table(t *lua.LTable, depth int) (any, *valueError) {
	n, text, other := 0, 0, ""
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		switch k.(type) {
		case lua.LNumber:
			n++
		case lua.LString:
			text++
		default:
			other = k.Type().String()
		}
		if n+text > wire.MaxNodes {
			return nil, &valueError{what: fmt.Sprintf("more than %d values", wire.MaxNodes)}
		}
	}
	switch {
	case other != "":
		return nil, &valueError{what: "a key of type " + other}
	case n > 0 && text > 0:
		return nil, &valueError{what: "mixed keys (numbers and names)"}
	case text > 0:
		return x.object(t, depth)
	case n > 0:
		return x.array(t, n, depth)
	case t.Metatable == lua.LValue(x.arrayMT):
		return []any{}, nil
	}
	return &wire.Object{}, nil
}

func (x *export) array(t *lua.LTable, n, depth int) (any, *valueError) {
	out := make([]any, n)
	for i := range out {
		item := t.RawGetInt(i + 1)
		if item == lua.LNil {
			return nil, &valueError{what: "number keys that are not 1 to n"}
		}
		v, err := x.value(item, depth+1)
		if err != nil {
			err.path = append(err.path, "["+strconv.Itoa(i+1)+"]")
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (x *export) object(t *lua.LTable, depth int) (any, *valueError) {
	o := &wire.Object{}
	for k, item := t.Next(lua.LNil); k != lua.LNil; k, item = t.Next(k) {
		v, err := x.value(item, depth+1)
		if err != nil {
			err.path = append(err.path, k.String())
			return nil, err
		}
		o.Set(k.String(), v)
	}
	return o, nil
}

// jsonNull is what json.null holds.
type jsonNull struct{}

// fromWire converts a value that enters Lua: null in an array is json.null, otherwise the key stays absent.
func (e *engine) fromWire(v any) lua.LValue { return enter(e, v, false) }

// enter is fromWire; with nulls, a member that is null is json.null, too.
func enter(e *engine, v any, nulls bool) lua.LValue {
	switch v := v.(type) {
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		t := e.L.CreateTable(len(v), 0)
		if len(v) == 0 {
			t.Metatable = e.arrayMT
		}
		for i, item := range v {
			if item == nil {
				t.RawSetInt(i+1, e.null)
			} else {
				t.RawSetInt(i+1, enter(e, item, nulls))
			}
		}
		return t
	case *wire.Object:
		t := e.L.CreateTable(0, v.Len())
		for i := range v.Len() {
			switch key, item := v.At(i); {
			case item != nil:
				t.RawSetString(key, enter(e, item, nulls))
			case nulls:
				t.RawSetString(key, e.null)
			}
		}
		return t
	}
	return lua.LNil
}

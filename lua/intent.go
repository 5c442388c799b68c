package lua

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jcode/internal/ordered"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// defaultRPC is the time limit of a component request.
const defaultRPC = 30 * time.Second

// intent is a tool that a script registered: a name for an operation of a component.
type intent struct {
	name, description string
	fqn, operation    string
	timeout           time.Duration // 0 = defaultRPC
	readOnly, always  bool
	// dead intents name a component that is not the script's own: they are never served, not even
	// by a script of that name that is loaded later.
	dead bool
	// handled says that the script registered it with a function, which answers the script's own calls even where it
	// has replaced jcode.request.
	handled bool
	// stateful says that the script stores values, so that calls of one answer keep their order.
	stateful bool
	params   []byte
	hash     string // of the script that registered it
}

func (i *intent) spec() tools.Spec {
	spec := tools.Spec{
		Name: i.name, Description: i.description, Parameters: i.params, ReadOnly: i.readOnly,
		Needs: tools.CapLua, Group: tools.GroupLua, Hash: i.hash, Trusted: true,
	}
	if i.stateful {
		spec.Serial = "lua " + i.fqn
	}
	return spec
}

// parseIntent checks a definition that a host sent. owner is the script's own component.
func parseIntent(def *wire.Object, owner string) (*intent, error) {
	i := &intent{
		name: def.String("name"), description: strings.TrimSpace(def.String("description")),
		fqn: def.String("component"), operation: def.String("operation"), readOnly: def.Bool("read_only"),
	}
	if m, ok := def.Get("mutating").(bool); ok && def.Get("read_only") == nil {
		i.readOnly = !m
	}
	if i.name == "" || i.description == "" {
		return nil, &pool.ProtocolError{What: "register_intent without name or description"}
	}
	if def.Bool("handler") && i.fqn == "" {
		i.fqn, i.handled = owner, true
		if i.operation == "" {
			i.operation = i.name
		}
	}
	if i.operation == "" {
		i.operation = "execute"
	}
	if i.fqn == "" {
		return nil, &pool.ProtocolError{What: "register_intent without component"}
	}
	if a := def.Get("approval"); a != nil {
		if a != "always" {
			return nil, fmt.Errorf(`register_intent: approval can only be "always"`)
		}
		i.always = true
	}
	if ms, ok := def.Number("timeout_ms"); ok {
		if ms < 1 || ms > manifest.MaxTimeout.Seconds()*1000*10 {
			return nil, fmt.Errorf("register_intent: timeout_ms must be from 1 to %d", int(manifest.MaxTimeout.Seconds()*1000*10))
		}
		i.timeout = time.Duration(ms) * time.Millisecond
	}
	var err error
	i.params, err = intentSchema(def.Get("params"))
	return i, err
}

// intentSchema turns the params of a definition into a JSON Schema, in the order written.
func intentSchema(v any) ([]byte, error) {
	params, ok := v.(*wire.Object)
	if v != nil && !ok {
		return nil, fmt.Errorf("register_intent: params must map names to tables")
	}
	if params.String("type") == "object" {
		full := params.Clone()
		if full.Get("properties") == nil {
			full.Set("properties", &wire.Object{})
		}
		return wire.EncodeJSON(listsInSchema(full), false)
	}
	props := &wire.Object{}
	var required []any
	for n := range params.Len() {
		name, item := params.At(n)
		p, ok := item.(*wire.Object)
		if !ok {
			return nil, fmt.Errorf("register_intent: params.%s must be a table", name)
		}
		s := wire.NewObject("type", "string", "description", p.String("description"))
		if t := p.Get("type"); t != nil {
			s.Set("type", t)
		}
		for _, key := range []string{"enum", "default", "items", "minimum", "maximum"} {
			if x := p.Get(key); x != nil {
				s.Set(key, x)
			}
		}
		props.Set(name, listsInSchema(s))
		if p.Bool("required") {
			required = append(required, name)
		}
	}
	return manifest.ObjectSchema(props, required)
}

// listsInSchema turns the keywords that must be lists into lists: an empty Lua table
// arrives as an empty object.
func listsInSchema(o *wire.Object) *wire.Object {
	for i := range o.Len() {
		key, v := o.At(i)
		sub, ok := v.(*wire.Object)
		if !ok {
			continue
		}
		if sub.Len() == 0 && (key == "required" || key == "enum") {
			o.Set(key, []any{})
			continue
		}
		o.Set(key, listsInSchema(sub))
	}
	return o
}

// intentTool is an intent as a tool.
type intentTool struct {
	*intent
	around *surroundings
}

// Spec describes the intent.
func (t *intentTool) Spec() tools.Spec { return t.spec() }

// Plan declares an access to Lua, because the component's code decides what happens.
func (t *intentTool) Plan(_ context.Context, _ tools.Call) (tools.Plan, error) {
	return tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessLua, Target: t.name, Hash: t.hash, ReadOnly: t.readOnly}},
		Summary:  "Execute intent: " + t.name,
		Always:   t.always,
	}, nil
}

// Run sends the request to the component. A script that has replaced jcode.request gets the
// address instead, and so does one that calls itself.
func (t *intentTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	payload, err := wire.DecodeJSON(call.Arguments)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "invalid arguments: %w", err)
	}
	to, _ := ctx.Value(redirectKey{}).(*redirect)
	if to != nil && call.Caller.Origin == tools.OriginScript && (to.replaced || to.itself(t.intent)) {
		to.intent, to.payload = t.intent, payload
		return tools.Result{}, nil
	}
	began := time.Now()
	reply, fail := t.around.rpc(ctx, rpcCall{
		fqn: t.fqn, dead: t.dead, operation: t.operation, payload: payload, from: callerName(call.Caller), timeout: t.timeout,
		caller: call.Caller, progress: call.Progress,
	})
	ms := float64(time.Since(began).Milliseconds())
	if fail != nil {
		return tools.Result{Data: wire.NewObject("duration_ms", ms)}, &tools.Error{Kind: fail.Kind, Text: fail.Text}
	}
	data := wire.NewObject("duration_ms", ms)
	if !reply.Bool("success") {
		text, ok := reply.Get("error").(string)
		if !ok {
			text = "component RPC failed: " + t.fqn + "::" + t.operation
		}
		return tools.Result{Data: data}, &tools.Error{Kind: tools.KindRPC, Text: text}
	}
	if d := reply.Get("data"); d != nil {
		data.Set("data", d)
	}
	return tools.Result{Text: resultText(reply.Get("data")), Data: data}, nil
}

func callerName(c tools.Caller) string {
	if c.Owner != "" {
		return c.Owner
	}
	return string(c.Origin)
}

// resultText returns what a model reads of a value that a script returned.
func resultText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return capText(v)
	case bool:
		return fmt.Sprint(v)
	case float64:
		return string(ordered.AppendNumber(nil, v))
	case *wire.Object:
		for _, key := range []string{"content", "data"} {
			if s, ok := v.Get(key).(string); ok {
				return capText(s)
			}
		}
		o := v.Clone()
		o.Delete("ok")
		return compactText(o)
	}
	return compactText(v)
}

func compactText(v any) string {
	raw, err := wire.EncodeJSON(v, true)
	if err != nil {
		return "(the result cannot be shown: " + err.Error() + ")"
	}
	return capText(string(raw))
}

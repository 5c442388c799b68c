package lua

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"jcode/internal/toolcard"

	"jcode/internal/shellword"
	"jcode/lua/wire"
	"jcode/tools"
)

// redirectKey is the context key of a redirect: the script has replaced jcode.request, so
// a dispatch to a component returns the component's address instead of calling it.
type redirectKey struct{}

// redirect receives the address. It applies to one dispatch, not to nested ones.
type redirect struct {
	replaced bool   // the script handles requests to every component itself
	own      string // the script's own component
	intent   *intent
	payload  any
}

// itself reports whether the script that dispatches answers the intent.
func (r *redirect) itself(i *intent) bool { return r.own == i.fqn && !i.dead }

// dispatch implements jcode.dispatch and the positional functions.
func (s *principal) dispatch(ctx context.Context, name string, raw any, opts *wire.Object) ([]any, error) {
	began := time.Now()
	values, err := s.dispatchOnce(ctx, name, raw, opts)
	outcome := "ok"
	if len(values) > 0 {
		if o, isObject := values[0].(*wire.Object); isObject && !o.Bool("ok") {
			outcome = "err"
		}
	}
	s.Log("debug", fmt.Sprintf("dispatch %s: %s, %d ms", name, outcome, time.Since(began).Milliseconds()))
	return values, err
}

func (s *principal) dispatchOnce(ctx context.Context, name string, raw any, opts *wire.Object) ([]any, error) {
	args, err := namedArguments(raw)
	if err != nil {
		return one(refusal(tools.KindInvalidArgs, "%v", err)), nil
	}
	entry, known, _ := s.around.opts.Registry.Snapshot(s.caller.Scope).Lookup(name)
	if !known {
		if no := s.missingServer(name); no != nil {
			return one(no), nil
		}
		if opts.Bool("positional") {
			return one(refusal(tools.KindUnknown, "tool unavailable: %s", name)), nil
		}
	} else {
		if no := s.mayDispatch(entry.Spec, entry.Tool, args); no != nil {
			return one(shape(entry.Spec.Name, no)), nil
		}
		if bad := badText(args, "args"); bad != "" && entry.Spec.Group != tools.GroupMCP {
			return one(refusal(tools.KindInvalidArgs, "%s: the text is not UTF-8", bad)), nil
		}
		if schema, ok := decodedSchema(entry.Spec); ok {
			args, _ = fixArrays(args, schema).(*wire.Object)
		}
	}
	body, err := wire.EncodeJSON(args, false)
	if err != nil {
		return one(refusal(tools.KindInvalidArgs, "args: %v", err)), nil
	}
	to := &redirect{replaced: opts.Bool("replaced")}
	if s.script != nil {
		to.own = s.script.fqn
	}
	ctx = context.WithValue(ctx, redirectKey{}, to)
	out := s.around.opts.Dispatcher.Dispatch(ctx, tools.Call{
		ID: s.around.callID(), Name: name, Arguments: body, Caller: s.nestedFor(entry.Spec), Progress: s.progress,
	})
	if i := to.intent; i != nil {
		where := wire.NewObject("fqn", i.fqn, "operation", i.operation)
		if to.replaced && !(i.handled && to.itself(i)) {
			s.clearance = &address{i.fqn, i.operation}
		} else {
			where.Set("own", true)
			where.Set("from", s.owner)
			where.Set("payload", to.payload)
		}
		if i.timeout > 0 {
			where.Set("timeout_ms", float64(i.timeout.Milliseconds()))
		}
		return []any{nil, where}, nil
	}
	res := resultTable(out.Result)
	if entry.Spec.Group == tools.GroupMCP && out.Result.Failed {
		res.Delete("content") // the server's text is the error
	}
	return one(shape(out.Call.Name, res)), nil
}

// nested returns the caller of a nested call: the script, limited to its capabilities.
func (s *principal) nested() tools.Caller {
	c := s.declared()
	if s.script != nil && !s.all {
		c.Scope = narrow(c.Scope, s.perms.Capabilities)
	}
	return c
}

// nestedFor is nested for one intent: an intent that a plugin declares by name needs no further capability.
func (s *principal) nestedFor(spec tools.Spec) tools.Caller {
	if s.script != nil && !s.all && (slices.Contains(s.perms.Intents, spec.Name) || s.perms.CoversMCP(spec.Name)) {
		return s.declared()
	}
	return s.nested()
}

// declared returns the caller of a nested call that the script's declaration covers by itself:
// only the role limits it.
func (s *principal) declared() tools.Caller {
	c := s.caller
	c.Origin = tools.OriginScript
	c.Owner = s.owner
	c.Label = s.name
	if s.around.opts.Brought != nil {
		c.Brought = s.around.opts.Brought(s.from)
	}
	c.Depth++
	return c
}

// narrow limits a scope to the capabilities that it shares with set.
func narrow(scope *tools.Scope, set tools.Capabilities) *tools.Scope {
	var out tools.Scope
	if scope != nil {
		out = *scope
		if scope.Capabilities != nil {
			set &= *scope.Capabilities
		}
	}
	out.Capabilities = &set
	return &out
}

// mayDispatch checks a call against the script's own declaration; nil means that it is allowed.
func (s *principal) mayDispatch(spec tools.Spec, tool tools.Tool, args *wire.Object) *wire.Object {
	deny := func(format string, args ...any) *wire.Object {
		return refusal(tools.KindPermission, "permission denied: "+format, args...)
	}
	switch {
	case s.env == wire.EnvEval && spec.Name != "read" && spec.Name != "grep" && spec.Name != "glob":
		return deny("lua_eval can only read, grep and glob")
	case s.env == wire.EnvTool:
		if no := s.toolMayDispatch(spec); no != "" {
			return refusal(tools.KindPermission, "%s", no)
		}
	}
	if !s.readOnly {
		return nil
	}
	_, component := tool.(*intentTool)
	if !spec.ReadOnly || component || worksOn(spec) || spec.Group == tools.GroupMCP && !spec.Trusted {
		return deny("%s changes things, and this tool is declared read_only", spec.Name)
	}
	return nil
}

// worksOn reports whether a builtin tool that changes nothing itself starts or steers what may: sub-agents, commands in
// the background, the plan that the model follows.
func worksOn(spec tools.Spec) bool {
	return spec.Group == tools.GroupBuiltin && toolcard.Of(spec.Name).Steers
}

// toolMayDispatch returns which key a tool's manifest lacks, "" if none.
func (s *principal) toolMayDispatch(spec tools.Spec) string {
	switch {
	case spec.Name == "exec":
		if len(s.perms.Exec) == 0 {
			return s.declareText("exec")
		}
		return "permission denied: a tool runs commands as a table of words, jcode.exec({\"git\", \"log\"}), never through a shell"
	case spec.Group == tools.GroupMCP:
		if !s.perms.CoversMCP(spec.Name) {
			return s.declareText("mcp") + fmt.Sprintf(" with %q", strings.TrimPrefix(spec.Name, "mcp:"))
		}
	case !slices.Contains(s.perms.Intents, spec.Name):
		return s.declareText("intents") + fmt.Sprintf(" with %q", spec.Name)
	}
	return ""
}

// namedArguments returns the arguments as an object.
func namedArguments(raw any) (*wire.Object, error) {
	switch v := raw.(type) {
	case nil:
		return &wire.Object{}, nil
	case *wire.Object:
		return v, nil
	case []any:
		if len(v) == 0 {
			return &wire.Object{}, nil
		}
	}
	return nil, fmt.Errorf("args must be a table with names, such as {path = \"a.txt\"}")
}

// badText returns the path of a text that is not UTF-8, "" if there is none.
func badText(v any, path string) string {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return path
		}
	case []any:
		for i, item := range v {
			if p := badText(item, fmt.Sprintf("%s[%d]", path, i+1)); p != "" {
				return p
			}
		}
	case *wire.Object:
		for i := range v.Len() {
			key, item := v.At(i)
			if p := badText(item, path+"."+key); p != "" {
				return p
			}
		}
	}
	return ""
}

// decodedSchema returns a tool's schema as an ordered object.
func decodedSchema(spec tools.Spec) (*wire.Object, bool) {
	v, err := wire.DecodeJSON(spec.Parameters)
	if err != nil {
		return nil, false
	}
	o, ok := v.(*wire.Object)
	return o, ok
}

// fixArrays turns empty tables into arrays where the schema wants one.
func fixArrays(v any, schema *wire.Object) any {
	o, ok := v.(*wire.Object)
	if !ok {
		if list, isList := v.([]any); isList {
			if items := schema.Child("items"); items != nil {
				for i := range list {
					list[i] = fixArrays(list[i], items)
				}
			}
		}
		return v
	}
	if o.Len() == 0 && schema.String("type") == "array" {
		return []any{}
	}
	props := schema.Child("properties")
	for i := range o.Len() {
		key, item := o.At(i)
		if sub, ok := props.Get(key).(*wire.Object); ok {
			o.Set(key, fixArrays(item, sub))
		}
	}
	return o
}

// resultTable returns a result as a script sees it: its data merged into one table with ok.
func resultTable(res tools.Result) *wire.Object {
	out := wire.NewObject("ok", !res.Failed)
	v, err := wire.From(res.Data)
	data, _ := v.(*wire.Object)
	switch {
	case err != nil:
		return refusal(tools.KindIO, "the result cannot be given to a script: %v", err)
	case data != nil:
		for i := range data.Len() {
			if key, item := data.At(i); key != "ok" {
				out.Set(key, item)
			}
		}
	case !res.Failed && res.Text != "":
		out.Set("content", res.Text)
	}
	if res.Failed {
		if out.Get("error") == nil {
			out.Set("error", res.Text)
		}
		kind := res.Kind
		if kind == tools.KindNone {
			kind = tools.KindIO
		}
		out.Set("error_kind", string(kind))
	}
	return out
}

// shape brings results of exec into their documented form.
func shape(name string, o *wire.Object) *wire.Object {
	if name != "exec" {
		return o
	}
	code, hasCode := o.Number("code")
	if !o.Bool("ok") && !hasCode && !o.Bool("signal_terminated") {
		for _, f := range []struct {
			key string
			v   any
		}{{"stdout", ""}, {"stderr", o.String("error")}, {"code", -1.0}} {
			if o.Get(f.key) == nil {
				o.Set(f.key, f.v)
			}
		}
		return o
	}
	if hasCode && code != 0 && o.String("error") == "" {
		o.Set("error", fmt.Sprintf("exit status %d: %s", int(code), lastLine(o.String("stderr"))))
	}
	if o.String("error") == "" {
		o.Delete("error") // it ended well
		return o
	}
	o.Set("ok", false)
	if o.Get("error_kind") == nil {
		o.Set("error_kind", string(tools.KindIO))
	}
	return o
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\r\n ")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// execWords implements jcode.exec with a table of words, which are quoted for the shell.
func (s *principal) execWords(ctx context.Context, raw any, more *wire.Object) ([]any, error) {
	no := func(kind tools.ErrorKind, format string, args ...any) ([]any, error) {
		return one(shape("exec", refusal(kind, format, args...))), nil
	}
	words, err := commandWords(raw)
	covered := s.perms.CoversCommand(words)
	switch {
	case err != nil:
		return no(tools.KindInvalidArgs, "exec denied: %v", err)
	case len(words) == 0 || words[0] == "":
		return no(tools.KindInvalidArgs, "exec denied: an empty command")
	}
	if s.env == wire.EnvTool {
		switch {
		case len(s.perms.Exec) == 0:
			return no(tools.KindPermission, "%s", s.declareText("exec"))
		case !covered:
			return no(tools.KindPermission, "%s that begins as %q does", s.declareText("exec"), strings.Join(words, " "))
		}
	}
	args := more.Clone()
	args.Set("cmd", shellword.Join(words))
	if !covered { // the startup script, or a plugin within its capabilities
		return s.dispatch(ctx, "exec", args, wire.NewObject("positional", true))
	}
	return s.intent(ctx, "exec", args)
}

// commandWords returns the words of a command. A number is a word as Lua writes it.
func commandWords(raw any) ([]string, error) {
	list, ok := raw.([]any)
	if !ok {
		return wire.Texts(raw)
	}
	out := make([]string, len(list))
	for i, item := range list {
		switch v := item.(type) {
		case string:
			out[i] = v
		case float64:
			out[i] = strconv.FormatFloat(v, 'g', 14, 64)
			if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				out[i] = strconv.FormatInt(int64(v), 10)
			}
		default:
			return nil, fmt.Errorf("word %d is neither text nor a number", i+1)
		}
	}
	return out, nil
}

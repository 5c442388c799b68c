package lua

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// phase is what a script is doing; it limits which functions it may call.
type phase int

const (
	phaseRun   phase = iota
	phaseBody        // the body of a plugin's file: no rights at all
	phaseInit        // init(), startup(): the place to register
	phaseEvent       // an event handler: nothing that could recurse or ask a person
)

// principal is the script that a host serves at the moment, and what it may do. It is the only
// source of identity: nothing that a host says about itself is trusted. A principal lasts for
// one piece of work.
type principal struct {
	around   *surroundings
	env      wire.Env
	owner    string // in the registry: tool:project/x, plugin:x, startup
	name     string // for people
	scope    string // of its state
	from     string // who brought it: project, user, or the plugin of others
	perms    *manifest.Permissions
	all      bool // the startup script: no declaration limits it
	readOnly bool // a tool that is declared read_only
	declare  string
	caller   tools.Caller
	phase    phase
	progress func(tools.Progress)
	script   *script // the long-lived script, nil for a tool
	// onWait is called when the script begins and ends to wait for others.
	onWait func(waiting bool)
	// clearance is the one jcode.request that the dispatcher has already judged, nil for none.
	clearance *address
	lastPut   time.Time
	// given are the stored values that state.update gave to the script and may replace, by key; nil for none.
	given map[string]json.RawMessage
}

func (s *principal) Waits(waiting bool) {
	if s.onWait != nil {
		s.onWait(waiting)
	}
}

func (s *principal) Log(level, text string) { s.around.logs.add(s.name, level, text) }

// Progress shows a line of progress, at most ten per second.
func (s *principal) Progress(text string) {
	if now := time.Now(); s.progress != nil && now.Sub(s.lastPut) >= 90*time.Millisecond {
		s.lastPut = now
		s.progress(tools.Progress{Text: cleanLine(text)})
	}
}

// refusal returns a failed result as a script sees it.
func refusal(kind tools.ErrorKind, format string, args ...any) *wire.Object {
	return wire.NewObject("ok", false, "error", fmt.Sprintf(format, args...), "error_kind", string(kind))
}

// one returns a reply of one value.
func one(v any) []any { return []any{v} }

// Call answers one call. An error raises in the script; a *pool.ProtocolError ends the host.
func (s *principal) Call(ctx context.Context, f wire.Func, args []any) ([]any, error) {
	if err := checkArgs(f, args); err != nil {
		return nil, err
	}
	switch {
	case s.phase == phaseBody:
		return s.refuse(f, "permission denied: a plugin has no rights before init()")
	case s.phase == phaseEvent && !f.Quiet:
		return s.refuse(f, "permission denied: not available inside an event handler")
	}
	a := arguments(args)
	switch f.Table() {
	case "state":
		return s.callState(ctx, f.Field(), a)
	case "http":
		return s.callHTTP(ctx, f, a)
	case "fs":
		return s.callFS(ctx, f, a)
	case "tools":
		return s.callMCPAdmin(f, a)
	}
	return s.callJcode(ctx, f, a)
}

func (s *principal) callJcode(ctx context.Context, f wire.Func, a arguments) ([]any, error) {
	switch f.Field() {
	case "dispatch":
		return s.dispatch(ctx, a.text(0), a.at(1), a.object(2))
	case "exec":
		return s.execWords(ctx, a.at(0), a.object(1))
	case "request":
		return s.request(ctx, a)
	case "mcp_call":
		return s.mcpCall(ctx, a)
	case "mcp_servers":
		return one(s.mcpServers()), nil
	case "mcp_tools":
		return one(s.mcpTools(a.text(0))), nil
	case "tool_schemas":
		return one(s.toolSchemas()), nil
	case "intent_defs":
		return one(s.intentDefs()), nil
	case "tool_descriptions":
		return one(s.toolDescriptions()), nil
	case "register_intent":
		return one(s.registerIntent(a.object(0))), nil
	case "on":
		return one(s.listen(a.text(0))), nil
	case "command":
		return one(s.registerCommand(a.text(0), a.object(1))), nil
	case "env":
		return s.readEnv(f, a.text(0))
	}
	return nil, &pool.ProtocolError{What: "a call of " + f.Name + ", which no host makes"}
}

// refuse returns a refusal in the form of the function's results.
func (s *principal) refuse(f wire.Func, text string) ([]any, error) {
	switch {
	case strings.HasPrefix(f.Returns, "boolean"):
		return []any{false, text}, nil
	case strings.HasPrefix(f.Returns, "{success"):
		return one(wire.NewObject("success", false, "error", text)), nil
	case strings.HasPrefix(f.Returns, "{ok"):
		return one(refusal(tools.KindPermission, "%s", text)), nil
	}
	return nil, errors.New(text)
}

// undeclared refuses a function whose permission is not declared.
func (s *principal) undeclared(f wire.Func, key string) ([]any, error) {
	return s.refuse(f, s.declareText(key))
}

func (s *principal) declareText(key string) string {
	return "permission denied: declare permissions." + key + " in " + s.declare
}

// arguments are the checked arguments of a call.
type arguments []any

func (a arguments) at(i int) any {
	if i < len(a) {
		return a[i]
	}
	return nil
}

func (a arguments) text(i int) string {
	s, _ := a.at(i).(string)
	return s
}

func (a arguments) object(i int) *wire.Object {
	o, _ := a.at(i).(*wire.Object)
	return o
}

// checkArgs checks the arguments of a call; its sender may be hostile. dispatch, exec and the registering
// functions carry one object more than the script has written.
func checkArgs(f wire.Func, args []any) error {
	if len(args) > len(f.Args)+1 {
		return &pool.ProtocolError{What: fmt.Sprintf("%d arguments for %s", len(args), f.Name)}
	}
	for i, a := range f.Args {
		types, optional := strings.CutSuffix(a.Type, "?")
		if i >= len(args) || args[i] == nil {
			if !optional && types != "any" && types != "function" {
				return &pool.ProtocolError{What: fmt.Sprintf("argument %d of %s is missing", i+1, f.Name)}
			}
			continue
		}
		if !isOf(args[i], types) {
			return &pool.ProtocolError{What: fmt.Sprintf("argument %d of %s has the wrong type", i+1, f.Name)}
		}
	}
	return nil
}

func isOf(v any, types string) bool {
	var its []string
	switch v.(type) {
	case string:
		its = []string{"string"}
	case float64:
		its = []string{"number", "integer"}
	case bool:
		its = []string{"boolean"}
	case *wire.Object, []any:
		its = []string{"table"}
	}
	for t := range strings.SplitSeq(types, "|") {
		if t == "any" || slices.Contains(its, t) {
			return true
		}
	}
	return false
}

// results returns the first two values that a script returned, nil for those that it did not.
func results(v any) (first, second any) {
	list, _ := v.([]any)
	return arguments(list).at(0), arguments(list).at(1)
}

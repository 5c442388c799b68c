package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"jcode/internal/text"
)

// DefaultMaxOutput limits the text of a result, in bytes, for tools that set no limit.
const DefaultMaxOutput = 64 << 10

// maxDepth limits how deep calls made by tools may be nested.
const maxDepth = 4

// Hook sees calls before and after they run: Lua plugins and the person's hook commands. A hook
// is a convenience, never a security boundary: if it does not answer in time, it is skipped.
type Hook interface {
	// BeforeCall may refuse a call, change it, or require a question. It never grants one.
	BeforeCall(ctx context.Context, call Call) Verdict
	// AfterCall is called with the outcome; it must not block.
	AfterCall(call Call, out Outcome)
}

// Verdict is a hook's answer about a call. The zero value changes nothing.
type Verdict struct {
	// By names the hook.
	By string
	// Refuse is the reason why the call must not run, "" if it may.
	Refuse string
	// Arguments replace those of the call; nil keeps them.
	Arguments json.RawMessage
	// Ask requires a question to a person, even if the rules allow the call.
	Ask bool
	// Notes are shown with a question; Context goes to the model with the result.
	Notes   []string
	Context string
}

// Commenter is a Hook that adds a text for the model to a result.
type Commenter interface {
	// AfterRun is called after a tool has run. It returns "" to add nothing, and may replace the text
	// of the result.
	AfterRun(ctx context.Context, call Call, res *Result) string
}

// Finder is a Hook that finds something out about a finished call: for the model, and in fewer
// words for the person.
type Finder interface {
	// Find is called after a tool has run. It returns "" to add nothing.
	Find(ctx context.Context, call Call, res Result) (model, person string)
}

// Outcome is a finished call.
type Outcome struct {
	Call     Call // canonical name, repaired arguments
	Result   Result
	Decision Decision
	// Ran says whether the tool was started.
	Ran      bool
	Started  time.Time
	Duration time.Duration

	sent      json.RawMessage // the arguments before hooks changed them
	changedBy []string
}

// Dispatcher is the only way by which calls reach tools.
type Dispatcher struct {
	Registry *Registry
	// Gate decides what may run. Nil refuses everything that is not read-only.
	Gate Gate
	// Hooks run in order, before validation.
	Hooks []Hook
	// Absent explains why a tool that a caller names does not exist, or returns nil if it can add
	// nothing. May be nil.
	Absent func(name string) error
	// Changing is called before a call changes files. It returns a function that is called after
	// the call has succeeded, whose text is added to the result; it may return nil. May be nil.
	Changing func(ctx context.Context, call Call, plan Plan) func(context.Context) string
	// Around is called before a call runs that may write what its plan doesn't name: of a server or of Lua. It
	// returns a function that is called after the call and returns what the model should know, or nil. May be nil.
	Around func(call Call) func() string
	// Spill stores the whole text of a result that had to be cut, and returns where it is. Nil
	// stores nothing.
	Spill func(call Call, whole string) (path string, err error)
}

// Dispatch runs one call against the registry's current version. It returns when the call has
// ended, and always with a result for the caller: failures, and panics of a tool, are results
// too.
func (d *Dispatcher) Dispatch(ctx context.Context, call Call) Outcome {
	return d.DispatchIn(ctx, d.Registry.Snapshot(call.Caller.Scope), call)
}

// DispatchIn is Dispatch against a snapshot. A tool that was removed since the snapshot was taken
// does not run, and a tool that the scope or the gate excludes is refused here too.
func (d *Dispatcher) DispatchIn(ctx context.Context, snap Snapshot, call Call) Outcome {
	out := Outcome{Call: call, Started: time.Now()}
	out.Result = d.run(ctx, snap, &out)
	out.Result.Display.changed(out.sent, out.Call.Arguments, out.changedBy)
	out.Duration = time.Since(out.Started)
	for _, h := range d.Hooks {
		h.AfterCall(out.Call, out)
	}
	return out
}

func (d *Dispatcher) run(ctx context.Context, snap Snapshot, out *Outcome) Result {
	call := &out.Call
	if call.Progress == nil {
		call.Progress = func(Progress) {}
	}
	if gate, ok := d.Gate.(Concealer); ok {
		call.Hidden = func(path string) bool { return gate.Denied(AccessRead, path) != "" }
	}
	if call.Caller.Depth > maxDepth {
		return Failure(Errorf(KindLimit, "call depth over %d: a tool called a tool too often", maxDepth))
	}
	entry, err := d.lookup(snap, call)
	if err != nil {
		return Failure(err)
	}
	call.Name = entry.Spec.Name
	if call.Arguments, err = entry.schema.repair(call.Arguments, entry.Spec.Aliases); err != nil {
		return Failure(err)
	}
	out.sent = call.Arguments
	said, by, err := d.hook(ctx, entry, call)
	out.changedBy = by
	if err != nil {
		return Failure(err)
	}
	byHooks := call.Arguments
	if err := entry.schema.validate(call.Arguments); err != nil {
		return Failure(err)
	}
	if missing := call.Caller.Scope.Missing(entry.Spec.Needs); missing != 0 {
		return Failure(Errorf(KindPermission, "permission denied: %s not granted", missing))
	}
	plan, err := planned(ctx, entry, *call, said)
	if err != nil {
		return failure(ctx, err)
	}
	sent := call.Arguments
	if res, ok := d.check(ctx, entry, plan, said, out); !ok {
		return res
	}
	out.Ran = true
	var after func(context.Context) string
	if d.Changing != nil && changesFiles(call.Plan) {
		after = d.Changing(ctx, *call, call.Plan)
	}
	var ended func() string
	if d.Around != nil && writesUnknown(call.Plan) {
		ended = d.Around(*call)
	}
	res, err := guard("the tool", func() (Result, error) { return entry.Tool.Run(ctx, *call) })
	if err != nil {
		failed := failure(ctx, err)
		failed.Data, failed.Display = res.Data, res.Display
		res = failed
	}
	if ended != nil {
		if more := ended(); more != "" {
			res.Text = strings.TrimSuffix(res.Text, "\n") + "\n[" + more + "]"
		}
	}
	if after != nil && !res.Failed {
		if more := after(ctx); more != "" {
			res.Text = strings.TrimSuffix(res.Text, "\n") + "\n" + more
			res.Display.find(more)
		}
	}
	if edited := editedNote(sent, call.Arguments); edited != "" {
		res.Text, out.changedBy = edited+res.Text, append(out.changedBy, "the user")
	}
	res.Text = changedNote(strings.Join(by, " and "), out.sent, byHooks) + res.Text
	return d.comment(ctx, *call, said.Context, d.cap(entry, *call, res))
}

// failure is Failure, except that a call that failed because ctx ended was cancelled, which is not
// the tool's fault.
func failure(ctx context.Context, err error) Result {
	failed := Failure(err)
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		failed.Kind, failed.Text = KindCancelled, "interrupted"
	}
	return failed
}

// changesFiles reports whether a plan names files that a call writes or removes.
func changesFiles(plan Plan) bool {
	return slices.ContainsFunc(plan.Accesses, func(a Access) bool { return a.Kind == AccessWrite || a.Kind == AccessDelete })
}

// writesUnknown reports whether a call may write what its plan does not name. Commands are followed where they
// run, since some go on after their call.
func writesUnknown(plan Plan) bool {
	return slices.ContainsFunc(plan.Accesses, func(a Access) bool {
		return (a.Kind == AccessMCP || a.Kind == AccessLua) && !a.ReadOnly
	})
}

// planned has a tool plan a call.
func planned(ctx context.Context, entry Entry, call Call, said Verdict) (plan Plan, err error) {
	plan = Plan{Summary: "Execute intent: " + entry.Spec.Name}
	if planner, ok := entry.Tool.(Planner); ok {
		if plan, err = guard("the tool", func() (Plan, error) { return planner.Plan(ctx, call) }); err != nil {
			return plan, err
		}
	}
	plan.Notes = append(plan.Notes, said.Notes...)
	plan.Always = plan.Always || said.Ask
	return plan, nil
}

// lookup finds the tool that a call names, in the snapshot and still in the registry.
func (d *Dispatcher) lookup(snap Snapshot, call *Call) (Entry, error) {
	unknown := func(name string, in Snapshot) error {
		if d.Absent != nil {
			if err := d.Absent(name); err != nil {
				return err
			}
		}
		return in.unknown(name)
	}
	entry, ok, why := snap.Lookup(call.Name)
	if !ok { // ignore surrounding spaces and case, if that leads to exactly one tool
		if name := snap.sloppy(call.Name); name != "" {
			entry, ok, why = snap.Lookup(name)
		}
	}
	if !ok {
		if ours, args, is := snap.Meant(call.Name, call.Arguments); is {
			call.Arguments = args
			entry, ok, why = snap.Lookup(ours)
		}
	}
	if !ok {
		// The tool may be newer than the snapshot: a script registers it and calls it at once.
		if entry, ok, why = d.Registry.Snapshot(call.Caller.Scope).Lookup(call.Name); !ok {
			return Entry{}, unknown(call.Name, snap)
		}
	}
	now, still, _ := d.Registry.Snapshot(nil).Lookup(entry.Spec.Name)
	if !still {
		return Entry{}, unknown(entry.Spec.Name, d.Registry.Snapshot(call.Caller.Scope))
	}
	if scope := call.Caller.Scope; scope != nil && scope.Capabilities != nil {
		bare := *scope // capabilities are checked after the schema, with a message of their own
		bare.Capabilities = nil
		_, why = bare.Allows(entry.Spec)
	}
	if why != "" {
		return Entry{}, Errorf(KindPermission, "permission denied: %s is %s", entry.Spec.Name, why)
	}
	return now, nil
}

// hook lets hooks change or refuse a call, and combines their answers. The notes name the hook
// that changed the call.
func (d *Dispatcher) hook(ctx context.Context, entry Entry, call *Call) (said Verdict, by []string, err error) {
	for _, h := range d.Hooks {
		v := h.BeforeCall(ctx, *call)
		if v.Refuse != "" {
			return said, by, Errorf(KindDenied, "refused by %s: %s", v.By, v.Refuse)
		}
		said.Ask = said.Ask || v.Ask
		said.Notes = append(said.Notes, v.Notes...)
		said.Context = strings.TrimPrefix(said.Context+"\n"+v.Context, "\n")
		if v.Arguments == nil {
			continue
		}
		if call.Arguments, err = entry.schema.repair(v.Arguments, entry.Spec.Aliases); err != nil {
			return said, by, err
		}
		said.Notes = append(said.Notes, "arguments edited by "+v.By)
		by = append(by, v.By)
	}
	return said, by, nil
}

// comment adds the hooks' comments on a call and its result. The limit of the result does not
// apply to them: hooks limit their own texts.
func (d *Dispatcher) comment(ctx context.Context, call Call, before string, res Result) Result {
	var lines []string
	if before = strings.TrimSpace(before); before != "" {
		lines = append(lines, "[hook: "+before+"]")
	}
	for _, h := range d.Hooks {
		if c, ok := h.(Commenter); ok {
			if said := c.AfterRun(ctx, call, &res); said != "" {
				lines = append(lines, said)
			}
		}
		if f, ok := h.(Finder); ok {
			said, shown := f.Find(ctx, call, res)
			if said != "" {
				lines = append(lines, said)
			}
			res.Display.find(shown)
		}
	}
	res.Text = strings.Join(append([]string{res.Text}, lines...), "\n")
	return res
}

// judged asks the gate. If judging panics, the call is refused and the conversation continues.
func (d *Dispatcher) judged(ctx context.Context, req GateRequest) Decision {
	dec, err := guard("deciding about the call", func() (Decision, error) { return d.Gate.Check(ctx, req), nil })
	if err != nil {
		return Decision{By: ByPolicy, Reason: err.Error() + ". It does not run: write it in another way"}
	}
	return dec
}

// check asks the gate. If it refuses, ok is false and the result says why.
func (d *Dispatcher) check(ctx context.Context, entry Entry, plan Plan, said Verdict, out *Outcome) (refusal Result, ok bool) {
	call := &out.Call
	var unfit error
	if d.Gate == nil {
		out.Decision = Decision{Allow: entry.Spec.ReadOnly, By: ByPolicy, Reason: "no approval gate"}
	} else {
		req := GateRequest{Spec: entry.Spec, Call: *call, Plan: plan}
		req, out.Decision, unfit = Approve(ctx, req, d.judged, func(edited Call) (Call, Plan, error) {
			args, err := entry.schema.repair(edited.Arguments, entry.Spec.Aliases)
			if err == nil {
				err = entry.schema.validate(args)
			}
			if err != nil {
				return edited, Plan{}, err
			}
			edited.Arguments = args
			again, err := planned(ctx, entry, edited, said)
			return edited, again, err
		})
		*call, plan = req.Call, req.Plan
	}
	dec := &out.Decision
	call.Caller.observe(*call, *dec)
	if !dec.Allow {
		kind := cmp.Or(dec.Kind, KindDenied)
		if ctx.Err() != nil {
			kind = KindCancelled
		}
		return Failure(Errorf(kind, "%s", cmp.Or(dec.Reason, "denied: "+plan.Summary))), false
	}
	if unfit != nil {
		return Failure(unfit), false
	}
	call.Decision, call.Plan = *dec, plan
	return Result{}, true
}

// cap shortens a result's text, and keeps its head and tail.
func (d *Dispatcher) cap(entry Entry, call Call, res Result) Result {
	res.Text = strings.ToValidUTF8(res.Text, "\uFFFD")
	limit := entry.Spec.MaxOutput
	if limit <= 0 {
		limit = DefaultMaxOutput
	}
	if len(res.Text) <= limit {
		return res
	}
	where := "the rest was not kept; ask for a smaller part"
	if d.Spill != nil {
		if path, err := d.Spill(call, res.Text); err == nil {
			where = "the whole is in " + path
			res.Display.Log = path
		}
	}
	whole := len(res.Text)
	res.Text, _ = text.HeadTail(res.Text, limit, func(left, _ int) string {
		return fmt.Sprintf("\n[… %d of %d bytes left out here; %s …]\n", left, whole, where)
	})
	return res
}

// guard runs code and turns a panic into an error that names where it happened.
func guard[T any](where string, f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Kind: KindIO, Text: fmt.Sprintf("internal fault in %s: %v", where, p), Err: fmt.Errorf("%v\n%s", p, debug.Stack())}
		}
	}()
	return f()
}

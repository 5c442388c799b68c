package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"jcode/internal/text"
	"jcode/tools"
)

// Run is the data for one run of a hook.
type Run struct {
	Hook  Hook
	Env   []string // in addition to those of exec
	Stdin []byte
	// Session and Turn are those in which the event happened; 0 is the last prompt's turn.
	Session string
	Turn    int
}

// Ended is the result of a run.
type Ended struct {
	Stdout, Stderr string
	Code           int
	// Blamed says what the sandbox denied it, if its failure looks like that.
	Blamed string
	// Variables are what a SessionStart hook sets for later commands, as NAME=value.
	Variables []string
}

// Runner runs hooks as exec runs commands: with its environment, output limits and sandbox. It
// returns an error if the command could not be run, or did not end in time.
type Runner interface {
	RunHook(ctx context.Context, run Run) (Ended, error)
}

// Options are the settings of New.
type Options struct {
	Runner Runner
	// Root is the project: hooks run there. Cwd is the working folder, which is part of their input.
	Root, Cwd string
	// Covers reports whether a permission rule in Claude Code's form covers a call. Nil means no.
	Covers func(rule string, call tools.Call) (bool, error)
	// Background runs something that nothing waits for, until the program ends. Nil means that
	// async hooks are waited for.
	Background func(run func(ctx context.Context))
	// OfRole returns the hooks of a role. May be nil.
	OfRole func(name string) []Hook
	// Mode returns the approval mode in force, for the input.
	Mode func() string
	// Later tells the model of a session something at its next step. May be nil.
	Later func(session, text string)
	// Notice shows the person what a hook says, or what is wrong with it.
	Notice func(level, text string)
}

// Engine runs hooks. It is safe for concurrent use.
type Engine struct {
	opt Options

	mu    sync.Mutex
	hooks []Hook
	once  map[string]bool // what ran once: session and hook
}

// New returns an engine without hooks.
func New(opt Options) *Engine { return &Engine{opt: opt} }

// Set replaces all hooks.
func (e *Engine) Set(list []Hook) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hooks = list
}

// List returns the hooks in order.
func (e *Engine) List() []Hook {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hooks
}

// Occasion is an event that happened.
type Occasion struct {
	Event   Event
	Session string
	// Names are compared with the matchers; if there are none, every hook of the event runs.
	Names []string
	// Fields are the event's own input fields.
	Fields map[string]any
	// Call is the call of an event of a tool, nil for others.
	Call *tools.Call
	// Roles are the roles in force, whose hooks run, too.
	Roles []string
	// Again says that other hooks changed a call: those of this machine's administrator see what became of it.
	Again bool
}

// turn returns the turn in which it happens; 0 is that of the last prompt.
func (o Occasion) turn() int {
	if o.Call == nil {
		return 0
	}
	return o.Call.Caller.Turn
}

// Outcome is the combined answer of all hooks of an occasion.
type Outcome struct {
	// Block blocks what was about to happen; Reason says why, By which hook.
	Block      bool
	Reason, By string
	// Ask requires a question about a call, whatever the rules allow.
	Ask bool
	// Input are the arguments that replace those of a call, nil to keep them.
	Input map[string]json.RawMessage
	// Notes are shown with a question about the call.
	Notes []string
	// Output replaces the text that the model gets as a call's result, nil to keep it.
	Output json.RawMessage
	// Context is a text for the model.
	Context string
	// Variables are set for the session's later commands, as NAME=value.
	Variables []string
	// Stop ends the turn; StopReason is for the person.
	Stop       bool
	StopReason string
}

// Wants reports whether any hook runs at an event, in some roles.
func (e *Engine) Wants(event Event, roles ...string) bool {
	return slices.ContainsFunc(e.inForce(roles), func(h Hook) bool { return h.Event == event })
}

// inForce returns the hooks for everything, and those of roles.
func (e *Engine) inForce(roles []string) []Hook {
	list := e.List()
	if e.opt.OfRole == nil {
		return list
	}
	for _, name := range roles {
		list = append(list[:len(list):len(list)], e.opt.OfRole(name)...)
	}
	return list
}

// Fire runs the hooks of an occasion in parallel and combines their answers in the order of the
// hooks: the first that blocks wins, and the last that changes the input.
func (e *Engine) Fire(ctx context.Context, o Occasion) Outcome {
	var list []Hook
	seen := map[string]bool{}
	for _, h := range e.inForce(o.Roles) {
		key := strings.Join(append([]string{h.Command, h.If}, append(h.Args, h.Env...)...), "\x00")
		if h.Event != o.Event || o.Again && (!h.Managed || h.Async) || !h.matches(o.Names) || seen[key] || !e.covers(h, o.Call) || !e.first(h, o.Session, key) {
			continue
		}
		seen[key] = true
		if h.Async && e.opt.Background != nil {
			e.behind(h, o)
			continue
		}
		list = append(list, h)
	}
	if len(list) == 0 {
		return Outcome{}
	}
	input, err := json.Marshal(e.input(o))
	if err != nil {
		e.notice("warn", "hooks of %s did not run: %v", o.Event, err)
		return Outcome{}
	}
	answers := make([]Outcome, len(list))
	var work sync.WaitGroup
	for i, h := range list {
		work.Go(func() { answers[i] = e.one(ctx, h, o, input) })
	}
	work.Wait()
	return joined(answers)
}

// covers reports whether the rule of a hook covers a call. A rule that can't be read refuses the hook, which
// is said.
func (e *Engine) covers(h Hook, call *tools.Call) bool {
	if h.If == "" {
		return true
	}
	if call == nil || e.opt.Covers == nil {
		return false
	}
	ok, err := e.opt.Covers(h.If, *call)
	if err != nil {
		e.notice("warn", "%s was not run: if: %v", name(h), err)
	}
	return ok && err == nil
}

// first reports whether a hook may run in a session: one with Once does once.
func (e *Engine) first(h Hook, session, key string) bool {
	if !h.Once {
		return true
	}
	key = session + "\x00" + string(h.Event) + "\x00" + key
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.once == nil {
		e.once = map[string]bool{}
	}
	ran := e.once[key]
	e.once[key] = true
	return !ran
}

// behind runs a hook that nothing waits for. Only its failure to start is said.
func (e *Engine) behind(h Hook, o Occasion) {
	input, err := json.Marshal(e.input(o))
	if err != nil {
		e.notice("warn", "hooks of %s did not run: %v", o.Event, err)
		return
	}
	e.opt.Background(func(ctx context.Context) {
		out := e.one(ctx, h, o, input)
		if said := strings.TrimSpace(out.Reason + "\n" + out.Context); h.Rewake && said != "" && e.opt.Later != nil {
			e.opt.Later(o.Session, strings.TrimSpace(h.Preface+"\n"+said))
		}
	})
}

// name names a hook in a message.
func name(h Hook) string {
	return fmt.Sprintf("%s hook %q of %s", h.Event, text.Cut(text.Clean(text.Headline(h.Shown())), 60), h.Source)
}

// input returns the input of a hook.
func (e *Engine) input(o Occasion) map[string]any {
	in := map[string]any{
		"session_id": o.Session, "transcript_path": "", "cwd": e.opt.Cwd, "hook_event_name": string(o.Event),
	}
	if e.opt.Mode != nil {
		mode := e.opt.Mode()
		in["jcode_mode"], in["permission_mode"] = mode, theirMode(mode)
	}
	maps.Copy(in, o.Fields)
	return in
}

// theirMode returns Claude Code's name of the nearest approval mode.
func theirMode(mode string) string {
	switch mode {
	case "plan":
		return "plan"
	case "edits", "auto":
		return "acceptEdits"
	case "yolo":
		return "bypassPermissions"
	}
	return "default"
}

// one runs a hook and reads its answer.
func (e *Engine) one(ctx context.Context, h Hook, o Occasion, input []byte) Outcome {
	name := name(h)
	if h.Refuse != nil {
		if why := h.Refuse(); why != "" {
			e.notice("warn", "%s was not run: %s", name, why)
			if h.Event == PreToolUse { // what it guards must not run unguarded
				return Outcome{Block: true, By: name, Reason: "it guards this call and does not run: " + why}
			}
			return Outcome{}
		}
	}
	root := cmp.Or(h.Dir, e.opt.Root)
	env := append([]string{"CLAUDE_PROJECT_DIR=" + root, "JCODE_PROJECT_DIR=" + root}, h.Env...)
	end, err := e.opt.Runner.RunHook(ctx, Run{Hook: h, Env: env, Stdin: input, Session: o.Session, Turn: o.turn()})
	if ctx.Err() != nil {
		return Outcome{}
	}
	var out Outcome
	var said, fault string
	if err != nil {
		fault = fmt.Sprintf("%v; it is treated as having said nothing", err)
	} else if fault = unstarted(end); fault == "" {
		out, said, fault = read(h.Event, end)
	}
	out.By = name
	if err == nil && end.Code == 0 {
		out.Variables = end.Variables
	}
	if fault != "" {
		if h.Managed && h.Event == PreToolUse && (err != nil || unstarted(end) != "") {
			out.Block, out.Reason = true, "it guards this call on this machine, and failed: "+fault
		}
		if end.Blamed != "" {
			fault += "; the sandbox stopped it: " + end.Blamed
		}
		e.notice("warn", "%s: %s", name, fault)
		if h.Event == PreToolUse && !out.Block && (err != nil || end.Code != 0) {
			out.Notes = append(out.Notes, name+", which guards such calls, failed: "+fault)
		}
	}
	if said != "" {
		e.notice("info", "%s", text.Cut(text.Clean(said), maxSaid))
	}
	return out
}

func (e *Engine) notice(level, format string, args ...any) {
	if e.opt.Notice != nil {
		e.opt.Notice(level, fmt.Sprintf(format, args...))
	}
}

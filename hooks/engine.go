package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/text"
)

// Run is the data for one run of a hook's command.
type Run struct {
	Command string
	Env     []string // in addition to those of exec
	Stdin   []byte
	Limit   time.Duration
}

// Ended is the result of a run.
type Ended struct {
	Stdout, Stderr string
	Code           int
}

// Runner runs hooks as exec runs commands: with its environment, output limits and sandbox. It
// returns an error if the command could not be run, or did not end in time.
type Runner interface {
	RunHook(ctx context.Context, run Run) (Ended, error)
}

// Options are the settings of New.
type Options struct {
	Runner Runner
	// Cwd is the folder in which hooks run, which is also part of their input.
	Cwd string
	// Mode returns the approval mode in force, for the input.
	Mode func() string
	// Notice shows the person what a hook says, or what is wrong with it.
	Notice func(level, text string)
}

// Engine runs hooks. It is safe for concurrent use.
type Engine struct {
	opt Options

	mu    sync.Mutex
	hooks []Hook
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
	// Context is a text for the model.
	Context string
	// Stop ends the turn; StopReason is for the person.
	Stop       bool
	StopReason string
}

// Wants reports whether any hook runs at an event.
func (e *Engine) Wants(event Event) bool {
	return slices.ContainsFunc(e.List(), func(h Hook) bool { return h.Event == event })
}

// Fire runs the hooks of an occasion in parallel and combines their answers in the order of the
// hooks: the first that blocks wins, and the last that changes the input.
func (e *Engine) Fire(ctx context.Context, o Occasion) Outcome {
	var list []Hook
	seen := map[string]bool{}
	for _, h := range e.List() {
		key := h.Command + "\x00" + strings.Join(h.Env, "\x00")
		if h.Event != o.Event || !h.matches(o.Names) || seen[key] {
			continue
		}
		seen[key] = true
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
		work.Go(func() { answers[i] = e.one(ctx, h, input) })
	}
	work.Wait()
	return joined(answers)
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
func (e *Engine) one(ctx context.Context, h Hook, input []byte) Outcome {
	name := fmt.Sprintf("%s hook %q of %s", h.Event, text.Cut(text.Clean(text.Headline(h.Command)), 60), h.Source)
	if h.Refuse != nil {
		if why := h.Refuse(); why != "" {
			e.notice("warn", "%s was not run: %s", name, why)
			return Outcome{}
		}
	}
	env := append([]string{"CLAUDE_PROJECT_DIR=" + e.opt.Cwd, "JCODE_PROJECT_DIR=" + e.opt.Cwd}, h.Env...)
	end, err := e.opt.Runner.RunHook(ctx, Run{Command: h.Command, Env: env, Stdin: input, Limit: h.Timeout})
	if ctx.Err() != nil {
		return Outcome{}
	}
	if err != nil {
		e.notice("warn", "%s: %v; it is treated as having said nothing", name, err)
		return Outcome{}
	}
	out, said, fault := read(h.Event, end)
	out.By = name
	if fault != "" {
		e.notice("warn", "%s: %s", name, fault)
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

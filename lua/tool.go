package lua

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// version is a tool folder as it was read once: the same bytes are hashed, shown, compiled and
// run. It is immutable; a copy replaces it when more is known about it.
type version struct {
	stamp    manifest.Stamp
	text     []byte // of the manifest
	source   string
	hash     string
	manifest *manifest.Manifest // the last good one if this one is broken; never nil
	broken   error              // why it does not load
	trusted  bool
}

// slot is one tool folder with all its versions.
type slot struct {
	root  toolRoot
	name  string
	dir   string
	owner string

	mu       sync.Mutex
	cur      *version
	recent   map[string]*version // by hash: a call runs the code it was approved with
	failures int
	disabled string
	refused  string // why the registry does not have it
	lastRun  string // error of the last run
	// ranApproved says that the current version was approved and has run.
	ranApproved bool
	shown       string // the load error that was reported last
}

func (s *slot) chunk() string { return s.name + "/" + manifest.MainName }

func (s *slot) current() *version {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur
}

// luaTool is one version of a tool folder in the registry.
type luaTool struct {
	room *Room
	slot *slot
	v    *version
}

// Spec describes the tool by its last good manifest.
func (t *luaTool) Spec() tools.Spec {
	m := t.v.manifest
	spec := tools.Spec{
		Name: t.slot.name, Description: m.Description, Parameters: m.Schema(),
		ReadOnly: m.Permissions.Empty() || m.ReadOnly, Needs: tools.CapLua, Group: tools.GroupLua,
		Hash: t.v.hash, Trusted: true, MaxOutput: maxResult + 100,
	}
	if usesState(t.v.source) {
		spec.Serial = "lua " + t.slot.owner
	}
	switch {
	case !t.v.trusted:
		spec.Hidden, spec.Note = true, "untrusted"
	case t.v.broken != nil:
		spec.Note = "load error: " + t.v.broken.Error()
	}
	if spec.Description == "" {
		spec.Description = "(this tool does not load: " + spec.Note + ")"
	}
	return spec
}

// Plan compares the files with the disk once more, so that the approved version is the one that
// runs.
func (t *luaTool) Plan(ctx context.Context, call tools.Call) (tools.Plan, error) {
	v, err := t.usable(ctx)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{Summary: "Execute intent: " + t.slot.name, Always: v.manifest.Always}
	if v.manifest.Permissions.Empty() {
		return plan, nil
	}
	plan.Accesses = []tools.Access{{
		Kind: tools.AccessLua, Target: t.slot.name, Hash: v.hash, ReadOnly: v.manifest.ReadOnly, Pin: true,
	}}
	plan.Notes, plan.Diff = t.room.around.approvals.shown(t.slot.owner, t.slot.dir, &v.manifest.Permissions, v.approval(t.slot.name))
	return plan, nil
}

// usable returns the version that a call may run now.
func (t *luaTool) usable(ctx context.Context) (*version, error) {
	t.room.refreshSlot(t.slot)
	v, err := t.slot.ready()
	if err == nil {
		err = ctx.Err()
	}
	return v, err
}

// ready returns the current version if it can run.
func (s *slot) ready() (*version, error) {
	s.mu.Lock()
	v, disabled := s.cur, s.disabled
	s.mu.Unlock()
	switch {
	case v == nil:
		return nil, tools.Errorf(tools.KindUnknown, "unknown intent: %s (removed)", s.name)
	case !v.trusted:
		return nil, tools.Errorf(tools.KindUntrusted, "%s is Lua of a project that nobody has trusted yet: the user decides about that, in the chat (jcode) or with --trust for one run", s.name)
	case v.broken != nil:
		return nil, tools.Errorf(tools.KindLoad, "%s does not load: %s", s.name, v.broken)
	case disabled != "":
		return nil, tools.Errorf(tools.KindLoad, "%s", disabled)
	}
	return v, nil
}

// approved returns the version that the gate has allowed.
func (s *slot) approved(call tools.Call) (*version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(call.Plan.Accesses) > 0 {
		if v := s.recent[call.Plan.Accesses[0].Hash]; v != nil {
			return v, nil
		}
		return nil, tools.Errorf(tools.KindLoad, "%s changed while it waited; call it again", s.name)
	}
	if s.cur == nil || s.cur.broken != nil || !s.cur.manifest.Permissions.Empty() {
		return nil, tools.Errorf(tools.KindLoad, "%s changed while it waited; call it again", s.name)
	}
	return s.cur, nil
}

// Run runs main.lua in a fresh state of a pooled host.
func (t *luaTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	s := t.slot
	v, err := s.approved(call)
	if err != nil {
		return tools.Result{}, err
	}
	t.room.around.approvals.remember(s.owner, v.approval(s.name), call.Decision)
	s.mu.Lock()
	s.ranApproved = call.Decision.By == tools.ByUser || call.Decision.By == tools.ByGrant || s.ranApproved
	s.mu.Unlock()
	params, err := toolParams(v.manifest, call)
	if err != nil {
		return tools.Result{}, err
	}
	p := t.room.around.pool
	if err := p.Enter(ctx, call.Caller.Depth > 0); err != nil {
		return tools.Result{}, tools.Errorf(tools.KindCancelled, "cancelled while waiting for other Lua tools")
	}
	defer p.Leave()
	st := &principal{
		around: t.room.around, env: wire.EnvTool, owner: s.owner, name: s.name, scope: t.room.around.stateOf(s), from: s.root.scope,
		perms: &v.manifest.Permissions, readOnly: v.manifest.ReadOnly, declare: manifest.FileName, caller: call.Caller, progress: call.Progress,
		onWait: func(waiting bool) {
			if waiting {
				p.Leave()
			} else {
				p.Back()
			}
		},
	}
	msg, fail := t.room.around.runPooled(ctx, st, pool.Job{
		Msg: wire.Message{Type: wire.TypeRun, Name: s.chunk(), Hash: v.hash, Text: v.source, Value: params}, Limit: v.manifest.Timeout, Whole: v.manifest.Bounded,
	})
	s.ran(fail)
	if fail != nil {
		if fail.Kind == tools.KindLoad {
			t.room.foundBroken(s, v, fail.Text)
		}
		return tools.Result{}, s.toError(fail)
	}
	return toolResult(msg.Value)
}

// ran counts failures by a limit or a dead host: three in a row disable the tool.
func (s *slot) ran(f *pool.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f == nil {
		s.failures, s.lastRun = 0, ""
		return
	}
	if f.Kind != tools.KindCancelled {
		s.lastRun = f.Text
	}
	if !f.Limit {
		s.failures = 0
		return
	}
	if s.failures++; s.failures >= maxFailures {
		s.disabled = fmt.Sprintf("lua %s: disabled after %d failures in a row (last: %s); change its files to enable it again", s.owner, maxFailures, f.Text)
	}
}

func (s *slot) toError(f *pool.Failure) error {
	text := f.Text
	if f.Limit || f.Kind == tools.KindTimeout || f.Kind == tools.KindKilled {
		text = "lua " + s.owner + ": " + text
	}
	return &tools.Error{Kind: f.Kind, Text: text}
}

// toolParams returns the parameters in the order of the manifest, with defaults.
func toolParams(m *manifest.Manifest, call tools.Call) (*wire.Object, error) {
	v, err := wire.DecodeJSON(call.Arguments)
	if err != nil {
		return nil, tools.Errorf(tools.KindInvalidArgs, "invalid arguments: %w", err)
	}
	args, _ := v.(*wire.Object)
	out := &wire.Object{}
	for _, p := range m.Parameters {
		if v := args.Get(p.Name); v != nil {
			out.Set(p.Name, v)
		} else if p.HasDefault {
			out.Set(p.Name, p.Default)
		}
	}
	return out, nil
}

// toolResult turns the return values of a script into a result: a value, nothing, or nil and a
// message.
func toolResult(v any) (tools.Result, error) {
	first, why := results(v)
	if first == nil && why != nil {
		return tools.Result{}, &tools.Error{Kind: tools.KindScript, Text: resultText(why)}
	}
	switch v := first.(type) {
	case nil, string:
		return tools.Result{Text: resultText(v)}, nil
	case *wire.Object:
		if ok, isBool := v.Get("ok").(bool); isBool && !ok {
			return tools.Result{Data: v}, &tools.Error{Kind: failureKind(v), Text: failureText(v)}
		}
		return tools.Result{Text: resultText(v), Data: v}, nil
	}
	return tools.Result{Text: resultText(first), Data: wire.NewObject("data", first)}, nil
}

// failureKind returns the kind that a script's failure names, if that is a known one.
func failureKind(o *wire.Object) tools.ErrorKind {
	kind := tools.ErrorKind(o.String("error_kind"))
	known := []tools.ErrorKind{
		tools.KindUnknown, tools.KindInvalidArgs, tools.KindPermission, tools.KindDenied, tools.KindCancelled, tools.KindTimeout,
		tools.KindIO, tools.KindLimit, tools.KindKilled, tools.KindBusy, tools.KindLoad, tools.KindUntrusted, tools.KindScript, tools.KindRPC, tools.KindMCP,
	}
	if slices.Contains(known, kind) {
		return kind
	}
	return tools.KindScript
}

// failureText returns the error of a failed table; for a failed exec with code and both streams.
func failureText(o *wire.Object) string {
	text := o.String("error")
	if text == "" {
		text = "the tool reported a failure without a reason"
	}
	if code, ok := o.Number("code"); ok && (o.Get("stdout") != nil || o.Get("stderr") != nil) {
		var b strings.Builder
		fmt.Fprintf(&b, "%s\nexit code: %d", text, int(code))
		for _, key := range []string{"stdout", "stderr"} {
			if s := o.String(key); s != "" {
				fmt.Fprintf(&b, "\n%s:\n%s", key, s)
			}
		}
		text = b.String()
	}
	return capText(text)
}

// news says, with its level, that the tool does not load, or loads again; "" when that is known.
func (s *slot) news() (level, text string) {
	s.mu.Lock()
	now := ""
	if s.cur != nil && s.cur.broken != nil {
		now = s.cur.broken.Error()
	}
	was := s.shown
	s.shown = now
	s.mu.Unlock()
	switch {
	case now != "" && was == "":
		return "warn", "lua " + s.name + ": " + now
	case now == "" && was != "":
		return "info", "lua " + s.name + ": loads again"
	}
	return "", ""
}

// keep makes v the current version. The caller holds no lock.
func (s *slot) keep(v *version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur = v
	if v == nil {
		return
	}
	s.failures, s.disabled, s.ranApproved = 0, "", false
	if s.recent == nil {
		s.recent = map[string]*version{}
	}
	if len(s.recent) > 4 {
		clear(s.recent)
	}
	s.recent[v.hash] = v
}

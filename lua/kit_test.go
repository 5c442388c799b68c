package lua

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jcode/internal/testkit/leaks"
	"jcode/lua/host"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
	"jcode/tools/permission"
)

// TestMain turns this binary into a host when a room starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == host.Command {
		os.Exit(host.Main())
	}
	if len(os.Args) > 1 && os.Args[1] == parentMode {
		runParent()
		return
	}
	leaks.Main(m)
}

// house is a room with everything that it depends on.
type house struct {
	t      testing.TB
	dir    string // the project
	config string
	reg    *tools.Registry
	disp   *tools.Dispatcher
	gate   *permission.Gate
	room   *Room
	state  *memState
	asker  *person
	trust  *personTrust
	told   *notices
	mode   tools.Mode
	later  atomic.Pointer[tools.Mode] // set while the room runs; it overrides mode
	scope  *tools.Scope
}

// switchTo changes the mode while the room runs.
func (h *house) switchTo(m tools.Mode) { h.later.Store(&m) }

type setup struct {
	opts    Options
	noGate  bool // allow everything; only tests do that
	memory  bool // hosts in this process
	dir     string
	config  string
	state   *memState
	noCore  bool
	untrust bool
}

// build creates a house without starting its room.
func build(t testing.TB, s setup) *house {
	t.Helper()
	h := &house{t: t, dir: s.dir, config: s.config, reg: tools.NewRegistry(), state: s.state, asker: &person{}, trust: &personTrust{yes: !s.untrust}, told: &notices{}}
	if h.dir == "" {
		h.dir = realDir(t)
	}
	if h.config == "" {
		h.config = realDir(t)
	}
	if h.state == nil {
		h.state = &memState{}
	}
	if !s.noCore {
		for _, tool := range coreTools(t, h.dir) {
			if err := h.reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, tool); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.disp = &tools.Dispatcher{Registry: h.reg, Gate: openGate{}}
	if !s.noGate {
		gate, err := permission.New(permission.Options{Places: permission.Places{Roots: []string{h.dir}}})
		if err != nil {
			t.Fatal(err)
		}
		h.gate = gate
		h.disp.Gate = gate
	}
	o := s.opts
	o.Registry, o.Dispatcher, o.Root, o.ProjectID, o.Config = h.reg, h.disp, h.dir, "proj", h.config
	o.State, o.Trust, o.Untrusted, o.Notices = h.state, h.trust, h.trust.untrusted, h.told
	o.Standing = h.caller
	if o.eventLimit == 0 {
		o.eventLimit = late // a busy machine needs more than the default
	}
	if s.memory {
		o.start = inMemory
	}
	room, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.room = room
	h.disp.Hooks = []tools.Hook{room.Hook()}
	t.Cleanup(room.Close)
	return h
}

// started creates a house and starts its room.
func started(t testing.TB, s setup) *house {
	t.Helper()
	h := build(t, s)
	h.start()
	return h
}

func (h *house) start() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	if err := h.room.Start(ctx); err != nil {
		h.t.Fatal(err)
	}
	if err := h.room.WaitReady(ctx); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) caller() tools.Caller {
	return tools.Caller{Session: "s", Origin: tools.OriginModel, Asker: h.asker, Scope: h.scope, Mode: func() tools.Mode {
		if m := h.later.Load(); m != nil {
			return *m
		}
		if h.mode == "" {
			return tools.ModeAsk
		}
		return h.mode
	}}
}

// call dispatches a call of the model.
func (h *house) call(name string, args any) tools.Result {
	h.t.Helper()
	return h.callCtx(context.Background(), name, args)
}

func (h *house) callCtx(ctx context.Context, name string, args any) tools.Result {
	raw, err := json.Marshal(args)
	if err != nil {
		h.t.Fatal(err)
	}
	return h.disp.Dispatch(ctx, tools.Call{ID: h.room.around.callID(), Name: name, Arguments: raw, Caller: h.caller()}).Result
}

// tool writes a tool folder of the project.
func (h *house) tool(name, declared, source string) string {
	h.t.Helper()
	dir := filepath.Join(h.dir, ".jcode", "lua", "tools", name)
	writeFile(h.t, filepath.Join(dir, manifest.MainName), source)
	writeFile(h.t, filepath.Join(dir, manifest.FileName), declared)
	return dir
}

func (h *house) plugin(id, source string) string {
	h.t.Helper()
	path := filepath.Join(h.dir, ".jcode", "lua", "plugins", id+".lua")
	writeFile(h.t, path, source)
	return path
}

func (h *house) startupScript(source string) {
	h.t.Helper()
	writeFile(h.t, filepath.Join(h.config, "startup.lua"), source)
}

// names lists the tools that a model would be offered.
func (h *house) names() []string {
	var out []string
	for _, e := range h.reg.Snapshot(h.scope).List() {
		if !e.Spec.Hidden {
			out = append(out, e.Spec.Name)
		}
	}
	return out
}

func (h *house) has(name string) bool { return slices.Contains(h.names(), name) }

// patience is how long a test waits for a condition that holds at once on an idle machine.
const patience = time.Minute

// late is a time by which everything that must end soon has ended, even on a busy machine.
const late = 40 * time.Second

// simple is a manifest with nothing but a description.
const simple = `{"description": "A tool.", "parameters": []}`

func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readText(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// inMemory runs the same host code in this process.
func inMemory(ctx context.Context, _ bool) (*pool.Conn, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = host.Serve(inR, outW, []string{"memory limit"})
		_ = outW.Close()
		_ = inR.Close()
	}()
	c := pool.NewConn(inW, outR)
	c.Exited = exited
	c.KillProcess = func() { _ = inW.Close(); _ = outR.Close() }
	if err := c.Greet(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// recorded starts hosts and remembers their process IDs.
type recorded struct {
	mu   sync.Mutex
	pids []int
}

func (r *recorded) start(ctx context.Context, long bool) (*pool.Conn, error) {
	c, err := pool.StartProcess(ctx, long)
	if err == nil {
		r.mu.Lock()
		r.pids = append(r.pids, c.Pid)
		r.mu.Unlock()
	}
	return c, err
}

func (r *recorded) all() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pids)
}

// openGate allows everything.
type openGate struct{}

func (openGate) Check(context.Context, tools.GateRequest) tools.Decision {
	return tools.Decision{Allow: true, By: tools.ByPolicy}
}
func (openGate) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

// person is a tools.Asker that answers as a test says.
type person struct {
	mu        sync.Mutex
	questions []tools.Question
	answer    func(q tools.Question) tools.AnswerScope
	wait      chan struct{} // when set, answers come after it is closed
}

func (p *person) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	p.mu.Lock()
	p.questions = append(p.questions, q)
	answer, wait := p.answer, p.wait
	p.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return tools.Answer{}, ctx.Err()
		}
	}
	if answer == nil {
		return tools.Answer{}, errors.New("nobody")
	}
	return tools.Answer{Scope: answer(q), Option: -1}, nil
}

func (p *person) says(scope tools.AnswerScope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = func(tools.Question) tools.AnswerScope { return scope }
}

func (p *person) asked() []tools.Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.questions)
}

type personTrust struct {
	mu     sync.Mutex
	yes    bool
	err    error
	wanted []tools.TrustItem
}

func (f *personTrust) Trusted(context.Context, tools.TrustItem) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.yes, f.err
}

func (f *personTrust) Unconfined(context.Context, tools.TrustItem) bool { return false }

func (f *personTrust) Accept(context.Context, []tools.TrustItem, bool) error { return nil }

func (f *personTrust) untrusted(items []tools.TrustItem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = items
}

func (f *personTrust) set(yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.yes = yes
}

func (f *personTrust) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

type notices struct {
	mu   sync.Mutex
	list []string
}

func (n *notices) Notice(level, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, level+": "+text)
}

func (n *notices) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, "\n")
}

func (n *notices) count(part string) int { return strings.Count(n.all(), part) }

// memState keeps state in memory, as JSON.
type memState struct {
	mu   sync.Mutex
	rows map[string]json.RawMessage
}

func (m *memState) Get(_ context.Context, scope, key string) (json.RawMessage, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.rows[scope+"\x00"+key]
	return v, ok, nil
}

func (m *memState) Set(_ context.Context, scope, key string, value json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows = map[string]json.RawMessage{}
	}
	m.rows[scope+"\x00"+key] = slices.Clone(value)
	return nil
}

func (m *memState) Delete(_ context.Context, scope, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, scope+"\x00"+key)
	return nil
}

func (m *memState) Swap(_ context.Context, scope, key string, old, value json.RawMessage) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, ok := m.rows[scope+"\x00"+key]
	if ok != (old != nil) || string(now) != string(old) {
		return false, nil
	}
	if m.rows == nil {
		m.rows = map[string]json.RawMessage{}
	}
	if m.rows[scope+"\x00"+key] = value; value == nil {
		delete(m.rows, scope+"\x00"+key)
	}
	return true, nil
}

func (m *memState) Keys(_ context.Context, scope string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for k := range m.rows {
		if key, ok := strings.CutPrefix(k, scope+"\x00"); ok {
			out = append(out, key)
		}
	}
	return out, nil
}

// eval runs Lua as a script of that kind would. change may alter its principal, which has all rights.
func (h *house) eval(e wire.Env, source string, change func(*principal)) (any, *pool.Failure) {
	h.t.Helper()
	st := &principal{around: h.room.around, env: e, owner: "test", name: "test", scope: "user/test", perms: &manifest.Permissions{}, all: true, declare: manifest.FileName, caller: h.caller()}
	st.script = &script{around: h.room.around, env: wire.EnvStartup, id: "test", fqn: "lua::test", owner: "startup", src: bundle{hash: "h"}}
	if change != nil {
		change(st)
	}
	msg, fail := h.room.around.runPooled(context.Background(), st, pool.Job{Msg: wire.Message{Type: wire.TypeRun, Name: "test.lua", Text: source}, Limit: patience})
	if fail != nil {
		return nil, fail
	}
	list, _ := msg.Value.([]any)
	if len(list) == 0 {
		return nil, nil
	}
	return list[0], nil
}

// table runs Lua that must return a table.
func (h *house) table(source string, change func(*principal)) *wire.Object {
	h.t.Helper()
	v, fail := h.eval(wire.EnvStartup, source, change)
	if fail != nil {
		h.t.Fatalf("%s: %s", source, fail.Text)
	}
	o, ok := v.(*wire.Object)
	if !ok {
		h.t.Fatalf("%s returned %v", source, v)
	}
	return o
}

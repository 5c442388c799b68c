package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/tools"
)

// managerRig is a manager with a registry and a dispatcher, whose gate allows everything and
// records what it was asked.
type managerRig struct {
	t    *testing.T
	m    *Manager
	reg  *tools.Registry
	disp *tools.Dispatcher
	gate *recordingGate
	opt  Options
	log  string // folder of the fault servers' own logs
}

type recordingGate struct {
	mu   sync.Mutex
	asks []tools.Access
	plan []tools.Plan
	deny bool
}

func (g *recordingGate) Check(_ context.Context, req tools.GateRequest) tools.Decision {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(req.Plan.Accesses) == 0 {
		return tools.Decision{Allow: true, By: tools.ByMode, Silent: true}
	}
	g.asks = append(g.asks, req.Plan.Accesses...)
	g.plan = append(g.plan, req.Plan)
	if g.deny {
		return tools.Decision{Reason: "denied by test"}
	}
	return tools.Decision{Allow: true, By: tools.ByUser}
}

func (g *recordingGate) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

// asked returns the last access that the gate was asked for.
func (g *recordingGate) asked() tools.Access {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.asks) == 0 {
		return tools.Access{}
	}
	return g.asks[len(g.asks)-1]
}

type memoryTrust struct {
	mu   sync.Mutex
	kept map[string]bool
	err  error // of reading
}

func (s *memoryTrust) Trusted(_ context.Context, i tools.TrustItem) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[string(i.Kind)+i.Name+i.Hash], s.err
}

func (s *memoryTrust) Unconfined(context.Context, tools.TrustItem) bool { return false }

func (s *memoryTrust) Accept(_ context.Context, items []tools.TrustItem, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]bool{}
	}
	for _, i := range items {
		s.kept[string(i.Kind)+i.Name+i.Hash] = true
	}
	return nil
}

// newManagerRig returns a manager that reads the given text as the person's file.
func newManagerRig(t *testing.T, servers map[string]any, change func(*Options)) *managerRig {
	t.Helper()
	r := &managerRig{t: t, reg: tools.NewRegistry(), gate: &recordingGate{}, log: t.TempDir()}
	dir := t.TempDir()
	paths := config.Paths{ProjectRoot: filepath.Join(dir, "project"), ConfigDir: filepath.Join(dir, "config"), Home: filepath.Join(dir, "home")}
	if err := os.MkdirAll(paths.ProjectRoot, 0o755); err != nil {
		t.Fatal(err)
	}
	r.opt = Options{Paths: paths, Registry: r.reg, Trust: &memoryTrust{}, LogDir: filepath.Join(t.TempDir(), "logs"), FileDir: filepath.Join(t.TempDir(), "files"), Version: "test"}
	r.configure(servers)
	if change != nil {
		change(&r.opt)
	}
	r.m = New(r.opt)
	r.m.delay = func(d time.Duration) time.Duration { return d / 20 }
	t.Cleanup(r.m.Close)
	if err := r.m.RegisterTools(); err != nil {
		t.Fatal(err)
	}
	r.disp = &tools.Dispatcher{Registry: r.reg, Gate: r.gate}
	r.m.SetDispatcher(r.disp)
	return r
}

// fault returns an entry that starts a fault server, whose log has the server's name.
func (r *managerRig) fault(name, mode string, more map[string]any) map[string]any {
	c := mcptest.Server(mode)
	env := map[string]string{mcptest.LogVariable: filepath.Join(r.log, name+".log")}
	for k, v := range c.Env {
		env[k] = v
	}
	e := map[string]any{"command": c.Path, "args": c.Args, "env": env}
	for k, v := range more {
		e[k] = v
	}
	return e
}

// configure writes the person's file. A value that is a string is the mode of a fault server.
func (r *managerRig) configure(servers map[string]any) {
	r.t.Helper()
	list := map[string]any{}
	for name, v := range servers {
		if mode, ok := v.(string); ok {
			v = r.fault(name, mode, nil)
		}
		if f, ok := v.(func(*managerRig) map[string]any); ok {
			v = f(r)
		}
		list[name] = v
	}
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": list}, "", "  ")
	if err != nil {
		r.t.Fatal(err)
	}
	writeFile(r.t, r.opt.Paths.UserFile(), string(raw))
}

func with(name, mode string, more map[string]any) func(*managerRig) map[string]any {
	return func(r *managerRig) map[string]any { return r.fault(name, mode, more) }
}

func (r *managerRig) call(name, args string) tools.Result {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return r.disp.Dispatch(ctx, tools.Call{ID: "c", Name: name, Arguments: json.RawMessage(args)}).Result
}

func (r *managerRig) waitState(name string, want State) Details {
	r.t.Helper()
	var d Details
	eventually.True(r.t, name+" is "+string(want), func() bool {
		var err error
		d, err = r.m.Server(name)
		return err == nil && d.State == want
	})
	return d
}

func (r *managerRig) offered() []string {
	var names []string
	for _, e := range r.reg.Snapshot(nil).Offer(&tools.Order{}, nil, tools.ModeAsk) {
		if e.Spec.Group == tools.GroupMCP {
			names = append(names, e.Spec.Name)
		}
	}
	return names
}

func (r *managerRig) pids(name string) []int {
	r.t.Helper()
	events, err := mcptest.ReadLog(filepath.Join(r.log, name+".log"))
	if err != nil {
		r.t.Fatal(err)
	}
	return mcptest.Pids(events)
}

func (r *managerRig) connectArgs(name, mode string, more map[string]any) string {
	e := r.fault(name, mode, more)
	e["name"] = name
	if e["wait_seconds"] == nil {
		e["wait_seconds"] = 60 // a busy machine may take long to start a process
	}
	raw, err := json.Marshal(e)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

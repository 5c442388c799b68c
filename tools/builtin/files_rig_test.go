package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// rig is a workspace in a temporary folder, with the tools behind a dispatcher.
type rig struct {
	t    *testing.T
	dir  string
	disp *tools.Dispatcher
	gate *allowAll
}

// allowAll allows everything and records the plans.
type allowAll struct {
	mu     sync.Mutex
	plans  []tools.Plan
	during func() // while a person would be asked
	hunks  []int  // that the person takes
}

func (g *allowAll) Check(_ context.Context, req tools.GateRequest) tools.Decision {
	g.mu.Lock()
	g.plans = append(g.plans, req.Plan)
	g.mu.Unlock()
	if g.during != nil {
		g.during()
	}
	return tools.Decision{Allow: true, By: tools.ByMode, Hunks: g.hunks}
}

func (g *allowAll) Offered(tools.Spec, tools.Mode) (bool, string) { return true, "" }

func newRig(t *testing.T, o builtin.Options) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, err := builtin.OpenWorkspace(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{t: t, dir: dir, gate: &allowAll{}}
	r.serve(fileTools(ws, o))
	return r
}

// serve registers tools with the rig's dispatcher.
func (r *rig) serve(list []tools.Tool) {
	r.t.Helper()
	reg := tools.NewRegistry()
	for _, tool := range list {
		if err := reg.Register(tools.OwnerBuiltin, tools.RankBuiltin, tool); err != nil {
			r.t.Fatal(err)
		}
	}
	r.disp = &tools.Dispatcher{Registry: reg, Gate: r.gate}
}

// args are the arguments of a call.
type args map[string]any

func (r *rig) callAs(c tools.Caller, name string, a args) tools.Result {
	r.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.disp.Dispatch(context.Background(), tools.Call{ID: "c1", Name: name, Arguments: raw, Caller: c}).Result
}

func (r *rig) call(name string, a args) tools.Result {
	r.t.Helper()
	return r.callAs(tools.Caller{Session: "s", Origin: tools.OriginModel}, name, a)
}

// ok makes a call, and fails the test if the call fails.
func (r *rig) ok(name string, a args) tools.Result {
	r.t.Helper()
	res := r.call(name, a)
	if res.Failed {
		r.t.Fatalf("%s %v failed: %s", name, a, res.Text)
	}
	return res
}

// refused makes a call and expects a failure whose text contains all of want.
func (r *rig) refused(name string, a args, want ...string) tools.Result {
	r.t.Helper()
	res := r.call(name, a)
	if !res.Failed {
		r.t.Fatalf("%s %v succeeded: %s", name, a, res.Text)
	}
	has(r.t, res.Text, want...)
	return res
}

func has(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("lacks %q:\n%s", w, text)
		}
	}
}

func (r *rig) put(name, content string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) get(name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

// holds checks the bytes of a file.
func (r *rig) holds(name, want string) {
	r.t.Helper()
	if got := r.get(name); got != want {
		r.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

func (r *rig) link(target, name string) {
	r.t.Helper()
	if err := os.Symlink(target, filepath.Join(r.dir, name)); err != nil {
		r.t.Skipf("links can't be made here: %v", err)
	}
}

// structured returns a result's structured form as a script sees it.
func structured(t *testing.T, res tools.Result) map[string]any {
	t.Helper()
	raw, err := json.Marshal(res.Data)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func fileTools(ws *builtin.Workspace, o builtin.Options) []tools.Tool {
	list, _ := builtin.Files(ws, o)
	return list
}

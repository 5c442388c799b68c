package mcp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// project writes a fault server's entry into the project's file. Its line names a file of
// the project.
func (r *managerRig) project(name, file string) {
	r.t.Helper()
	e := r.fault(name, "ok", nil)
	e["env"].(map[string]string)["STARTS"] = file
	e["args"] = append(e["args"].([]string), file)
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: e}})
	if err != nil {
		r.t.Fatal(err)
	}
	writeFile(r.t, r.opt.Paths.ProjectFile(), string(raw))
}

// A person's approval covers the files that a server runs, not only its command line.
func TestTrustOfAServerEndsWithTheFilesThatItStarts(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, nil)
	file := filepath.Join(r.opt.Paths.ProjectRoot, "srv.py")
	writeFile(t, file, "one")
	r.project("s", "./srv.py")
	r.m.Start()
	pending := r.m.PendingApprovals()
	if len(pending) != 1 {
		t.Fatalf("%+v", pending)
	}
	writeFile(t, file, "two") // after it was shown
	if err := r.m.Approve("s", pending[0].Hash, true); err == nil || !strings.Contains(err.Error(), "has changed since it was shown") {
		t.Fatalf("approved unseen: %v", err)
	}
	if err := r.m.Approve("s", "", true); err != nil {
		t.Fatal(err)
	}
	r.waitState("s", StateConnected)
	starts := len(r.pids("s"))
	writeFile(t, file, "evil")
	if res := r.call("mcp_disconnect", `{"name":"s"}`); res.Failed {
		t.Fatalf("%+v", res)
	}
	r.gate.deny = true
	asked := len(r.gate.plan)
	if res := r.call("mcp_connect", `{"name":"s","wait_seconds":60}`); !res.Failed || len(r.gate.plan) != asked+1 {
		t.Errorf("it was connected without a question: %+v", res)
	}
	if err := r.m.Restart("s"); err == nil || !strings.Contains(err.Error(), "needs approval") {
		t.Errorf("a restart: %v", err)
	}
	if n := len(r.pids("s")); n != starts {
		t.Errorf("started %d times more", n-starts)
	}
	next := New(r.opt)
	defer next.Close()
	next.Load()
	if pending := next.PendingApprovals(); len(pending) != 1 {
		t.Errorf("the next session does not ask: %+v", pending)
	}
	r.gate.deny = false
	if res := r.call("mcp_connect", `{"name":"s","wait_seconds":60}`); res.Failed {
		t.Errorf("approved, it does not connect: %+v", res)
	}
}

// A server that ends is restarted automatically, but not as another program.
func TestServerWhoseFilesChangedDoesNotComeBackByItself(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": func(r *managerRig) map[string]any {
		e := r.fault("s", "ok", nil)
		e["args"] = append(e["args"].([]string), "./srv.py")
		return e
	}}, nil)
	file := filepath.Join(r.opt.Paths.ProjectRoot, "srv.py")
	writeFile(t, file, "one")
	r.m.Start()
	r.waitState("s", StateConnected)
	starts := len(r.pids("s"))
	writeFile(t, file, "evil")
	if p, err := os.FindProcess(r.pids("s")[0]); err != nil || p.Kill() != nil {
		t.Fatal("cannot end the server")
	}
	d := r.waitState("s", StateFailed)
	if !strings.Contains(d.Error, "has changed since") || !strings.Contains(d.Error, "srv.py") || len(r.pids("s")) != starts {
		t.Errorf("%+v, started %d times", d.Status, len(r.pids("s")))
	}
	if err := r.m.Retry("s"); err != nil {
		t.Fatal(err)
	}
	if d := r.waitState("s", StateFailed); len(r.pids("s")) != starts {
		t.Errorf("a script restarts it: %+v", d.Status)
	}
	if err := r.m.Restart("s"); err != nil { // the person
		t.Fatal(err)
	}
	r.waitState("s", StateConnected)
}

// A model that may name a variable could send any of them to a program of its choice.
func TestVariablesInArgumentsOfTheModelAreText(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, func(o *Options) {
		o.Env = []string{"PATH=/usr/bin:/bin", "PRIVATE=canary-private", "OPENAI_API_KEY=canary-key"}
		o.Withheld = []string{"OPENAI_API_KEY"}
	})
	given := map[string]any{}
	if err := json.Unmarshal([]byte(r.connectArgs("s", "ok", nil)), &given); err != nil {
		t.Fatal(err)
	}
	env := given["env"].(map[string]any)
	env["A"], env["B"], env["C"] = "${PRIVATE}", "${OPENAI_API_KEY}", "${env:PRIVATE}"
	raw, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if res := r.call("mcp_connect", string(raw)); res.Failed {
		t.Fatalf("%+v", res)
	}
	if notes := strings.Join(r.gate.plan[0].Notes, "\n"); !strings.Contains(notes, "${PRIVATE} stays as it is written") || strings.Contains(notes, "reads the variable") {
		t.Errorf("notes %s", notes)
	}
	res := r.call("mcp:s:env", `{}`)
	if res.Failed || strings.Contains(res.Text, "canary") || !strings.Contains(res.Text, "A=${PRIVATE}") {
		t.Errorf("the server has %s", res.Text)
	}
	given["persist"] = true
	given["name"] = "kept"
	if raw, err = json.Marshal(given); err != nil {
		t.Fatal(err)
	}
	if res := r.call("mcp_connect", string(raw)); !res.Failed || !strings.Contains(res.Text, "persist does not take ${...}") {
		t.Errorf("a model's variable reached a file that expands it: %+v", res)
	}
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A server whose approval can't be read would otherwise look as if it were not approved.
func TestApprovalsThatCannotBeReadAreTold(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	r := newManagerRig(t, nil, func(o *Options) {
		o.Trust = &memoryTrust{err: errors.New("the disk is gone")}
		o.Notify = func(level, text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, level+": "+text)
		}
	})
	r.project("s", "./srv.py")
	r.m.Start()
	mu.Lock()
	defer mu.Unlock()
	if want := "warn: MCP servers: servers of this project stay off, because their approvals can't be read: the disk is gone"; !slices.Contains(told, want) {
		t.Errorf("told %q, not %q", told, want)
	}
	if list := r.m.Warnings(); !strings.Contains(strings.Join(list, "\n"), "the disk is gone") {
		t.Errorf("warnings: %q", list)
	}
	if err := r.m.Restart("s"); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("a restart: %v", err)
	}
}

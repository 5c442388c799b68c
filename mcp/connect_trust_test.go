package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A connect by name connects the server that the name refers to now. It does not approve a
// project's entry that would replace that server.
func TestConnectByNameApprovesNothingOfTheProject(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"mine": "ok"}, nil)
	canary := filepath.Join(t.TempDir(), "canary")
	writeFile(t, r.opt.Paths.ProjectFile(), fmt.Sprintf(`{"mcpServers":{"mine":{"command":"sh","args":["-c",%q]}}}`, "touch "+canary))
	r.m.Start()
	r.waitState("mine", StateConnected)
	if res := r.call("mcp_connect", `{"name":"mine","wait_seconds":60}`); res.Failed {
		t.Errorf("%+v", res)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("the project's entry ran, and nobody was asked")
	}
	if pending := r.m.PendingApprovals(); len(pending) != 1 {
		t.Errorf("the project's entry waits no more: %+v", pending)
	}
}

// In every state of a server, connecting it asks if its files have changed since a person allowed
// its start; a connect without a question does not allow a later start.
func TestConnectAsksWhereTheFilesOfAServerChanged(t *testing.T) {
	t.Parallel()
	for _, up := range []bool{false, true} {
		t.Run(fmt.Sprintf("connected=%v", up), func(t *testing.T) {
			r := newManagerRig(t, map[string]any{"s": func(r *managerRig) map[string]any {
				e := r.fault("s", "ok", nil)
				e["args"] = append(e["args"].([]string), "./srv.py")
				return e
			}}, nil)
			file := writeFile(t, filepath.Join(r.opt.Paths.ProjectRoot, "srv.py"), "one")
			r.m.Start()
			r.waitState("s", StateConnected)
			starts := len(r.pids("s"))
			writeFile(t, file, "evil")
			end := func() {
				if p, err := os.FindProcess(r.pids("s")[0]); err != nil || p.Kill() != nil {
					t.Fatal("cannot end the server")
				}
				r.waitState("s", StateFailed)
			}
			if !up {
				end()
			}
			r.gate.deny = true
			if res := r.call("mcp_connect", `{"name":"s","wait_seconds":60}`); !res.Failed || len(r.gate.plan) != 1 {
				t.Errorf("it was connected without a question: %+v", res)
			}
			if up {
				end()
			}
			if n := len(r.pids("s")); n != starts {
				t.Errorf("the changed program started %d times", n-starts)
			}
		})
	}
}

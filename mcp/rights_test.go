package mcp

import (
	"strings"
	"sync"
	"testing"

	"jcode/internal/proc"
	"jcode/internal/testkit/eventually"
	"jcode/tools"
)

// changes plays what the session's agents changed.
type changes struct{ files []string }

func (c *changes) Count() int { return len(c.files) }

func (c *changes) Since(n int, _ []string) []string { return c.files[n:] }

// After an agent has changed files that the server may run, nothing but a person's word starts it again.
func TestAServerWhoseFilesAnAgentChangedAsksAgain(t *testing.T) {
	t.Parallel()
	made := &changes{files: []string{"before.py"}}
	r := newManagerRig(t, nil, func(o *Options) { o.Changes = made })
	r.project("s", "--verbose")
	if err := r.m.Approve("s", "", true); err != nil {
		t.Log(err) // not read yet
	}
	r.m.Start()
	if err := r.m.Approve("s", "", true); err != nil {
		t.Fatal(err)
	}
	r.waitState("s", StateConnected)
	made.files = append(made.files, "lib/mod.py")
	if err := r.m.Retry("s"); err != nil {
		t.Fatal(err)
	}
	if d := r.waitState("s", StateFailed); !strings.Contains(d.Error, "lib/mod.py") || strings.Contains(d.Error, "before.py") {
		t.Errorf("a restart that no person asked for: %+v", d.Status)
	}
	asked := len(r.gate.plan)
	if res := r.call("mcp_connect", `{"name":"s","wait_seconds":60}`); res.Failed || len(r.gate.plan) != asked+1 {
		t.Errorf("a reconnect asks %d times: %+v", len(r.gate.plan)-asked, res)
	}
	r.waitState("s", StateConnected)
}

// confiner records what is confined, and starts it as it is.
type confiner struct {
	mu       sync.Mutex
	programs []Program
}

func (c *confiner) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.programs)
}

func (c *confiner) Available() bool { return true }

func (c *confiner) Confine(p Program, spec proc.Spec) (proc.Spec, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.programs = append(c.programs, p)
	return spec, nil
}

func (c *confiner) Refused(p Program, output string) (tools.TrustKind, string) {
	if !p.Network && strings.Contains(output, "no such host") {
		return tools.TrustNetwork, "it has no network"
	}
	return "", ""
}

// A project's server runs confined, the person's own does not; a person may give it the network.
func TestServersOfAProjectRunConfined(t *testing.T) {
	t.Parallel()
	c := &confiner{}
	r := newManagerRig(t, map[string]any{"mine": func(r *managerRig) map[string]any { return r.fault("mine", "ok", nil) }}, func(o *Options) { o.Confiner = c })
	r.project("s", "--verbose")
	r.m.Start()
	r.waitState("mine", StateConnected)
	if err := r.m.Approve("s", "", true); err != nil {
		t.Fatal(err)
	}
	if d := r.waitState("s", StateConnected); d.Confined != "confined" || len(c.programs) != 1 || c.programs[0].Network {
		t.Errorf("%q, confined: %+v", d.Confined, c.programs)
	}
	if err := r.m.Allow("s", tools.TrustNetwork); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "it runs again", func() bool {
		d, err := r.m.Server("s")
		return err == nil && d.State == StateConnected && c.count() == 2
	})
	if !c.programs[1].Network {
		t.Errorf("allowed, it has no network: %+v", c.programs)
	}
	if err := r.m.Allow("mine", tools.TrustNetwork); err == nil {
		t.Error("the person's own server is confined")
	}
}

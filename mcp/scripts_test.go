package mcp

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/tools"
)

func (r *managerRig) target(name, mode string) config.Target {
	e := r.fault(name, mode, nil)
	return config.Target{Type: config.Stdio, Command: e["command"].(string), Args: e["args"].([]string), Env: e["env"].(map[string]string)}
}

func TestScriptsAddAndRemoveWithoutWaiting(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, nil)
	r.m.Start()
	if got := r.m.Running(); len(got) != 0 || r.m.Remove("s") {
		t.Errorf("%v", got)
	}
	open := filepath.Join(t.TempDir(), "open")
	target := r.target("s", "until="+open)
	if err := r.m.Add("s", target, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.m.Running(); len(got) != 1 || got[0].State != StateConnecting || got[0].Tools != 0 || got[0].Error != "" || got[0].Attempt != 0 {
		t.Errorf("%+v", got)
	}
	writeFile(t, open, "")
	r.waitState("s", StateConnected)
	if err := r.m.Add("s", target, nil); err != nil || len(r.pids("s")) != 1 {
		t.Errorf("an equal target is a no-op: %v, started %d times", err, len(r.pids("s")))
	}
	if err := r.m.Add("s", r.target("s", "ok"), nil); err != nil {
		t.Fatal(err)
	}
	r.waitState("s", StateConnected)
	if len(r.pids("s")) != 2 {
		t.Errorf("another target replaces: %v", r.pids("s"))
	}
	waitGone(t, r.pids("s")[0])
	if !r.m.Remove("s") || r.m.Remove("s") || len(r.offered()) != 0 || len(r.m.Running()) != 0 {
		t.Error("remove twice gives true, then false")
	}
	if err := r.m.Add("a__b", r.target("x", "ok"), nil); err == nil {
		t.Error("an invalid name")
	}
	if err := r.m.Add("x", config.Target{URL: "ftp://x"}, nil); err == nil {
		t.Error("an invalid target")
	}
	if err := r.m.Add("down", config.Target{URL: "http://127.0.0.1:9/mcp"}, nil); err != nil {
		t.Error("connection trouble is no error of Add:", err)
	}
	d := r.waitState("down", StateReconnecting)
	if d.Attempt < 1 || d.Error == "" {
		t.Errorf("%+v", d.Status)
	}
	if !r.m.Remove("down") {
		t.Error("a pending one can be removed")
	}
}

func TestScriptsTargetsCanNeedApproval(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, nil)
	r.m.Start()
	asked := make(chan tools.Plan, 1)
	answer := make(chan error)
	approve := func(ctx context.Context, p tools.Plan) error {
		asked <- p
		select {
		case err := <-answer:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := r.m.Add("s", r.target("s", "ok"), approve); err != nil {
		t.Fatal(err)
	}
	if p := <-asked; len(p.Accesses) != 1 || p.Accesses[0].Kind != tools.AccessConnect || !strings.Contains(p.Accesses[0].Command, mcptest.Server("ok").Path) {
		t.Errorf("%+v", p)
	}
	if len(r.pids("s")) != 0 {
		t.Fatal("it was started before the answer")
	}
	answer <- errors.New("no")
	if d := r.waitState("s", StateFailed); !strings.Contains(d.Error, "approval refused: no") {
		t.Errorf("%+v", d.Status)
	}
	if !r.m.Remove("s") {
		t.Error("remove")
	}
	if err := r.m.Add("s", r.target("s", "ok"), approve); err != nil {
		t.Fatal(err)
	}
	<-asked
	answer <- nil
	r.waitState("s", StateConnected)
	if err := r.m.Add("late", r.target("late", "ok"), approve); err != nil {
		t.Fatal(err)
	}
	<-asked
	if !r.m.Remove("late") { // which ends the question
		t.Error("remove while asking")
	}
}

package mcp

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/mcp/wire"
	"jcode/tools"
)

func acquire(t *testing.T, l Leaser, names ...string) func() {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	release, err := l.Acquire(ctx, names)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestRoleSwitchKeepsWhatBothNeed(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"github": "ok", "slack": "ok", "jira": with("jira", "ok", map[string]any{"enabled": false})}, nil)
	r.m.Start()
	r.waitState("github", StateConnected)
	r.waitState("slack", StateConnected)
	leaser := Leaser{M: r.m, Exclusive: true}
	releaseA := acquire(t, leaser, "github", "slack")
	before := r.pids("github")
	releaseB := acquire(t, leaser, "github", "jira")
	if d, err := r.m.Server("slack"); err != nil || d.State != StateConnected {
		t.Errorf("A is still held: %+v %v", d.Status, err)
	}
	releaseA()
	if d, err := r.m.Server("slack"); err != nil || d.State != StateDisconnected || d.Reason != "not in this role, whose mcp_servers are github, jira" {
		t.Errorf("%+v %v", d.Status, err)
	}
	waitGone(t, r.pids("slack")[0])
	for _, name := range []string{"github", "jira"} {
		if d, err := r.m.Server(name); err != nil || d.State != StateConnected {
			t.Errorf("%+v %v", d.Status, err)
		}
	}
	// Leaving the role starts the session's own servers again and leaves github running.
	releaseB()
	r.waitState("slack", StateConnected)
	if after := r.pids("github"); len(after) != len(before) {
		t.Errorf("github was restarted: %v → %v", before, after)
	}
	if d, err := r.m.Server("jira"); err != nil || d.State != StateDisconnected {
		t.Errorf("%+v %v", d.Status, err)
	}
}

func TestTwoSwitchesAtOnceStartAServerOnce(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"jira": with("jira", "slow=300ms", map[string]any{"enabled": false})}, nil)
	r.m.Start()
	done := make(chan func(), 2)
	for range 2 {
		go func() { done <- acquire(t, Leaser{M: r.m}, "jira") }()
	}
	first, second := <-done, <-done
	if n := len(r.pids("jira")); n != 1 {
		t.Errorf("started %d times", n)
	}
	first()
	if d, err := r.m.Server("jira"); err != nil || d.State != StateConnected {
		t.Errorf("one lease is left: %+v %v", d.Status, err)
	}
	second()
	waitGone(t, r.pids("jira")[0])
}

func TestStartsRunInParallel(t *testing.T) {
	t.Parallel()
	open := filepath.Join(t.TempDir(), "open")
	off := map[string]any{"enabled": false}
	names := []string{"a", "b", "c"}
	servers := map[string]any{}
	for _, name := range names {
		servers[name] = with(name, "until="+open, off)
	}
	r := newManagerRig(t, servers, nil)
	r.m.Start()
	release := make(chan func(), 1)
	go func() { release <- acquire(t, Leaser{M: r.m}, names...) }()
	for _, name := range names { // none is connected before the file is there
		eventually.True(t, name+" was started", func() bool { return len(r.pids(name)) == 1 })
	}
	writeFile(t, open, "")
	(<-release)()
}

func TestFailedAcquireLeavesEverythingAsItWas(t *testing.T) {
	t.Parallel()
	off := map[string]any{"enabled": false}
	r := newManagerRig(t, map[string]any{"github": "ok", "good": with("good", "ok", off), "bad": with("bad", "exit", off), "extra": with("extra", "exit", map[string]any{"enabled": false, "optional": true})}, nil)
	r.m.Start()
	r.waitState("github", StateConnected)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := Leaser{M: r.m, Exclusive: true}.Acquire(ctx, []string{"good", "bad"})
	if err == nil || !strings.Contains(err.Error(), "MCP server bad: server exited (exit status 3)") {
		t.Errorf("%v", err)
	}
	eventually.True(t, "good has ended", func() bool { d, err := r.m.Server("good"); return err == nil && d.State == StateDisconnected })
	if d, err := r.m.Server("github"); err != nil || d.State != StateConnected || len(r.pids("github")) != 1 {
		t.Errorf("%+v %v", d.Status, err)
	}
	if _, err := r.m.Acquire(ctx, []string{"nobody"}); err == nil || !strings.Contains(err.Error(), "known servers: bad, extra, github, good") {
		t.Errorf("%v", err)
	}
	release := acquire(t, Leaser{M: r.m}, "github", "extra") // an optional one may fail
	release()
}

func TestWhatTheAgentConnectedSurvivesRoles(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"github": "ok"}, nil)
	r.m.Start()
	r.waitState("github", StateConnected)
	if res := r.call("mcp_connect", r.connectArgs("mine", "ok", nil)); res.Failed {
		t.Fatalf("%+v", res)
	}
	release := acquire(t, Leaser{M: r.m, Exclusive: true}, "github")
	scope := &tools.Scope{Name: "a", Servers: []string{"github"}}
	for _, e := range r.reg.Snapshot(scope).List() {
		if e.Spec.Server == "mine" {
			t.Error("it must be hidden in a role that leaves it out")
		}
	}
	release()
	if n := len(r.pids("mine")); n != 1 {
		t.Errorf("started %d times", n)
	}
	if res := r.call("mcp:mine:pid", `{}`); res.Failed {
		t.Errorf("%+v", res)
	}
	// Disconnecting removes the server from every lease, so that the process really ends.
	r.call("mcp_disconnect", `{"name":"mine"}`)
	waitGone(t, r.pids("mine")[0])
}

func TestAcquireNeverHandsOutADeadServer(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "ok"}, nil)
	r.m.delay = func(time.Duration) time.Duration { return time.Hour }
	r.m.Start()
	r.waitState("s", StateConnected)
	r.call("mcp:s:die", `{}`)
	r.waitState("s", StateReconnecting)
	acquire(t, Leaser{M: r.m}, "s")()
	if d, err := r.m.Server("s"); err != nil || d.State != StateConnected {
		t.Errorf("%+v %v", d.Status, err)
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		wanted       map[string]wantedServer
		running      map[string]runningServer
		retry, force bool
		want         []action
	}{
		{"nothing", nil, nil, false, false, []action{}},
		{"start in order", map[string]wantedServer{"b": {key: "2"}, "a": {key: "1"}}, nil, false, false, []action{{"a", verbStart}, {"b", verbStart}}},
		{"keep", map[string]wantedServer{"a": {key: "1"}}, map[string]runningServer{"a": {"1", StateConnected}}, true, false, []action{{"a", verbKeep}}},
		{"stop", nil, map[string]runningServer{"a": {"1", StateConnecting}}, false, false, []action{{"a", verbStop}}},
		{"stopped stays", nil, map[string]runningServer{"a": {"1", StateDisconnected}}, false, false, []action{}},
		{"start again", map[string]wantedServer{"a": {key: "1"}}, map[string]runningServer{"a": {"1", StateDisconnected}}, false, false, []action{{"a", verbStart}}},
		{"changed", map[string]wantedServer{"a": {key: "2"}}, map[string]runningServer{"a": {"1", StateConnected}}, false, false, []action{{"a", verbRestart}}},
		{"forced", map[string]wantedServer{"a": {key: "1"}}, map[string]runningServer{"a": {"1", StateConnected}}, false, true, []action{{"a", verbRestart}}},
		{"failed is left", map[string]wantedServer{"a": {key: "1"}}, map[string]runningServer{"a": {"1", StateFailed}}, false, false, []action{{"a", verbKeep}}},
		{"failed is tried", map[string]wantedServer{"a": {key: "1"}}, map[string]runningServer{"a": {"1", StateFailed}}, true, false, []action{{"a", verbRetry}}},
		{"connecting is not forced", map[string]wantedServer{"a": {key: "1"}}, map[string]runningServer{"a": {"1", StateConnecting}}, true, true, []action{{"a", verbKeep}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, w := range c.wanted {
				w.retry, w.force = c.retry, c.force
				c.wanted[name] = w
			}
			got := reconcile(c.wanted, c.running)
			if len(got) != len(c.want) {
				t.Fatalf("%v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%v, want %v", got, c.want)
				}
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		plan retryPlan
		kind wire.Retry
		want []time.Duration // seconds; the tries end after the last
		more bool
	}{
		{"lost stdio", retryPlan{}, wire.RetryExit, []time.Duration{1, 2, 4, 8, 16}, false},
		{"url", retryPlan{url: true}, wire.RetryLost, []time.Duration{1, 2, 4, 8, 16, 30, 30, 30}, true},
		{"early", retryPlan{}, wire.RetryEarly, []time.Duration{1, 2}, false},
		{"timeout", retryPlan{}, wire.RetryTimeout, []time.Duration{5}, false},
		{"permanent", retryPlan{}, wire.RetryNever, nil, false},
		{"permanent url", retryPlan{url: true}, wire.RetryNever, nil, false},
		{"single", retryPlan{single: true, url: true}, wire.RetryLost, nil, false},
	} {
		for i, want := range c.want {
			if d, ok := c.plan.next(c.kind, i+1); !ok || d != want*time.Second {
				t.Errorf("%s: try %d: %v %v", c.name, i+1, d, ok)
			}
		}
		if _, ok := c.plan.next(c.kind, len(c.want)+1); ok != c.more {
			t.Errorf("%s: another try: %v", c.name, ok)
		}
	}
}

func TestServerOfALostLeaseEndsAfterItsCalls(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"slack": with("slack", "ok", map[string]any{"enabled": false})}, nil)
	r.m.Start()
	release := acquire(t, Leaser{M: r.m}, "slack")
	s := r.m.actor("slack").view.Load().session
	type answer struct {
		raw []byte
		err error
	}
	got := make(chan answer, 1)
	go func() {
		raw, _, err := s.call(context.Background(), "sleep", []byte(`{"ms":600}`), callLimits{idle: time.Minute, total: time.Minute}, func(string) {})
		got <- answer{raw, err}
	}()
	eventually.True(t, "the call is on its way", func() bool { return s.running() > 0 || len(got) > 0 })
	release()
	if d, err := r.m.Server("slack"); err != nil || d.State != StateDisconnected {
		t.Errorf("%+v %v", d.Status, err)
	}
	if a := <-got; a.err != nil || !strings.Contains(string(a.raw), "slept 600") {
		t.Errorf("the running call gave %s, %v", a.raw, a.err)
	}
	waitGone(t, r.pids("slack")[0])
}

package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/tools"
)

func TestAgentConnectsUsesAndDisconnects(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, nil)
	res := r.call("mcp_connect", r.connectArgs("fresh", "ok", nil))
	if res.Failed || !strings.Contains(res.Text, `"state":"connected"`) || !strings.Contains(res.Text, `"name":"mcp__fresh__echo"`) {
		t.Fatalf("%+v", res)
	}
	access := r.gate.asked()
	if access.Kind != tools.AccessConnect || !strings.Contains(access.Command, mcptest.Server("ok").Path) || !strings.HasSuffix(access.Command, " ok") || access.Hash == "" {
		t.Errorf("the gate saw %+v", access)
	}
	if notes := strings.Join(r.gate.plan[0].Notes, "\n"); !strings.Contains(notes, "program: ") || !strings.Contains(notes, "environment: ") {
		t.Errorf("notes %s", notes)
	}
	if res = r.call("mcp__fresh__echo", `{"text":"hi"}`); res.Failed || res.Text != "echo: hi" {
		t.Errorf("%+v", res)
	}
	if access = r.gate.asked(); access.Kind != tools.AccessMCP || access.Target != "fresh:echo" {
		t.Errorf("the gate saw %+v", access)
	}
	if res = r.call("mcp_disconnect", `{"name":"fresh"}`); res.Failed || !strings.Contains(res.Text, `"removed_tools":9`) {
		t.Errorf("%+v", res)
	}
	if res = r.call("mcp:fresh:echo", `{}`); !res.Failed || res.Kind != tools.KindMCP || !strings.Contains(res.Text, "was disconnected") {
		t.Errorf("%+v", res)
	}
	for _, pid := range r.pids("fresh") {
		waitGone(t, pid)
	}
	if res = r.call("mcp_disconnect", `{"name":"nobody"}`); !res.Failed || !strings.Contains(res.Text, "known servers: fresh") {
		t.Errorf("%+v", res)
	}
	if res = r.call("mcp_disconnect", `{"name":"fresh"}`); res.Failed {
		t.Errorf("already gone is no failure: %+v", res)
	}
}

func TestImagesAreSavedForModelsThatDoNotSee(t *testing.T) {
	t.Parallel()
	for _, sees := range []bool{true, false} {
		r := newManagerRig(t, map[string]any{"s": "results"}, func(o *Options) { o.Sees = func() bool { return sees } })
		r.m.Start()
		r.waitState("s", StateConnected)
		res := r.call("mcp:s:image", `{}`)
		if res.Failed || !strings.HasPrefix(res.Text, "a picture\n[image image/png") || (len(res.Parts) == 1) != sees || strings.Contains(res.Text, "saved as") == sees {
			t.Errorf("sees %v: %+v", sees, res.Text)
		}
		if _, path, ok := strings.Cut(strings.TrimSuffix(res.Text, "]"), "saved as "); ok {
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestConfiguredServersConnectByThemselves(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"a": "ok", "b": "paged", "off": with("off", "ok", map[string]any{"enabled": false})}, nil)
	r.m.Start()
	r.waitState("a", StateConnected)
	r.waitState("b", StateConnected)
	if d, err := r.m.Server("off"); err != nil || d.State != StateDisconnected || d.Reason != "disabled" {
		t.Errorf("%+v %v", d, err)
	}
	if res := r.call("mcp_connect", `{"name":"a"}`); res.Failed || r.gate.asked().Kind != "" {
		t.Errorf("a connected server of one's own needs no question: %+v", res)
	}
	if res := r.call("mcp_connect", `{"name":"off"}`); res.Failed || r.gate.asked().Kind != tools.AccessConnect {
		t.Errorf("a disabled server asks: %+v %+v", res, r.gate.asked())
	}
	if len(r.pids("a")) != 1 {
		t.Errorf("a was started %d times", len(r.pids("a")))
	}
	if res := r.call("mcp_connect", `{"name":"a","command":"other"}`); !res.Failed || !strings.Contains(res.Text, "choose another name") {
		t.Errorf("%+v", res)
	}
	res := r.call("mcp_list", `{}`)
	if res.Failed || !strings.Contains(res.Text, `"mode":"direct"`) || !strings.Contains(res.Text, `"name":"b","state":"connected","tools":14`) {
		t.Errorf("%s", res.Text)
	}
}

func TestDisconnectTouchesOnlyItsServer(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"foo": "ok", "foo-bar": "ok"}, nil)
	r.m.Start()
	r.waitState("foo", StateConnected)
	r.waitState("foo-bar", StateConnected)
	r.call("mcp_disconnect", `{"name":"foo"}`)
	for _, name := range r.offered() {
		if !strings.HasPrefix(name, "mcp:foo-bar:") {
			t.Errorf("%s is offered", name)
		}
	}
	waitGone(t, r.pids("foo")[0])
	if res := r.call("mcp:foo-bar:pid", `{}`); res.Failed {
		t.Errorf("%+v", res)
	}
}

func TestDisconnectEndsCallsAtOnce(t *testing.T) {
	t.Parallel()
	quick(t, "disconnect", time.Second, func() time.Duration {
		r := newManagerRig(t, map[string]any{"s": "noeof-ignoreterm"}, nil)
		r.m.Start()
		r.waitState("s", StateConnected)
		result := make(chan tools.Result, 1)
		go func() { result <- r.call("mcp:s:never", `{}`) }()
		eventually.True(t, "the call runs", func() bool { v := r.m.viewOf("s"); return v.session != nil && v.session.running() == 1 })
		began := time.Now()
		if res := r.call("mcp_disconnect", `{"name":"s"}`); res.Failed || !strings.Contains(res.Text, `"cancelled_calls":1`) {
			t.Errorf("%+v", res)
		}
		took := time.Since(began)
		if res := <-result; !res.Failed || !strings.Contains(res.Text, "disconnected") {
			t.Errorf("%+v", res)
		}
		waitGone(t, r.pids("s")[0])
		return took
	})
}

func TestReloadTouchesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"a": "ok", "b": "ok", "c": "ok", "d": "exit"}, nil)
	r.m.Start()
	for _, name := range []string{"a", "b", "c"} {
		r.waitState(name, StateConnected)
	}
	r.waitState("d", StateFailed)
	r.configure(map[string]any{"a": "ok", "b": "paged", "d": "exit", "e": "ok"})
	res := r.call("mcp_reload", `{}`)
	for _, want := range []string{`"name":"a","change":"unchanged","state":"connected"`, `"name":"b","change":"changed","state":"connected"`, `"name":"c","change":"removed"`, `"name":"d","change":"retried"`, `"name":"e","change":"added","state":"connected"`} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("%s is not in %s", want, res.Text)
		}
	}
	if len(r.pids("a")) != 1 || len(r.pids("b")) != 2 || len(r.pids("e")) != 1 {
		t.Errorf("a %v b %v e %v", r.pids("a"), r.pids("b"), r.pids("e"))
	}
	waitGone(t, r.pids("c")[0])
	writeFile(t, r.opt.Paths.UserFile(), "{ broken")
	res = r.call("mcp_reload", `{}`)
	if !strings.Contains(res.Text, "mcp.json: line 1") {
		t.Errorf("%s", res.Text)
	}
}

func TestReloadAndSwitchOfOneServerLeaveTheOthers(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"a": "ok", "down": "exit", "b": "ok"}, nil)
	r.m.Start()
	r.waitState("a", StateConnected)
	r.waitState("b", StateConnected)
	r.waitState("down", StateFailed)
	tried := len(r.pids("down"))
	if res := r.call("mcp_reload", `{"name":"a","force":true}`); res.Failed || !strings.Contains(res.Text, `"name":"b","change":"unchanged"`) {
		t.Errorf("%+v", res)
	}
	r.waitState("a", StateConnected)
	if err := r.m.SetEnabled("b", false); err != nil {
		t.Fatal(err)
	}
	if d := r.waitState("b", StateDisconnected); d.Reason != "disabled" {
		t.Errorf("%+v", d.Status)
	}
	if err := r.m.SetEnabled("b", true); err != nil {
		t.Fatal(err)
	}
	r.waitState("b", StateConnected)
	if len(r.pids("a")) != 2 || len(r.pids("b")) != 2 || len(r.pids("down")) != tried {
		t.Errorf("a %v b %v down %v", r.pids("a"), r.pids("b"), r.pids("down"))
	}
	r.configure(map[string]any{"a": "ok", "b": "ok", "down": "exit", "new": "ok"})
	if res := r.call("mcp_reload", `{"name":"new"}`); !strings.Contains(res.Text, `"name":"new","change":"added","state":"connected"`) {
		t.Errorf("a server that the file has since: %+v", res)
	}
	if res := r.call("mcp_reload", `{"name":"nobody"}`); !res.Failed || !strings.Contains(res.Text, "known servers: a, b, down, new") {
		t.Errorf("%+v", res)
	}
}

func TestCrashedServerComesBack(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "ok"}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	res := r.call("mcp:s:die", `{}`)
	if !res.Failed || !strings.Contains(res.Text, "exit status 2") || !strings.Contains(res.Text, "index out of range") {
		t.Errorf("%+v", res)
	}
	if len(r.offered()) == 0 {
		t.Error("the tools must stay while it reconnects")
	}
	r.waitState("s", StateConnected)
	eventually.True(t, "a call works again", func() bool { return !r.call("mcp:s:echo", `{"text":"x"}`).Failed })
	events, err := mcptest.ReadLog(filepath.Join(r.log, "s.log"))
	if err != nil {
		t.Fatal(err)
	}
	died := 0
	for _, raw := range mcptest.Received(events, "tools/call") {
		if strings.Contains(string(raw), `"die"`) {
			died++
		}
	}
	if died != 1 {
		t.Errorf("the call was sent %d times", died)
	}
}

func TestTriesAreBounded(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "exit"}, nil)
	r.m.Start()
	d := r.waitState("s", StateFailed)
	if n := len(r.pids("s")); n != 3 {
		t.Errorf("%d tries", n)
	}
	if !strings.Contains(d.Error, "exit status 3") || !strings.Contains(d.Error, "FOO_TOKEN") || !strings.Contains(d.Stderr, "FOO_TOKEN") {
		t.Errorf("%q %q", d.Error, d.Stderr)
	}
	if d.Tools != 0 || len(r.offered()) != 0 {
		t.Error("a failed server offers nothing")
	}
}

func TestSlowServerIsAnnouncedLater(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, nil)
	open := filepath.Join(t.TempDir(), "open")
	res := r.call("mcp_connect", r.connectArgs("s", "until="+open, map[string]any{"wait_seconds": 0.2}))
	if res.Failed || !strings.Contains(res.Text, `"state":"connecting"`) {
		t.Fatalf("%+v", res)
	}
	if res := r.call("mcp:s:echo", `{}`); !res.Failed {
		t.Errorf("%+v", res)
	}
	writeFile(t, open, "")
	r.waitState("s", StateConnected)
	if res := r.call("mcp:s:echo", `{"text":"x"}`); res.Failed {
		t.Errorf("%+v", res)
	}
}

func TestFailedConnectIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, nil, nil)
	began := time.Now()
	res := r.call("mcp_connect", r.connectArgs("s", "exit", nil))
	if !res.Failed || !strings.Contains(res.Text, "exit status 3") || !strings.Contains(res.Text, "FOO_TOKEN") || !strings.Contains(res.Text, "arguments and the environment") {
		t.Errorf("%+v", res)
	}
	if took := time.Since(began); took > late {
		t.Errorf("it took %v", took)
	}
	if d := r.waitState("s", StateFailed); d.Error == "" {
		t.Error("it stays listed as failed")
	}
	if res = r.call("mcp_connect", r.connectArgs("s", "ok", nil)); res.Failed {
		t.Errorf("another target under an own earlier name: %+v", res)
	}
	r.gate.deny = true
	if res = r.call("mcp_connect", r.connectArgs("t", "ok", nil)); !res.Failed || res.Kind != tools.KindDenied {
		t.Errorf("%+v", res)
	}
	if len(r.pids("t")) != 0 {
		t.Error("a refused server was started")
	}
}

func TestOldGenerationsStayDead(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "slow=700ms"}, nil)
	r.m.Start()
	eventually.True(t, "it was started", func() bool { return len(r.pids("s")) == 1 })
	r.call("mcp_disconnect", `{"name":"s"}`)
	waitGone(t, r.pids("s")[0])
	if d, err := r.m.Server("s"); err != nil || d.State != StateDisconnected || d.Reason != "disconnected by the agent" || len(r.offered()) != 0 {
		t.Errorf("%+v %v", d, err)
	}
}

func TestNewToolIsThereAfterTheCallThatAddedIt(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"list-changed-in-call", "listchanged-undeclared", "flood-changed", "listchanged2026"} {
		t.Run(mode, func(t *testing.T) {
			r := newManagerRig(t, map[string]any{"s": mode}, nil)
			r.m.Start()
			r.waitState("s", StateConnected)
			res := r.call("mcp:s:grow", `{}`)
			name := strings.TrimPrefix(res.Text, "added ")
			if res.Failed || !strings.Contains(strings.Join(r.offered(), " "), "mcp:s:"+name) {
				t.Fatalf("%+v; offered %v", res, r.offered())
			}
			if res = r.call("mcp:s:"+name, `{}`); res.Failed {
				t.Errorf("%+v", res)
			}
		})
	}
	r := newManagerRig(t, map[string]any{"s": "listen-refused"}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	if res := r.call("mcp:s:echo", `{"text":"x"}`); res.Failed {
		t.Errorf("%+v", res)
	}
}

func TestCallToADownServerSaysSoAtOnce(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "ok"}, nil)
	r.m.delay = func(time.Duration) time.Duration { return time.Hour }
	r.m.Start()
	r.waitState("s", StateConnected)
	r.configure(map[string]any{"s": "ok"})
	r.call("mcp:s:die", `{}`)
	// The first call after the loss starts an attempt at once, although the next one is an hour away.
	r.waitState("s", StateReconnecting)
	res := r.call("mcp:s:echo", `{}`)
	if !res.Failed || !strings.Contains(res.Text, "MCP server s is") {
		t.Errorf("%+v", res)
	}
	r.waitState("s", StateConnected)
}

func TestQuitLeavesNothing(t *testing.T) {
	t.Parallel()
	quick(t, "Close", 6*time.Second, func() time.Duration {
		r := newManagerRig(t, map[string]any{"a": "noeof-ignoreterm", "b": "noeof-ignoreterm", "c": "grandchild", "d": "hang-ignoreterm"}, nil)
		r.m.Start()
		for _, name := range []string{"a", "b", "c"} {
			r.waitState(name, StateConnected)
		}
		eventually.True(t, "d was started", func() bool { return len(r.pids("d")) == 1 })
		began := time.Now()
		r.m.Close()
		took := time.Since(began)
		for _, name := range []string{"a", "b", "c", "d"} {
			for _, pid := range r.pids(name) {
				if alive(pid) {
					t.Errorf("%s: process %d lives", name, pid)
				}
			}
		}
		return took
	})
}

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/tools"
)

// wire returns the definitions of MCP tools that a model would be sent, as one text.
func (r *managerRig) wire(order *tools.Order) string {
	var b strings.Builder
	for _, e := range r.reg.Snapshot(nil).Offer(order, nil, tools.ModeAsk) {
		fmt.Fprintf(&b, "%s %s %s\n", e.Spec.Wire, e.Spec.Description, e.Spec.Parameters)
	}
	return b.String()
}

func TestTooManyToolsAreDeferred(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"big": "many=500", "small": "ok"}, nil)
	r.m.Start()
	r.waitState("big", StateConnected)
	r.waitState("small", StateConnected)
	eventually.True(t, "the stand-ins are offered", func() bool { return strings.Contains(r.wire(&tools.Order{}), "mcp_search") })
	if got := r.offered(); len(got) != 0 {
		t.Errorf("%d tools are offered directly", len(got))
	}
	if text := r.wire(&tools.Order{}); !strings.Contains(text, "big (509), small (9)") {
		t.Errorf("%s", text)
	}
	if res := r.call("mcp_search", `{"query":"number 137"}`); res.Failed || !strings.HasPrefix(res.Text, "mcp:big:tool_0137 — ") {
		t.Errorf("%+v", res)
	}
	if res := r.call("mcp_search", `{"query":"","server":"small"}`); res.Text != "small: echo sleep never env pid progress big die exit0" {
		t.Errorf("%+v", res)
	}
	if res := r.call("mcp_describe", `{"tool":"big:tool_0137"}`); res.Failed || !strings.Contains(res.Text, `"required":["path"]`) {
		t.Errorf("%+v", res)
	}
	res := r.call("mcp_call", `{"tool":"mcp__big__tool_0137","arguments":{"path":"/x"}}`)
	if res.Failed || res.Text != `tool_0137 {"path":"/x"}` {
		t.Errorf("%+v", res)
	}
	if a := r.gate.asked(); a.Kind != tools.AccessMCP || a.Target != "big:tool_0137" {
		t.Errorf("the gate must see the tool itself: %+v", a)
	}
	if res = r.call("mcp_call", `{"tool":"big:tool_0137","arguments":{}}`); !res.Failed || res.Kind != tools.KindInvalidArgs || !strings.Contains(res.Text, "path") {
		t.Errorf("arguments are checked: %+v", res)
	}
	if res = r.call("mcp_call", `{"tool":"big:tool_013"}`); !res.Failed || !strings.Contains(res.Text, "close names") {
		t.Errorf("%+v", res)
	}
	if res = r.call("mcp__big__tool_0001", `{"path":"p"}`); res.Failed {
		t.Errorf("a direct call works too: %+v", res)
	}
	if res = r.call("mcp_list", `{}`); !strings.Contains(res.Text, `"mode":"deferred"`) {
		t.Errorf("%s", res.Text)
	}
	r.call("mcp_disconnect", `{"name":"big"}`)
	if got := r.offered(); len(got) != 9 || strings.Contains(r.wire(&tools.Order{}), "mcp_search") {
		t.Errorf("back to direct: %v", got)
	}
	if err := r.m.SetToolsMode("deferred"); err != nil || len(r.offered()) != 0 {
		t.Errorf("%v %v", err, r.offered())
	}
}

func TestMoreThan128SmallToolsAreDeferred(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "many=125"}, func(o *Options) { o.DeferThreshold = "1000000" })
	r.m.Start()
	r.waitState("s", StateConnected)
	if !strings.Contains(r.wire(&tools.Order{}), "mcp_call") || len(r.offered()) != 0 {
		t.Errorf("%d tools offered", len(r.offered()))
	}
}

func TestToolArrayIsByteIdentical(t *testing.T) {
	t.Parallel()
	servers := map[string]any{"b": "ok", "a": "paged", "c": with("c", "slow=200ms", nil)}
	var first string
	for range 2 {
		r := newManagerRig(t, servers, nil)
		r.m.Start()
		for _, name := range []string{"a", "b", "c"} {
			r.waitState(name, StateConnected)
		}
		order := &tools.Order{}
		got := r.wire(order)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("the array differs:\n%s\n%s", got, first)
		}
		// A reconnect keeps the order.
		r.call("mcp:b:die", `{}`)
		eventually.True(t, "b is back", func() bool { return len(r.pids("b")) == 2 })
		r.waitState("b", StateConnected)
		if again := r.wire(order); again != got {
			t.Error("a reconnect changed the array")
		}
		r.m.Close()
	}
}

func TestRepairedToolsCanBeCalledAndFitEveryProvider(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	for _, mode := range []string{"schemas", "longnames", "dupnames", "noschema", "anyof27"} {
		t.Run(mode, func(t *testing.T) {
			r := newManagerRig(t, map[string]any{"s": mode}, func(o *Options) { o.Tools = "direct" })
			r.m.Start()
			r.waitState("s", StateConnected)
			seen := map[string]bool{}
			for _, e := range r.reg.Snapshot(nil).Offer(&tools.Order{}, nil, tools.ModeAsk) {
				if !valid.MatchString(e.Spec.Wire) || seen[e.Spec.Wire] {
					t.Errorf("wire name %q", e.Spec.Wire)
				}
				seen[e.Spec.Wire] = true
				if e.Spec.Server == "" || e.Spec.Name == "mcp:s:die" || e.Spec.Name == "mcp:s:never" || e.Spec.Name == "mcp:s:exit0" {
					continue
				}
				args := `{}`
				if strings.HasSuffix(e.Spec.Name, ":rooted") {
					args = `{"a":"x"}` // the server's own schema requires one of two
				}
				if strings.Contains(string(e.Spec.Parameters), `"required":["input"]`) {
					args = `{"input":"x"}`
					if strings.Contains(string(e.Spec.Parameters), `"type":"array"`) {
						args = `{"input":["x"]}`
					}
				}
				if res := r.call(e.Spec.Wire, args); res.Failed {
					t.Errorf("%s: %+v", e.Spec.Name, res)
				}
			}
			r.m.Close()
			events, err := mcptest.ReadLog(filepath.Join(r.log, "s.log"))
			if err != nil {
				t.Fatal(err)
			}
			if mode == "longnames" && !strings.Contains(fmt.Sprintf("%s", mcptest.Received(events, "tools/call")), `"name":"notion.search/page"`) {
				t.Error("the server must be called by the raw name")
			}
		})
	}
}

func TestBuiltinsAreNotShadowed(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": "dupnames"}, nil)
	r.m.Start()
	d := r.waitState("s", StateConnected)
	names := strings.Join(r.offered(), " ")
	if !strings.Contains(names, "mcp:s:read") || !strings.Contains(names, "mcp:s:constructor") || strings.Count(names, "mcp:s:same") != 1 {
		t.Errorf("%s", names)
	}
	if !strings.Contains(fmt.Sprint(d.Skipped), "twice") {
		t.Errorf("%v", d.Skipped)
	}
}

func TestOneHangingServerHoldsUpNobody(t *testing.T) {
	t.Parallel()
	servers := map[string]any{"hanging": "hang"}
	for i := range 6 {
		servers[fmt.Sprint("s", i)] = "ok"
	}
	r := newManagerRig(t, servers, nil)
	began := time.Now()
	r.m.Start()
	if took := time.Since(began); took > late {
		t.Errorf("Start took %v", took)
	}
	for i := range 6 {
		r.waitState(fmt.Sprint("s", i), StateConnected)
	}
	if res := r.call("mcp:s0:echo", `{"text":"x"}`); res.Failed {
		t.Errorf("%+v", res)
	}
}

func TestEnabledAndDisabledTools(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": with("s", "ok", map[string]any{"enabledTools": []string{"e*", "pid"}, "disabledTools": []string{"exit*"}})}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	if got := strings.Join(r.offered(), " "); got != "mcp:s:echo mcp:s:env mcp:s:pid" {
		t.Errorf("%s", got)
	}
	if res := r.call("mcp:s:sleep", `{}`); !res.Failed {
		t.Errorf("%+v", res)
	}
}

func TestHostileProjectStartsNothing(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"mine": "ok"}, nil)
	canary := filepath.Join(t.TempDir(), "canary")
	evil := func(args string) string {
		return fmt.Sprintf(`{"mcpServers":{"evil":{"command":"sh","args":["-c",%q]},"mine":{"command":"sh","args":["-c",%q]}}}`, args, args)
	}
	file := writeFile(t, filepath.Join(r.opt.Paths.ProjectRoot, ".mcp.json"), evil("touch "+canary))
	r.m.Start()
	r.waitState("mine", StateConnected) // the person's own still counts
	d, err := r.m.Server("evil")
	if err != nil || d.State != StateDisconnected || d.Reason != "needs approval" || d.Pending == nil || d.Pending.Line != "sh -c 'touch "+canary+"'" {
		t.Fatalf("%+v %v", d, err)
	}
	pending := r.m.PendingApprovals()
	if len(pending) != 2 || !strings.Contains(strings.Join(pending[1].Notes, " "), "replaces your own server mine") {
		t.Errorf("%+v", pending)
	}
	r.gate.deny = true
	if res := r.call("mcp_connect", `{"name":"evil"}`); !res.Failed || r.gate.asked().Command != d.Pending.Line {
		t.Errorf("%+v", res)
	}
	if _, err := r.m.Acquire(t.Context(), []string{"evil"}); err == nil || !strings.Contains(err.Error(), "approv") {
		t.Errorf("%v", err)
	}
	if err := r.m.Restart("evil"); err == nil {
		t.Error("a restart must not get round the approval")
	}
	if _, err := os.Stat(canary); err == nil {
		t.Fatal("it ran")
	}
	// After approval it runs; an edited argument waits again.
	if err := r.m.Approve("evil", d.Pending.Hash, true); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "it runs", func() bool { _, err := os.Stat(canary); return err == nil })
	if err := os.WriteFile(file, []byte(evil("touch "+canary+"2")), 0o600); err != nil {
		t.Fatal(err)
	}
	res := r.call("mcp_reload", `{}`)
	if !strings.Contains(res.Text, `"name":"evil","change":"needs_approval"`) {
		t.Errorf("%s", res.Text)
	}
	if err := r.m.Approve("evil", d.Pending.Hash, true); err == nil {
		t.Error("an approval of what was shown before must not hold for what is there now")
	}
	if _, err := os.Stat(canary + "2"); err == nil {
		t.Error("the edited entry ran")
	}
}

// One answer of the person approves several servers. Each of them starts, whether or not the first
// one connects.
func TestAllServersOfOneApprovalStart(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"ok", "exit"} {
		r := newManagerRig(t, nil, nil)
		entries := map[string]any{"a": r.fault("a", first, nil), "b": r.fault("b", "ok", nil), "c": r.fault("c", "ok", nil)}
		raw, err := json.Marshal(map[string]any{"mcpServers": entries})
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(r.opt.Paths.ProjectRoot, ".mcp.json"), string(raw))
		r.m.Start()
		pending := r.m.PendingApprovals()
		if len(pending) != 3 {
			t.Fatalf("%+v", pending)
		}
		for _, p := range pending { // the answer is stored before anything starts
			if err := r.opt.Trust.Accept(context.Background(), []tools.TrustItem{{Kind: tools.TrustMCP, Name: p.Name, Hash: p.Hash}}, true); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range pending {
			if err := r.m.Approve(p.Name, p.Hash, false); err != nil {
				t.Error(err)
			}
		}
		want := StateConnected
		if first == "exit" {
			want = StateReconnecting
		}
		eventually.True(t, "the first server's end", func() bool {
			d, err := r.m.Server("a")
			return err == nil && (d.State == want || d.State == StateFailed && first == "exit")
		})
		r.waitState("b", StateConnected)
		r.waitState("c", StateConnected)
		r.m.Close()
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-very-secret"
	r := newManagerRig(t, map[string]any{
		"a": with("a", "exit", map[string]any{"args": []string{"exit", "--token", secret}}),
		"b": map[string]any{"url": "http://user:" + secret + "@127.0.0.1:9/mcp?api_key=" + secret, "headers": map[string]string{"X": secret}},
	}, nil)
	r.m.Start()
	r.waitState("a", StateFailed)
	r.waitState("b", StateReconnecting)
	var all strings.Builder
	all.WriteString(r.call("mcp_list", `{}`).Text + r.call("mcp_reload", `{}`).Text + r.call("mcp_connect", `{"name":"a","wait_seconds":1}`).Text + r.call("mcp_connect", `{"name":"b","wait_seconds":1}`).Text)
	for _, d := range r.m.Snapshot() {
		fmt.Fprintf(&all, "%+v", d)
		def, err := r.m.Definition(d.Name)
		fmt.Fprintf(&all, "%+v %v", def, err)
	}
	if strings.Contains(all.String(), secret) {
		at := strings.Index(all.String(), secret)
		t.Errorf("a secret shows: …%s", all.String()[max(0, at-200):at+len(secret)])
	}
}

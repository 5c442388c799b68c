package mcp

import (
	"strings"
	"testing"
	"time"
)

// The error of a call to a tool whose server is not connected says its state, the last error
// and what to do, for each form of the name.
func TestCallsToServersThatAreNotThere(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{
		"gone": "ok", "off": with("off", "ok", map[string]any{"enabled": false}),
		"lost": map[string]any{"url": "http://127.0.0.1:1/mcp"}, "bad": map[string]any{"command": "no-such-program"},
	}, nil)
	r.m.delay = func(time.Duration) time.Duration { return time.Minute }
	r.m.Start()
	r.waitState("gone", StateConnected)
	r.waitState("lost", StateReconnecting)
	r.waitState("bad", StateFailed)
	if res := r.call("mcp_disconnect", `{"name":"gone"}`); res.Failed {
		t.Fatalf("%+v", res)
	}
	for name, want := range map[string][]string{
		"mcp:gone:echo":   {"mcp:gone:echo is not there", "was disconnected by the agent", "mcp_connect with name gone connects it"},
		"mcp__gone__echo": {"was disconnected by the agent"},
		"mcp:off:echo":    {"off is disconnected (disabled)"},
		"mcp:lost:echo":   {"lost is reconnecting: ", "connection refused", "next try in", "mcp_connect with name lost tries now"},
		"mcp:bad:echo":    {"bad is failed: command not found: no-such-program"},
		"mcp:none:echo":   {"unknown intent: mcp:none:echo"},
	} {
		res := r.call(name, `{}`)
		for _, w := range want {
			if !res.Failed || !strings.Contains(res.Text, w) {
				t.Errorf("%s: %q lacks %q", name, res.Text, w)
			}
		}
	}
}

// A forced reload reports unchanged servers as restarted.
func TestForcedReloadSaysWhatItRestarted(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"a": "ok", "b": "ok"}, nil)
	r.m.Start()
	r.waitState("a", StateConnected)
	r.waitState("b", StateConnected)
	text := r.call("mcp_reload", `{"force":true}`).Text
	for _, want := range []string{`"name":"a","change":"restarted","state":"connected"`, `"name":"b","change":"restarted","state":"connected"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	r.call("mcp_disconnect", `{"name":"a"}`)
	if text := r.call("mcp_reload", `{"name":"a"}`).Text; !strings.Contains(text, `"name":"a","change":"started","state":"connected"`) {
		t.Error(text)
	}
}

package mcp

import (
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
)

// A page that fails once has no effect. If it keeps failing, its tools are missing for a while, and
// the person is notified.
func TestPageOfToolsThatFails(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	r := newManagerRig(t, map[string]any{"once": "pagefail=1", "often": "pagefail=4"}, func(o *Options) {
		o.Notify = func(_, text string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, text)
		}
	})
	delay := make(chan struct{})
	r.m.delay = func(d time.Duration) time.Duration {
		select {
		case <-delay:
			return time.Millisecond
		default:
			return 200 * time.Millisecond
		}
	}
	r.m.Start()
	all := r.waitState("once", StateConnected).Tools
	if d := r.waitState("often", StateConnected); d.Tools == 0 || d.Tools >= all {
		t.Errorf("%d of %d tools", d.Tools, all)
	}
	eventually.True(t, "a notice", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(strings.Join(told, "\n"), "MCP server often: the list ends after 10 items: page 3 failed: database is locked (code -32603)")
	})
	close(delay)
	eventually.True(t, "the rest", func() bool {
		d, err := r.m.Server("often")
		return err == nil && d.Tools == all && len(d.Skipped) == 0
	})
	if res := r.call("mcp:often:extra7", `{}`); res.Failed {
		t.Errorf("%+v", res)
	}
}

// A result is returned as soon as it has arrived, even if the server does not answer for its changed list.
func TestResultsDoNotWaitForAListThatNeverComes(t *testing.T) {
	t.Parallel()
	r := newManagerRig(t, map[string]any{"s": with("s", "listhang", map[string]any{"connectTimeout": "60s"})}, nil)
	r.m.Start()
	r.waitState("s", StateConnected)
	began := time.Now()
	for range 3 {
		if res := r.call("mcp:s:grow", `{}`); res.Failed {
			t.Fatalf("%+v", res)
		}
	}
	if took := time.Since(began); took > late {
		t.Errorf("three calls took %v", took)
	}
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/mcp/wire"
)

// patience is how long a test waits for something that happens at once on an idle machine.
const patience = time.Minute

// late is longer than anything without a deliberate wait takes, even on a busy machine, and shorter
// than any default limit.
const late = 40 * time.Second

// stdioRig dials fault servers without a manager.
type stdioRig struct {
	t     *testing.T
	d     dialer
	hooks sessionHooks
	log   *wire.Log
	file  string // the server's own log
}

func newStdioRig(t *testing.T) *stdioRig {
	host := wire.NewHost(func() []string { return []string{"TRACEPARENT=of the session", "GIVEN=of the session"} })
	t.Cleanup(func() { host.Close(closeGrace) })
	return &stdioRig{t: t, d: dialer{host: host}, log: wire.NewLog(t.TempDir(), "s"), hooks: sessionHooks{
		changed: func(listKind) {},
		elicit: func(context.Context, *sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
		version: "test",
	}}
}

func testTarget(c mcptest.Command) config.Target {
	return config.Target{Type: config.Stdio, Command: c.Path, Args: c.Args, Env: c.Env}
}

func (r *stdioRig) entry(mode string) config.Entry {
	var c mcptest.Command
	c, r.file = mcptest.Server(mode).Logging(r.t.TempDir())
	e := config.NewEntry("s")
	e.Target = testTarget(c)
	e.ConnectTimeout = patience
	return e
}

func (r *stdioRig) dial(e config.Entry) (dialed, error) {
	res, err := config.Environment{Base: os.Environ()}.Resolve(e)
	if err != nil {
		return dialed{}, err
	}
	return r.d.dial(context.Background(), e, res, r.log, r.hooks, 1)
}

func (r *stdioRig) mustDial(mode string) dialed {
	r.t.Helper()
	d, err := r.dial(r.entry(mode))
	if err != nil {
		r.t.Fatalf("%s: %v", mode, err)
	}
	r.t.Cleanup(func() { r.end(d.session) })
	return d
}

func (r *stdioRig) end(s *session) {
	r.t.Helper()
	s.close(errDisconnected)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !s.wait(ctx) {
		r.t.Error("the session did not end")
	}
}

var testLimits = callLimits{idle: 5 * patience, total: 5 * patience} // a large answer takes a while

func callText(t *testing.T, s *session, tool, args string) string {
	t.Helper()
	raw, _, err := s.call(context.Background(), tool, json.RawMessage(args), testLimits, nil)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return converter{}.convert(raw).text
}

// quick repeats a part of a test, which measures itself, until it took no longer than limit: a busy
// machine delays it now and then, but a fault delays it every time.
func quick(t *testing.T, what string, limit time.Duration, part func() time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		took := part()
		if took <= limit || t.Failed() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s took %v, want at most %v", what, took, limit)
		}
	}
}

// waitCalls waits until a server's log contains n tool calls.
func waitCalls(t *testing.T, file string, n int) {
	t.Helper()
	eventually.True(t, fmt.Sprintf("%d calls have arrived", n), func() bool {
		events, err := mcptest.ReadLog(file)
		return err == nil && len(mcptest.Received(events, "tools/call")) == n
	})
}

// waitLogGone waits until every process in a server's log has ended.
func waitLogGone(t *testing.T, file string) {
	t.Helper()
	events, err := mcptest.ReadLog(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range mcptest.Pids(events) {
		waitGone(t, pid)
	}
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	eventually.True(t, fmt.Sprintf("process %d has ended", pid), func() bool { return !alive(pid) })
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat("/proc/self"); err == nil {
			return false
		}
		p, err := os.FindProcess(pid)
		return err == nil && p.Signal(nil) == nil
	}
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

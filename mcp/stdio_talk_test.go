package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/mcp/schema"
)

func TestClosingNeverWaits(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ok", "noeof", "noeof-ignoreterm", "grandchild", "child-daemon", "noread"} {
		t.Run(mode, func(t *testing.T) {
			quick(t, "close with a call", 500*time.Millisecond, func() time.Duration {
				r := newStdioRig(t)
				d := r.mustDial(mode)
				failed := make(chan error, 1)
				go func() {
					_, _, err := d.session.call(context.Background(), "never", json.RawMessage(`{}`), testLimits, nil)
					failed <- err
				}()
				eventually.True(t, "the call is on its way", func() bool { return d.session.running() == 1 })
				began := time.Now()
				d.session.close(errDisconnected)
				if err := <-failed; !errors.Is(err, errDisconnected) {
					t.Errorf("the call ended with %v", err)
				}
				took := time.Since(began)
				waitLogGone(t, r.file)
				return took
			})
		})
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	d := r.mustDial("ok")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, _, err := d.session.call(ctx, "sleep", json.RawMessage(`{"ms":60000}`), testLimits, nil)
		ended <- err
	}()
	waitCalls(t, r.file, 1) // a request that was not sent need not be cancelled at the server
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	eventually.True(t, "notifications/cancelled", func() bool {
		events, err := mcptest.ReadLog(r.file)
		return err == nil && len(mcptest.Received(events, "notifications/cancelled")) == 1
	})
	pid := callText(t, d.session, "pid", `{}`)
	if pid != strconv.Itoa(d.session.link.PID()) {
		t.Errorf("pid %s", pid)
	}
}

func TestProgressRestartsTheClock(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	d := r.mustDial("ok")
	limits := callLimits{idle: time.Second, total: time.Minute}
	shown := make(chan string, 100)
	var raw json.RawMessage
	var err error
	for deadline := time.Now().Add(patience); ; { // a busy machine may stop for longer than the limit
		raw, _, err = d.session.call(context.Background(), "progress", json.RawMessage(`{"ms":2500,"every":150}`), limits, func(s string) { shown <- s })
		if err == nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil || (converter{}).convert(raw).text != "done" || len(shown) < 2 || !strings.HasPrefix(<-shown, "tick ") {
		t.Errorf("%s %v, %d shown", raw, err, len(shown))
	}
	began := time.Now()
	_, _, err = d.session.call(context.Background(), "sleep", json.RawMessage(`{"ms":60000}`), limits, nil)
	if err == nil || err.Error() != "timed out after 1 s without progress (callTimeout)" {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if got := callText(t, d.session, "echo", `{"text":"alive"}`); got != "echo: alive" {
		t.Errorf("got %q", got)
	}
}

func TestParallelCallsAreMatchedByID(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	d := r.mustDial("reverse-replies")
	got := make(chan string, 2)
	for _, text := range []string{"a", "b"} {
		go func() { got <- text + "=" + callText(t, d.session, "echo", `{"text":"`+text+`"}`) }()
	}
	for range 2 {
		if s := <-got; s != "a=echo: a" && s != "b=echo: b" {
			t.Errorf("%q", s)
		}
	}
}

func TestFiftyCallsRunAtOnce(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	d := r.mustDial("ok")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 50)
	for range 50 {
		go func() {
			_, _, err := d.session.call(ctx, "never", json.RawMessage(`{}`), testLimits, nil)
			ended <- err
		}()
	}
	waitCalls(t, r.file, 50) // none has been answered
	if got := callText(t, d.session, "echo", `{"text":"between"}`); got != "echo: between" {
		t.Errorf("%q", got)
	}
	cancel()
	for range 50 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

func TestServerRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	r.hooks.roots = []string{"/work space"}
	d := r.mustDial("earlyping")
	var got string
	eventually.True(t, "all answers", func() bool {
		got = callText(t, d.session, "answers", `{}`)
		return strings.Count(got, "\n") >= 3
	})
	for _, want := range []string{`"p" result {}`, `2 result {"roots":[{"name":"work space","uri":"file:///work%20space"}]}`, `"s" error`, `"u" error {"code":-32601`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret-1")
	t.Setenv("GITHUB_TOKEN", "ghp-secret-2")
	t.Setenv("WANTED", "yes")
	t.Setenv("NOT_WANTED", "no")
	r := newStdioRig(t)
	e := r.entry("ok")
	e.Target.Env["GIVEN"] = "${WANTED}!"
	e.Target.InheritEnv = []string{"WANTED"}
	e.Source.Scope = config.ScopeUser
	d, err := r.dial(e)
	if err != nil {
		t.Fatal(err)
	}
	defer r.end(d.session)
	env := callText(t, d.session, "env", `{}`)
	for _, bad := range []string{"secret", "NOT_WANTED", "OPENAI", "GITHUB", "GIVEN=of the session"} {
		if strings.Contains(env, bad) {
			t.Errorf("%s reached the server", bad)
		}
	}
	for _, good := range []string{"WANTED=yes", "GIVEN=yes!", "PATH=", "TRACEPARENT=of the session"} {
		if !strings.Contains(env, good) {
			t.Errorf("%s is missing", good)
		}
	}
}

func TestPagesAndStuckCursor(t *testing.T) {
	t.Parallel()
	d := newStdioRig(t).mustDial("paged")
	if n := len(baseNames(d.tools)); n != len(d.tools) || n < 14 {
		t.Errorf("%d tools, %d names", len(d.tools), n)
	}
	d = newStdioRig(t).mustDial("stuck-cursor")
	if len(d.tools) != 1 || !strings.Contains(fmt.Sprint(d.skipped), "does not move") {
		t.Errorf("%d tools, %v", len(d.tools), d.skipped)
	}
}

func baseNames(list []schema.Tool) map[string]bool {
	out := map[string]bool{}
	for _, t := range list {
		out[t.Name] = true
	}
	return out
}

func TestOneBadToolNeverCostsTheList(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"badtool": "bad: description is a number", "badann": "bad: annotations were dropped: readOnlyHint is a string",
		"bignum": "", "order": "", "xheader": "", "noschema": "", "anyof27": "",
	} {
		t.Run(mode, func(t *testing.T) {
			d := newStdioRig(t).mustDial(mode)
			if names := baseNames(d.tools); !names["echo"] || len(names) < 10 {
				t.Errorf("tools %v", names)
			}
			var notes []string
			for _, s := range d.skipped {
				notes = append(notes, s.Name+": "+s.Why)
			}
			if !strings.Contains(strings.Join(notes, "\n"), want) {
				t.Errorf("notes %q", notes)
			}
			last := d.tools[len(d.tools)-1]
			callText(t, d.session, last.Name, `{}`)
			if mode == "order" && !strings.Contains(string(last.InputSchema), `"zebra":{"type":"integer","maximum":9007199254740993},"apple"`) {
				t.Errorf("schema %s", last.InputSchema)
			}
		})
	}
}

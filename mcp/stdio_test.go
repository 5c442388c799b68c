package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"jcode/internal/testkit/mcptest"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/mcp/wire"
)

// patience is what a test waits for something that comes at once on an idle machine.
const patience = time.Minute

// late is later than anything comes that need not be waited for, on a busy machine too, and
// earlier than any limit that holds where a test sets none.
const late = 20 * time.Second

// stdioRig dials fault servers without a manager.
type stdioRig struct {
	t     *testing.T
	d     dialer
	hooks sessionHooks
	log   *wire.Log
	file  string // the server's own log
}

func newStdioRig(t *testing.T) *stdioRig {
	host := wire.NewHost()
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

var testLimits = callLimits{idle: patience, total: 5 * patience}

func callText(t *testing.T, s *session, tool, args string) string {
	t.Helper()
	raw, _, err := s.call(context.Background(), tool, json.RawMessage(args), testLimits, nil)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return converter{}.convert(raw).text
}

func TestStrayOutputIsSkipped(t *testing.T) { // eca#298, opencode#24414
	for mode, stray := range map[string]bool{
		"ok": false, "junk": true, "junkjson": true, "bom": false, "blank": false, "junkafter": true, "junkmid": true,
		"trailspace": false, "crlf": false, "batch": false, "extra": false, "errornull": false, "idfloat": false, "idstring": false,
		"stderr-flood": false, "nodiscover-silent": false, "nodiscover-exit": false, "old": false, "no-ping": false,
	} {
		t.Run(mode, func(t *testing.T) {
			r := newStdioRig(t)
			d := r.mustDial(mode)
			if len(d.tools) < 5 {
				t.Fatalf("%d tools", len(d.tools))
			}
			if got := callText(t, d.session, "echo", `{"text":"hi"}`); got != "echo: hi" {
				t.Errorf("got %q", got)
			}
			if n, _ := r.log.Stray(); n > 0 != stray {
				t.Errorf("%d stray lines", n)
			}
			events, err := mcptest.ReadLog(r.file)
			if err != nil || len(mcptest.Pids(events)) != 1 { // go-sdk#1177
				t.Errorf("%d processes, %v", len(mcptest.Pids(events)), err)
			}
		})
	}
}

// Whatever can be read of an answer is read, however it is laid out.
func TestAnswersInOddLayoutsAreRead(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{
		"pretty", "prettybatch", "nojsonrpc", "oldjsonrpc", "twoonline", "threeonline", "afterprompt", "beforetext", "nonewline", "afterbracket", "loggedfirst",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := newStdioRig(t).mustDial(mode)
			if got := callText(t, d.session, "echo", `{"text":"hi"}`); got != "odd" {
				t.Errorf("the answer: %q", got)
			}
			if got := callText(t, d.session, "echo", `{"text":"hi"}`); got != "echo: hi" {
				t.Errorf("the next call: %q", got)
			}
		})
	}
}

// An answer that nobody can read ends its call within seconds and is quoted.
func TestUnreadableAnswersEndTheirCall(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"nan": `can't be read: {"jsonrpc":"2.0"`, "cutanswer": `"type":"te`, "cutopen": `"result":{"cont`, "python": "can't be read: {'jsonrpc'", "controlled": `"text":"a`,
		"noresult": "neither result nor error", "nullid": "without saying what: Parse error (code -32700)", "foreignid": "a request that nobody made",
		"emptyerror": "the server gave no reason (code -1)",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			d := newStdioRig(t).mustDial(mode)
			_, _, err := d.session.call(context.Background(), "echo", json.RawMessage(`{}`), testLimits, nil)
			if err == nil || !strings.Contains(wire.ErrorText(err), want) {
				t.Errorf("%v", err)
			}
			if got := callText(t, d.session, "echo", `{"text":"hi"}`); got != "echo: hi" {
				t.Errorf("the next call: %q", got)
			}
		})
	}
}

// Where several calls wait, an unreadable answer ends the one that is left without any.
func TestUnreadableAnswerEndsTheCallThatGotNone(t *testing.T) {
	t.Parallel()
	d := newStdioRig(t).mustDial("nullid")
	failed := make(chan error, 1)
	go func() {
		_, _, err := d.session.call(context.Background(), "echo", json.RawMessage(`{}`), testLimits, nil)
		failed <- err
	}()
	waitFor(t, "the first call", func() bool { return d.session.running() == 1 })
	if got := callText(t, d.session, "sleep", `{"ms":2500}`); got == "" {
		t.Error("the other call has no answer")
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "Parse error") {
		t.Errorf("%v", err)
	}
}

func TestNewestProtocolNeedsASecondProcess(t *testing.T) {
	r := newStdioRig(t)
	d := r.mustDial("modernonly")
	if d.session.info.protocol != "2026-07-28" {
		t.Errorf("protocol %s", d.session.info.protocol)
	}
	events, err := mcptest.ReadLog(r.file)
	if err != nil {
		t.Fatal(err)
	}
	pids := mcptest.Pids(events)
	if len(pids) != 2 {
		t.Fatalf("%d processes", len(pids))
	}
	waitGone(t, pids[0])
	if got := callText(t, d.session, "echo", `{"text":"hi"}`); got != "echo: hi" {
		t.Errorf("got %q", got)
	}
}

func TestRefusedHandshakes(t *testing.T) {
	for mode, want := range map[string]struct {
		text  string
		retry wire.Retry
	}{
		"badversion": {"1999-01-01", wire.RetryNever},
		"initerr":    {"no license", wire.RetryNever},
		"exit":       {"server exited (exit status 3): Error: missing API key FOO_TOKEN", wire.RetryEarly},
	} {
		t.Run(mode, func(t *testing.T) {
			_, err := newStdioRig(t).dial(newStdioRig(t).entry(mode))
			if err == nil || !strings.Contains(err.Error(), want.text) || wire.RetryOf(err) != want.retry {
				t.Errorf("%v (retry %d)", err, wire.RetryOf(err))
			}
		})
	}
	r := newStdioRig(t)
	e := r.entry("ok")
	e.Target.Command = "no-such-program-anywhere"
	if _, err := r.dial(e); err == nil || wire.RetryOf(err) != wire.RetryNever || !strings.Contains(err.Error(), "command not found") {
		t.Errorf("%v", err)
	}
	e.Target = testTarget(mcptest.Server("ok"))
	e.Target.Cwd = "/no/such/folder"
	if _, err := r.dial(e); err == nil || wire.RetryOf(err) != wire.RetryNever || !strings.Contains(err.Error(), "/no/such/folder") {
		t.Errorf("%v", err)
	}
}

func TestHangingHandshakeEndsAtItsTimeout(t *testing.T) {
	for _, mode := range []string{"hang", "hang-ignoreterm"} {
		t.Run(mode, func(t *testing.T) {
			r := newStdioRig(t)
			e := r.entry(mode)
			e.ConnectTimeout = time.Second
			began := time.Now()
			_, err := r.dial(e)
			if err == nil || wire.RetryOf(err) != wire.RetryTimeout || !strings.Contains(err.Error(), "connectTimeout") {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > late {
				t.Errorf("it took %v", took)
			}
			waitLogGone(t, r.file)
		})
	}
}

// A server that ends because nobody waits for it any more is not said to have exited.
func TestServerThatEndsAtTheTimeoutIsNotBlamed(t *testing.T) {
	for range 20 {
		r := newStdioRig(t)
		e := r.entry("hang")
		e.ConnectTimeout = 30 * time.Millisecond
		if _, err := r.dial(e); err == nil || wire.RetryOf(err) != wire.RetryTimeout || !strings.Contains(err.Error(), "connectTimeout") {
			t.Fatalf("%v", err)
		}
	}
}

func TestDeathInACallIsTheCallsReason(t *testing.T) {
	for tool, want := range map[string]string{"die": "exit status 2): panic: index out of range", "exit0": "exit status 0"} {
		t.Run(tool, func(t *testing.T) {
			r := newStdioRig(t)
			d := r.mustDial("ok")
			began := time.Now()
			_, sent, err := d.session.call(context.Background(), tool, json.RawMessage(`{}`), testLimits, nil)
			if err == nil || !sent || !strings.Contains(err.Error(), want) {
				t.Errorf("%v (sent %v)", err, sent)
			}
			if took := time.Since(began); took > late {
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Run("kill", func(t *testing.T) {
		r := newStdioRig(t)
		d := r.mustDial("grandchild") // which holds the pipe open
		time.AfterFunc(100*time.Millisecond, d.session.link.Kill)
		_, _, err := d.session.call(context.Background(), "never", json.RawMessage(`{}`), testLimits, nil)
		if err == nil || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("%v", err)
		}
		waitLogGone(t, r.file)
	})
}

func TestLargeResults(t *testing.T) {
	r := newStdioRig(t)
	d := r.mustDial("ok")
	for _, size := range []int{1 << 20, 20 << 20} {
		raw, _, err := d.session.call(context.Background(), "big", json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, size)), testLimits, nil)
		if err != nil || len(raw) < size {
			t.Fatalf("%d bytes of %d: %v", len(raw), size, err)
		}
	}
	_, _, err := d.session.call(context.Background(), "big", json.RawMessage(`{"bytes":70000000}`), testLimits, nil)
	if err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("%v", err)
	}
	if got := callText(t, d.session, "echo", `{"text":"alive"}`); got != "echo: alive" {
		t.Errorf("got %q", got)
	}
}

func TestEndlessLineIsReadAway(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	r := newStdioRig(t)
	d := r.mustDial("no-newline=200")
	_, _, err := d.session.call(context.Background(), "big", json.RawMessage(`{}`), testLimits, nil)
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("%v", err)
	}
	if got := callText(t, d.session, "echo", `{"text":"alive"}`); got != "echo: alive" {
		t.Errorf("got %q", got)
	}
}

func TestOddResultsAreReadable(t *testing.T) {
	r := newStdioRig(t)
	d := r.mustDial("results")
	for tool, want := range map[string]string{
		"unknowncontent": "[content of unknown type \"hologram\"]\nstill here", "strcontent": "only a string",
		"badb64": "[image image/png: its data is no valid base64]\nstill here", "nocontent": "(no content)", "nullcontent": "(no content)",
		"nullresult": "(no content)", "iserror": "first reason\nsecond reason", "two-texts": "one\ntwo", "structured-only": `{"zebra":1,"apple":9007199254740993}`,
	} {
		if got := callText(t, d.session, tool, `{}`); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
	_, _, err := d.session.call(context.Background(), "rpcerror", json.RawMessage(`{}`), testLimits, nil)
	if got := wire.ErrorText(err); got != `quota exceeded (code -32050): {"limit":3}` {
		t.Errorf("rpcerror: %q", got)
	}
}

func TestClosingNeverWaits(t *testing.T) {
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
				waitFor(t, "the call is on its way", func() bool { return d.session.running() == 1 })
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

func TestCancelReachesTheServer(t *testing.T) { // codex#26956, claude-code#49479
	r := newStdioRig(t)
	d := r.mustDial("ok")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, _, err := d.session.call(ctx, "sleep", json.RawMessage(`{"ms":60000}`), testLimits, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	waitFor(t, "notifications/cancelled", func() bool {
		events, err := mcptest.ReadLog(r.file)
		return err == nil && len(mcptest.Received(events, "notifications/cancelled")) == 1
	})
	pid := callText(t, d.session, "pid", `{}`)
	if pid != strconv.Itoa(d.session.link.PID()) {
		t.Errorf("pid %s", pid)
	}
}

func TestProgressRestartsTheClock(t *testing.T) {
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
	quick(t, "50 parallel calls of 300 ms", 3*time.Second, func() time.Duration {
		began := time.Now()
		done := make(chan struct{}, 50)
		for range 50 {
			go func() { callText(t, d.session, "sleep", `{"ms":300}`); done <- struct{}{} }()
		}
		for range 50 {
			<-done
		}
		return time.Since(began)
	})
}

func TestServerRequestsAreAnswered(t *testing.T) {
	r := newStdioRig(t)
	r.hooks.roots = []string{"/work space"}
	d := r.mustDial("earlyping")
	var got string
	waitFor(t, "all answers", func() bool {
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
	for _, bad := range []string{"secret", "NOT_WANTED", "OPENAI", "GITHUB"} {
		if strings.Contains(env, bad) {
			t.Errorf("%s reached the server", bad)
		}
	}
	for _, good := range []string{"WANTED=yes", "GIVEN=yes!", "PATH="} {
		if !strings.Contains(env, good) {
			t.Errorf("%s is missing", good)
		}
	}
}

func TestPagesAndStuckCursor(t *testing.T) {
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

func TestOneBadToolNeverCostsTheList(t *testing.T) { // claude-code#88049
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

// quick lets a part of a test, which measures itself, run until it took no longer than limit:
// a busy machine holds it up now and then, a fault each time.
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

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// waitLogGone waits until every process that a server's log tells of has ended.
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
	waitFor(t, fmt.Sprintf("process %d has ended", pid), func() bool { return !alive(pid) })
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

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/mcptest"
	"jcode/mcp/wire"
)

func TestStrayOutputIsSkipped(t *testing.T) {
	t.Parallel()
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

// An answer is read in every layout from which it can be recovered.
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

// An unreadable answer fails its call within seconds, and the error quotes it.
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

// If several calls wait, an unreadable answer fails the one that gets no other answer.
func TestUnreadableAnswerEndsTheCallThatGotNone(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	d := r.mustDial("nullid")
	slept := make(chan error, 1)
	go func() {
		_, _, err := d.session.call(context.Background(), "sleep", json.RawMessage(`{"ms":2500}`), testLimits, nil)
		slept <- err
	}()
	eventually.True(t, "the call that waits", func() bool {
		events, err := mcptest.ReadLog(r.file)
		return err == nil && slices.ContainsFunc(events, func(e mcptest.Event) bool { return e.Kind == "receive" && e.Method == "tools/call" })
	})
	if _, _, err := d.session.call(context.Background(), "echo", json.RawMessage(`{}`), testLimits, nil); err == nil || !strings.Contains(err.Error(), "Parse error") {
		t.Errorf("%v", err)
	}
	if err := <-slept; err != nil {
		t.Errorf("the other call: %v", err)
	}
}

func TestNewestProtocolNeedsASecondProcess(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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

// A server that ends because its connection was given up is not reported as exited.
func TestServerThatEndsAtTheTimeoutIsNotBlamed(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
		ended := make(chan error, 1)
		go func() {
			_, _, err := d.session.call(context.Background(), "never", json.RawMessage(`{}`), testLimits, nil)
			ended <- err
		}()
		waitCalls(t, r.file, 1)
		d.session.link.Kill()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("%v", err)
		}
		waitLogGone(t, r.file)
	})
}

func TestLargeResults(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("moves 90 MB")
	}
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
	t.Parallel()
	if testing.Short() {
		t.Skip("writes 90 MB")
	}
	r := newStdioRig(t)
	d := r.mustDial("no-newline=90")
	_, _, err := d.session.call(context.Background(), "big", json.RawMessage(`{}`), testLimits, nil)
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("%v", err)
	}
	if got := callText(t, d.session, "echo", `{"text":"alive"}`); got != "echo: alive" {
		t.Errorf("got %q", got)
	}
}

func TestOddResultsAreReadable(t *testing.T) {
	t.Parallel()
	r := newStdioRig(t)
	d := r.mustDial("results")
	for tool, want := range map[string]string{
		"unknowncontent": "[content of unknown type \"hologram\"]\nstill here", "strcontent": "only a string",
		"badb64": "[image image/png: its data is not valid base64]\nstill here", "nocontent": "(no content)", "nullcontent": "(no content)",
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

package acp_test

import (
	"path/filepath"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
)

const waitScript = `{"tool_calls":[{"name":"exec","arguments":{"cmd":"echo $$ > pid; while :; do sleep 0.05; done"}}]}
{"text":"never"}
`

func TestCancelEndsAPromptAsCancelledAtEveryMoment(t *testing.T) {
	t.Parallel()
	moments := map[string]struct {
		setup  setup
		before func(c *client)
	}{
		"right after the prompt": {setup: setup{script: writeScript}, before: func(*client) {}},
		"while the model streams": {
			setup:  setup{replies: []modeltest.Reply{modeltest.Text("begin", "rest").SilenceAfter(2)}},
			before: func(c *client) { c.wait("text", func() bool { return has(c.updates, "agent_message_chunk") }) },
		},
		"while it asks": {
			setup:  setup{script: writeScript},
			before: func(c *client) { c.waitAsked("session/request_permission", 1) },
		},
		"while a command runs": {
			setup:  setup{script: waitScript, args: []string{"--mode", "yolo"}},
			before: func(c *client) { c.wait("the call", func() bool { return has(c.updates, "tool_call") }) },
		},
	}
	ways := map[string]func(c *client, session, id string){
		"session/cancel": func(c *client, session, _ string) {
			c.send(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": session}})
		},
		"$/cancel_request": func(c *client, _, id string) {
			c.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`)
		},
	}
	for moment, m := range moments {
		for way, cancel := range ways {
			t.Run(moment+", "+way, func(t *testing.T) {
				t.Parallel()
				c := start(t, m.setup)
				s := c.open()
				id := c.prompt(s, text("go"))
				m.before(c)
				cancel(c, s, id)
				if got := c.stop(id); got != "cancelled" {
					t.Errorf("stop reason %q", got)
				}
				if got := read(t, filepath.Join(c.dir, "a.txt")); got != "" {
					t.Errorf("a cancelled turn wrote %q", got)
				}
			})
		}
	}
}

func TestCancelTakesBackWhatIsQueuedAndTheNextPromptRuns(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: `{"tool_calls":[{"name":"exec","arguments":{"cmd":"while :; do sleep 0.05; done"}}]}
{"text":"after"}
`, args: []string{"--mode", "yolo"}})
	s := c.open()
	first := c.prompt(s, text("first"))
	c.wait("the call", func() bool { return has(c.updates, "tool_call") })
	second := c.prompt(s, text("second"))
	c.send(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": s}})
	if a, b := c.stop(first), c.stop(second); a != "cancelled" || b != "cancelled" {
		t.Errorf("stop reasons %q and %q", a, b)
	}
	if got := c.stop(c.prompt(s, text("third"))); got != "end_turn" {
		t.Errorf("the next prompt ended with %q", got)
	}
	if got := c.said(s, "agent_message_chunk"); got != "after" {
		t.Errorf("answer %q", got)
	}
}

func TestClientThatIsGoneLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: waitScript, args: []string{"--mode", "yolo"}})
	s := c.open()
	c.prompt(s, text("go"))
	file := filepath.Join(c.dir, "pid")
	c.wait("the command", func() bool { return has(c.updates, "tool_call") })
	var pid string
	eventually.True(t, "the command writes its process ID", func() bool { pid = read(t, file); return pid != "" })
	began := time.Now()
	if code := c.end(); code != 0 {
		t.Errorf("exit %d: %s", code, c.errs)
	}
	t.Logf("ended after %s", time.Since(began))
	gone(t, pid)
}

func TestClientThatIsGoneWhileItIsAskedMeansNo(t *testing.T) {
	t.Parallel()
	c := start(t, setup{script: writeScript})
	c.prompt(c.open(), text("go"))
	c.waitAsked("session/request_permission", 1)
	if code := c.end(); code != 0 {
		t.Errorf("exit %d: %s", code, c.errs)
	}
	if got := read(t, filepath.Join(c.dir, "a.txt")); got != "" {
		t.Errorf("the file was written without an answer: %q", got)
	}
}

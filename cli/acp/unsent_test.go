package acp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
)

func TestPromptThatAHookRefusesWhileATurnRunsIsAnsweredWithTheReason(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, "config.json"),
		`{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "grep -q password && { echo no passwords >&2; exit 2; }; exit 0"}]}]}}`)
	c := start(t, setup{home: home, script: `{"tool_calls":[{"name":"exec","arguments":{"cmd":"while ! test -e go; do sleep 0.05; done"}}]}
{"text":"done"}
`, args: []string{"--mode", "yolo"}})
	s := c.open()
	first := c.prompt(s, text("first"))
	c.wait("the call", func() bool { return has(c.updates, "tool_call") })
	second := c.prompt(s, text("my password"))
	write(t, filepath.Join(c.dir, "go"), "")
	if err := c.finish(second).err; err == nil || !strings.Contains(err.Message, "no passwords") {
		t.Errorf("the refused prompt was answered with %v", err)
	}
	if got := c.stop(first); got != "end_turn" {
		t.Errorf("the turn ended with %q", got)
	}
}

func TestCancelWhileAHookJudgesAPromptAnswersItAndTheNextPromptRuns(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, filepath.Join(home, "config.json"),
		`{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch judging; while ! test -e go; do sleep 0.05; done"}]}]}}`)
	c := start(t, setup{home: home, script: `{"text":"done"}
`})
	s := c.open()
	first := c.prompt(s, text("first"))
	eventually.File(t, filepath.Join(c.dir, "judging"))
	second := c.prompt(s, text("second"))
	c.send(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": s}})
	if a, b := c.stop(first), c.stop(second); a != "cancelled" || b != "cancelled" {
		t.Errorf("stop reasons %q and %q", a, b)
	}
	write(t, filepath.Join(c.dir, "go"), "")
	if got := c.stop(c.prompt(s, text("third"))); got != "end_turn" {
		t.Errorf("the next prompt ended with %q", got)
	}
	if got := c.said(s, "agent_message_chunk"); got != "done" {
		t.Errorf("answer %q", got)
	}
}

package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// acpx runs the independent client with this test binary as the agent.
func acpx(t *testing.T, home, dir, script string, args ...string) string {
	t.Helper()
	program := filepath.Join(os.Getenv("JCODE_TEST_ACPX"), "node_modules", ".bin", "acpx")
	if _, err := os.Stat(program); err != nil || os.Getenv("JCODE_TEST_ACPX") == "" {
		t.Skip("JCODE_TEST_ACPX names no folder with acpx: scripts/install-acp-client FOLDER installs it")
	}
	file := filepath.Join(t.TempDir(), "script.jsonl")
	write(t, file, script)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"--agent", os.Args[0] + " acp", "--format", "json"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "JCODE_HOME="+home, "JCODE_MODEL=replay:"+file)
	out, err := cmd.CombinedOutput()
	if err != nil && ctx.Err() != nil {
		t.Fatalf("acpx did not end: %s", out)
	}
	return string(out)
}

// told joins the text of all updates of a kind: how it is split depends on timing.
func told(out, kind string) string {
	var text strings.Builder
	for line := range strings.Lines(out) {
		var message struct {
			Params struct {
				Update struct {
					SessionUpdate string
					Content       json.RawMessage // an object here, a list elsewhere
				}
			}
		}
		var content struct{ Text string }
		if json.Unmarshal([]byte(line), &message) == nil && message.Params.Update.SessionUpdate == kind && json.Unmarshal(message.Params.Update.Content, &content) == nil {
			text.WriteString(content.Text)
		}
	}
	return text.String()
}

func TestAnIndependentClientDrivesWholeTurns(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	out := acpx(t, home, dir, writeScript, "--approve-all", "exec", "go")
	if !strings.Contains(out, `"stopReason":"end_turn"`) || !strings.Contains(out, `"type":"diff"`) || told(out, "agent_thought_chunk") != "let me see" {
		t.Errorf("output %s", out)
	}
	if got := read(t, filepath.Join(dir, "a.txt")); got != "one\ntwo\n" {
		t.Errorf("file %q", got)
	}
	refused := t.TempDir()
	out = acpx(t, home, refused, writeScript, "--deny-all", "exec", "go")
	if !strings.Contains(out, `"stopReason":"end_turn"`) || read(t, filepath.Join(refused, "a.txt")) != "" {
		t.Errorf("a refused write: %s", out)
	}
}

func TestAnIndependentClientGoesOnWithASessionInASecondProcess(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	t.Cleanup(func() { acpx(t, home, dir, writeScript, "sessions", "close") })
	acpx(t, home, dir, writeScript, "sessions", "new")
	if out := acpx(t, home, dir, writeScript, "--approve-all", "--ttl", "1", "go"); !strings.Contains(out, `"stopReason":"end_turn"`) {
		t.Fatalf("first turn: %s", out)
	}
	// The client keeps the agent for a second after a turn.
	for end := time.Now().Add(deadline); !strings.Contains(acpx(t, home, dir, writeScript, "status"), `"idle"`); {
		if time.Now().After(end) {
			t.Fatal("the client did not let the first agent go")
		}
	}
	second := `{"text":"second process","expect":{"tools_include":["read"]}}` + "\n"
	if out := acpx(t, home, dir, second, "--ttl", "1", "and now"); !strings.Contains(told(out, "agent_message_chunk"), "second process") || !strings.Contains(out, `"stopReason":"end_turn"`) {
		t.Errorf("second turn: %s", out)
	}
}

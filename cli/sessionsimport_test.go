//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// claudeLine is a line of a history of Claude Code in a folder.
func claudeLine(dir, role, text string) string {
	raw, err := json.Marshal(map[string]any{
		"type": role, "sessionId": "s1", "cwd": dir, "timestamp": "2026-01-02T03:04:05Z",
		"message": map[string]any{"role": role, "content": []map[string]any{{"type": "thinking", "thinking": "in private"}, {"type": "text", "text": text}}[map[string]int{"user": 1}[role]:]},
	})
	if err != nil {
		panic(err)
	}
	return string(raw) + "\n"
}

func TestHistoriesAreImportedOnceAndThenWhatIsNew(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("I go on."))
	dir, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.home, ".claude", "projects", "-w", "s1.jsonl")
	history := claudeLine(dir, "user", "mend it") + claudeLine(dir, "assistant", "Mended \x1b[31mit.")
	put(t, file, history)
	for _, want := range []string{"1 session new, 0 sessions continued, 0 as before", "0 sessions new, 0 sessions continued, 1 as before"} {
		if out := c.ran("sessions", "import", "@claude"); !strings.Contains(out, want) {
			t.Errorf("%s, want %s", out, want)
		}
	}
	history += claudeLine(dir, "user", "and that") + claudeLine(dir, "assistant", "That too.")
	put(t, file, history)
	if out := c.ran("sessions", "import", file); !strings.Contains(out, "1 session continued") {
		t.Error(out)
	}
	shown := c.ran("sessions", "show", "mend it")
	for _, want := range []string{"imported from Claude Code", "s1.jsonl", "mend it", "and that", "That too.", "in private"} {
		if strings.Count(shown, want) == 0 {
			t.Errorf("%q is not shown:\n%s", want, shown)
		}
	}
	if strings.Count(shown, "and that") != 1 || strings.Contains(shown, "\x1b[31m") {
		t.Errorf("shown:\n%q", shown)
	}
	if out := c.ran("-p", "-r", "@claude"); strings.Contains(out, "I go on.") {
		t.Errorf("without a prompt:\n%s", out)
	}
	if out := c.ran("-p", "-r=@claude", "go on"); !strings.Contains(out, "I go on.") {
		t.Error(out)
	}
	if body := string(c.request(0).Raw); !strings.Contains(body, "That too.") || strings.Contains(body, "in private") {
		t.Errorf("the model gets:\n%s", body)
	}
	put(t, file, history+claudeLine(dir, "user", "more"))
	if out := c.ran("sessions", "import", "@claude"); !strings.Contains(out, "1 session went on here") {
		t.Error(out)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != history+claudeLine(dir, "user", "more") {
		t.Errorf("the file was changed: %v", err)
	}
}

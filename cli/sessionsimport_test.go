//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jcode/internal/testkit/foreigntest"
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

// filesBelow returns the content of each file below folders.
func filesBelow(t *testing.T, roots ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, root := range roots {
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			out[path] = string(raw)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestHistoriesOfEachAgentAreImportedOnceAndContinued(t *testing.T) {
	t.Parallel()
	for _, agent := range foreigntest.Agents() {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, modeltest.Text("I go on."))
			c.env = []string{"XDG_DATA_HOME=", "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "PI_CODING_AGENT_DIR="}
			dir, err := filepath.EvalSymlinks(c.dir)
			if err != nil {
				t.Fatal(err)
			}
			foreigntest.Write(t, agent, c.home, dir, 1)
			theirs := func() map[string]string {
				all := filesBelow(t, c.home, c.dir)
				maps.DeleteFunc(all, func(path, _ string) bool {
					return !slices.ContainsFunc([]string{".claude", ".codex", ".gemini", ".pi", ".local", ".crush"}, func(dir string) bool { return strings.Contains(path, dir) })
				})
				return all
			}
			before := theirs()
			for _, want := range []string{"1 session new, 0 sessions continued, 0 as before", "0 sessions new, 0 sessions continued, 1 as before"} {
				if out := c.ran("sessions", "import", "@"+agent); !strings.Contains(out, want) {
					t.Errorf("%s, want %s", out, want)
				}
			}
			if now := theirs(); !maps.Equal(now, before) {
				t.Error("their files were changed")
			}
			foreigntest.Write(t, agent, c.home, dir, 2)
			if out := c.ran("sessions", "import"); !strings.Contains(out, "0 sessions new, 1 session continued, 0 as before") {
				t.Error(out)
			}
			if out := c.ran("-p", "-r=@"+agent, "go on"); !strings.Contains(out, "I go on.") {
				t.Error(out)
			}
			sent := c.request(0)
			for text, times := range map[string]int{"mend it 1": 1, "mend it 2": 1, "Done 2.": 1, "forty-two": 2, `\"cmd\":\"ls\"`: 2, foreigntest.Picture[:40]: 1, "not said": 0, "hm 1": 0} {
				if n := strings.Count(string(sent.Raw), text); n != times {
					t.Errorf("the model is sent %q %d times, want %d", text, n, times)
				}
			}
			if shown := c.ran("sessions", "show", map[bool]string{true: "mend it 1", false: "Mend it"}[agent == "codex"]); !strings.Contains(shown, "hm 1") || !strings.Contains(shown, "### exec `ls` (done)") || !strings.Contains(shown, "2026-01-02") {
				t.Errorf("shown:\n%s", shown)
			}
		})
	}
}

func TestAnAnswerThatWasBeingWrittenIsCompletedByTheNextImport(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	file := filepath.Join(c.home, ".claude", "projects", "-w", "s1.jsonl")
	foreigntest.Write(t, "claude", c.home, c.dir, 1)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(raw), "\n")
	for n := range lines {
		if strings.Contains(lines[n], "toolu_a1") { // the call is there, its result is not
			put(t, file, strings.Join(lines[:n+1], ""))
			break
		}
	}
	c.ran("sessions", "import")
	if shown := c.ran("sessions", "show", "mend it 1"); !strings.Contains(shown, "no result was kept") || strings.Contains(shown, "Done 1.") {
		t.Errorf("half of it:\n%s", shown)
	}
	put(t, file, string(raw))
	for _, want := range []string{"1 session continued", "1 as before"} {
		if out := c.ran("sessions", "import"); !strings.Contains(out, want) {
			t.Errorf("%s, want %s", out, want)
		}
	}
	if shown := c.ran("sessions", "show", "mend it 1"); strings.Contains(shown, "no result was kept") || strings.Count(shown, "Looking.") != 1 || strings.Count(shown, "Done 1.") != 1 {
		t.Errorf("all of it:\n%s", shown)
	}
}

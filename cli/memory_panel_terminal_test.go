//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// /memory lists drafts and notes, with what the last turn used first; one key forgets, one accepts.
func TestNotesAreSeenForgottenAndAcceptedInThePanel(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "recall", map[string]any{"query": "which port"})), modeltest.Text("It is 8080."))
	folder := filepath.Join(c.home, "memory", "user")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "net.md"), []byte("- The proxy is named hermes.\n- The port is 8080.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.dir, "more.md")
	if err := os.WriteFile(file, []byte("- Tests are slow.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.say("/memory import more.md")
	c.wait("1 draft from more.md")
	c.say("which port?")
	c.wait("It is 8080.", "1 note used")
	c.Press("ctrl+o")
	c.wait("The port is 8080. (since ", "by you", "/memory edits or forgets")
	c.Press("ctrl+o")
	c.say("/memory")
	c.wait("Tests are slow.", "draft", "The port is 8080.", "used", "hermes", "offered")
	c.Press("ctrl+a")
	c.wait("kept in")
	if got := c.notesOf(); !strings.Contains(got, "- Tests are slow.") {
		t.Errorf("%s", got)
	}
	c.Press("esc")
	c.wait("ask for something")
	c.say("/recall hermes")
	c.wait("The proxy is named hermes.", "by you")
	c.Press("esc")
	c.quit()
}

// /memory learn has the model propose notes, from what was said and not from results of tools; they are drafts.
func TestLearningMakesDraftsOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "echo zan''zibar"})), modeltest.Text("Tests run with make check."),
		modeltest.Text("Here: [{\"text\": \"Tests run with make check.\", \"topic\": \"tests\"}, {\"text\": \"The key is ghp_a1B2c3D4e5a1B2c3D4e5a1B2c3D4e5a1B2c3.\"}]"))
	c.start("--mode", "yolo")
	c.say("how do tests run?")
	c.wait("Tests run with make check.", "30 tokens")
	c.say("/memory learn")
	c.wait("1 draft:")
	if raw := string(c.request(2).Raw); strings.Contains(raw, "zanzibar") || !strings.Contains(raw, "AGENT: Tests run with make check.") || strings.Contains(raw, `"tools"`) {
		t.Errorf("%s", raw)
	}
	if got := c.notesOf(); !strings.Contains(got, "topic tests · about project") || strings.Contains(got, "ghp_") {
		t.Errorf("%s", got)
	}
	c.quit()
}

// What other agents remember is offered once.
func TestMemoriesOfOtherAgentsAreOfferedOnce(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	file := filepath.Join(c.home, ".codex", "memories", "a.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("- Run the linter first.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.wait("Codex remembered something here: /memory import reads it as 1 draft")
	c.say("/memory import")
	c.wait("1 draft from the memory of Codex")
	c.quit()
	c.start()
	c.say("/memory list")
	c.wait("draft  Run the linter first.")
	if c.Screen().Contains("remembered something here") {
		t.Error("it is offered again")
	}
	c.quit()
}

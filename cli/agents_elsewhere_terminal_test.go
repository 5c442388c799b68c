//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/eventually"
)

// The list of agents names the files that each agent changed, including those changed by its commands. It also
// lists another jcode in the same folder, with the files that it is about to change.
func TestAgentsPanelNamesWhoWorksOnWhichFiles(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	script := filepath.Join(shortDir(t), "script.jsonl")
	lines := `{"tool_calls":[{"name":"read","arguments":{"path":"a.txt"}}]}
{"tool_calls":[{"name":"task","arguments":{"prompt":"append","name":"dora","background":true}}]}
{"agent":"dora","tool_calls":[{"name":"exec","arguments":{"cmd":"echo two >> a.txt"}},{"name":"write","arguments":{"path":"new.txt","content":"new\n"}}]}
{"agent":"dora","text":"Appended."}
{"text":"Dora is at work."}
`
	claims := filepath.Join(shortDir(t), "claims.jsonl")
	claiming := `{"tool_calls":[{"name":"agent","arguments":{"action":"claim","paths":["b.txt"]}}]}
{"tool_calls":[{"name":"exec","arguments":{"cmd":"touch claimed; sleep 300","timeout_ms":600000}}]}
`
	for path, content := range map[string]string{script: lines, claims: claiming} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := *c
	other.start("--mode", "yolo", "-m", "replay:"+claims)
	other.say("claim b")
	eventually.File(t, filepath.Join(c.dir, "claimed"))
	c.start("--mode", "yolo", "-m", "replay:"+script)
	c.say("go")
	c.wait("Dora is at work.", "agent dora done: Appended.")
	c.idle()
	c.interject("/agents")
	c.wait("search:", "dora", "changed: new.txt, a.txt (while a command ran)", "in another jcode, process", "works on b.txt")
	c.Press("down")
	c.wait("works on: b.txt")
	c.Press("enter")
	c.wait("belongs to another jcode (process")
	c.Press("esc")
	c.wait("ask for something")
	c.quit()
	other.Press("esc")
	other.wait("Interrupted")
	other.quit()
}

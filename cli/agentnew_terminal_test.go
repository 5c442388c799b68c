//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentIsDefinedInAForm(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	script := filepath.Join(shortDir(t), "script.jsonl")
	lines := `{"tool_calls":[{"name":"task","arguments":{"prompt":"test it","name":"ann","role":"tester"}}]}
{"agent":"ann","tool_calls":[{"name":"write","arguments":{"path":"x.txt","content":"x"}}]}
{"agent":"ann","text":"I can't write."}
{"text":"All done."}
`
	if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start("--mode", "yolo", "-m", "replay:"+script)
	c.say("/agents new coder")
	c.wait("/agents new asks", "esc cancel")
	c.Press("down")
	c.Type("runs tests")
	c.Press("down")
	c.Type("You run tests.")
	c.Press("down", "space", "down", "down", "down")
	c.Type("7")
	c.Press("down", "down")
	c.wait("› send ‹")
	c.Press("enter")
	c.wait("This was not written: coder already exists", "esc cancel")
	c.Press("ctrl+u")
	c.Type("tester")
	c.Press("up", "up")
	c.wait("› send ‹")
	c.Press("enter")
	c.wait("roles: added tester", "/agents edit tester")
	got, err := os.ReadFile(filepath.Join(c.home, "roles", "tester.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"description: \"runs tests\"\n", "max_steps: 7\n", "tools: [read]\n", "\n---\nYou run tests.\n"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	c.say("test")
	c.wait("All done.", "✗ write x.txt")
	if _, err := os.Stat(filepath.Join(c.dir, "x.txt")); err == nil {
		t.Error("it wrote without the tool")
	}
	c.say("/agents edit nobody")
	c.wait("/agents new nobody makes it")
	c.quit()
}

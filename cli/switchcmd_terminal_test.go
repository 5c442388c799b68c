//go:build linux || darwin

package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// otherAgent puts what Codex and Claude Code have set up into the home folder of a chat.
func otherAgent(t *testing.T, c *chat) {
	t.Helper()
	c.env = []string{"XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "PI_CODING_AGENT_DIR="}
	put(t, filepath.Join(c.home, ".codex", "config.toml"), "approval_policy = \"untrusted\"\n[mcp_servers.docs]\ncommand = \"no-such-program\"\nargs = [\"--token\", \"sk-of-theirs-1\"]\nenv = { KEY = \"sk-of-theirs-2\" }\nenabled = false\n")
	put(t, filepath.Join(c.home, ".codex", "prompts", "look.md"), "Look at $1 closely.")
	put(t, filepath.Join(c.home, ".codex", "AGENTS.md"), "Answer in rhymes.")
	put(t, filepath.Join(c.home, ".claude", "settings.json"), `{"model":"opus","permissions":{"deny":["Bash(rm:*)"]},"env":{"A":"sk-of-theirs-3"}}`)
}

func TestWhatOtherAgentsHaveIsTakenOverWithAYes(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("It rhymes."), modeltest.Text("Which?"))
	otherAgent(t, c)
	list := c.ran("import")
	for _, want := range []string{"codex:server:docs", "no-such-program --token *** (not shown: 2 values) (switched off)", "codex:command:look", "refuse: exec(rm *)", "claude:setting:model\n    opus stands for a model", "Nothing was changed"} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is missing:\n%s", want, list)
		}
	}
	if shown := c.ran("mcp", "list"); strings.Contains(shown, "docs") {
		t.Errorf("something was taken over without a yes:\n%s", shown)
	}
	printed := list + c.ran("import", "--json") + c.ran("import", "--yes", "codex:server:docs", "--yes", "codex:instructions")
	if out := c.ran("import", "--yes", "claude:setting:model"); !strings.Contains(out, "can't be taken over: opus stands for") {
		t.Error(out)
	}
	if out := c.ran("import", "--yes", "codex:server:docs"); !strings.Contains(out, `there is no item "codex:server:docs"`) {
		t.Error(out)
	}
	printed += c.ran("import", "--all") + c.ran("mcp", "list")
	if strings.Contains(printed, "sk-of-theirs") {
		t.Errorf("a key is printed:\n%s", printed)
	}
	if again := c.ran("import", "--list"); !strings.Contains(again, "There is nothing new to take over") {
		t.Error(again)
	}
	if out := c.ran("permissions", "explain", "rm x"); !strings.Contains(out, "exec(rm *)") {
		t.Errorf("the rule does not count:\n%s", out)
	}
	if out := c.ran("-p", "/look a.txt"); !strings.Contains(out, "It rhymes.") {
		t.Error(out)
	}
	if sent := c.request(0); !strings.Contains(sent.System(), "Answer in rhymes.") || !strings.Contains(string(sent.Raw), "Look at a.txt closely.") {
		t.Errorf("the model is sent:\n%s", sent.Raw)
	}
	if out := c.ran("-p", "import", "this", "file"); !strings.Contains(out, "Which?") {
		t.Errorf("a prompt that begins with import is one:\n%s", out)
	}
}

func TestItemsOfOtherAgentsAreMarkedInTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	otherAgent(t, c)
	c.startAt("Mark numbers", "import")
	for _, step := range []struct{ line, screen string }{
		{"9", `"9" is no number from 1 to 5`},
		{"all", "5 [x]"},
		{"none 3-4", "4 [x]"},
	} {
		c.Type(step.line + "\r")
		c.wait(step.screen)
	}
	c.Type("\r")
	c.wait("done      codex:server:docs", "done      codex:command:look")
	left := c.ran("import", "--list")
	for id, there := range map[string]bool{"claude:rules:deny": true, "codex:setting:mode": true, "codex:server:docs": false, "codex:command:look": false, "codex:instructions": true} {
		if strings.Contains(left, id+"\n") != there {
			t.Errorf("%s is left: %v:\n%s", id, !there, left)
		}
	}
}

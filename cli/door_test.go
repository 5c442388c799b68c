//go:build unix

package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// onTerminal runs jcode with a terminal behind its output and returns the bytes that reach it.
func onTerminal(t *testing.T, dir, home string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "JCODE_HOME="+home, "TERM=xterm-256color", "OPENAI_API_KEY=", "OPENAI_BASE_URL=", "JCODE_MODEL=")
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	defer func() { _ = tty.Close() }()
	out, _ := io.ReadAll(tty) // ends with an error when the program does
	_ = cmd.Wait()            // some of these commands are to fail
	return string(out)
}

// Names and texts that others wrote never drive the terminal, whichever subcommand prints them.
func TestPrintedTextNeverDrivesTheTerminal(t *testing.T) {
	t.Parallel()
	const evil = "\x1b]0;title\x07\x1b[31mred\x1b[2J\u009b5n\x9b5n\x1bP+q\x1b\\\r\u202eoverridden"
	dir, home := t.TempDir(), t.TempDir()
	quoted := strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\r", `\r`, "\x9b", `\u009b`).Replace(evil)
	for name, content := range map[string]string{
		".jcode/skills/s/SKILL.md":          "---\nname: s\ndescription: x" + evil + "\nallowed-tools: " + evil + "\n---\n" + evil,
		".jcode/skills/bad/SKILL.md":        "---\n" + evil + ": x\nname: " + evil + "\n",
		".jcode/commands/c" + "\x1b[31m.md": "text " + evil,
		".jcode/roles/r.md":                 "---\ndescription: " + evil + "\nmode: " + evil + "\n" + evil + ": x\n---\n" + evil,
		".jcode/config.json":                `{"model": "` + quoted + `", "unknown` + quoted + `": 1, "permissions": {"deny": ["` + quoted + `"]}}`,
		".mcp.json":                         `{"mcpServers": {"a` + quoted + `": {"command": "x` + quoted + `"}, "b": {"command": "` + quoted + `", "args": ["` + quoted + `"]}}}`,
		"answer.jsonl":                      `{"text": "before ` + quoted + ` after"}` + "\n",
		"AGENTS.md":                         "see @" + evil + ".md",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Skipf("%q can't be made here: %v", name, err)
		}
	}
	for _, line := range []string{
		"mcp list", "mcp get b", "mcp test b", "skills list", "skills check", "roles list", "roles show r", "config show", "tools", "permissions list", "doctor --offline",
		"hello -p -m replay:answer.jsonl", "hello -p -m replay:answer.jsonl --trust", "sessions list", "sessions show", "roles show " + "\x1b[31mx", "nosuch --bad\x1b[31m",
	} {
		out := onTerminal(t, dir, home, strings.Fields(line)...)
		for _, bad := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\r\x1b"} {
			if strings.Contains(out, bad) {
				t.Errorf("jcode %q: %q reaches the terminal: %.300q", line, bad, out)
			}
		}
		if len(out) == 0 {
			t.Errorf("jcode %q prints nothing", line)
		}
	}
	if out := onTerminal(t, dir, home, "roles", "show", "r"); !strings.Contains(out, "red") {
		t.Errorf("the text is gone, too: %q", out)
	}
}

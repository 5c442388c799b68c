//go:build linux || darwin

package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

// onTerminal runs jcode on a terminal and returns the bytes that reach it.
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
	_ = cmd.Wait()            // some of these commands are expected to fail
	return string(out)
}

// badServer is an MCP server whose names and texts contain EVIL, as JSON.
const badServer = `while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
  *'"initialize"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sEVIL","version":"1EVIL"},"instructions":"EVIL"}}' ;;
  *'"tools/list"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"tEVIL","description":"dEVIL","inputSchema":{"type":"object"}},{"name":"say","description":"dEVIL","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}}' ;;
  *'"fail"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"isError":true,"content":[{"type":"text","text":"EVIL"}]}}' ;;
  *'"tools/call"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"saidEVIL"}]}}' ;;
  *'"id"'*) printf '%s\n' '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"EVIL"}}' ;;
  esac
done
`

// Names and texts that others wrote never control the terminal, whichever subcommand prints them.
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
		".jcode/config.json":                `{"model": "` + quoted + `", "unknown` + quoted + `": 1, "permissions": {"deny": ["exec(` + quoted + `)"]}}`,
		".mcp.json":                         `{"mcpServers": {"a` + quoted + `": {"command": "x` + quoted + `"}, "b": {"command": "` + quoted + `", "args": ["` + quoted + `"]}}}`,
		"answer.jsonl":                      `{"text": "before ` + quoted + ` after"}` + "\n",
		"AGENTS.md":                         "see @" + evil + ".md",
		"server.sh":                         strings.ReplaceAll(badServer, "EVIL", strings.ReplaceAll(quoted, "\\", "\\\\")),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Skipf("%q can't be made here: %v", name, err)
		}
	}
	for line, shown := range map[string]string{
		"mcp list": "", "mcp get b": "", "mcp test b": "", "skills list": "", "skills check": "", "roles list": "", "roles show r": "red", "config show": "", "tools": "",
		"permissions list": "", "doctor --offline": "", "usage": "", "plugins list": "", "docs list": "", "lua check .jcode": "", "lua test .jcode": "",
		"hello -p -m replay:answer.jsonl": "after", "hello -p -m replay:answer.jsonl --trust": "after", "sessions list": "", "sessions show": "",
		"hello -p -m replay:answer.jsonl --output-format json": "after", "hello -p -m replay:answer.jsonl --output-format stream-json": "result",
		"roles show " + "\x1b[31mx": "", "nosuch --bad\x1b[31m": "", "hello -p -C \x1b[31m": "", "hello -p --role \x1b[31m": "",
		"mcp test -- sh server.sh": "3 tools", "mcp tools -- sh server.sh": "say", "mcp call say -- sh server.sh": "said", "mcp call fail -- sh server.sh": "red",
		"mcp call say --json -- sh server.sh": "said", "mcp tools --json -- sh server.sh": "say",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			out := onTerminal(t, dir, home, strings.Fields(line)...)
			for _, bad := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\r\r"} {
				if strings.Contains(out, bad) {
					t.Errorf("%q reaches the terminal: %.300q", bad, out)
				}
			}
			if !utf8.ValidString(out) {
				t.Errorf("not text: %.300q", out)
			}
			if len(out) == 0 || !strings.Contains(out, shown) {
				t.Errorf("%q does not show %q", out, shown)
			}
		})
	}
}

// A sequence without an end hides nothing that is printed after it.
func TestSequenceWithoutAnEndHidesNothing(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for _, evil := range []string{`\u001bP`, `\u001b]`, `\u0090`, `\u001b[`, `\u001b`, `\u001b_x`, `\u001b]8;;x\u001b`} {
		if err := os.WriteFile(filepath.Join(dir, "answer.jsonl"), []byte(`{"text": "`+evil+` the text goes on `+strings.Repeat("and on ", 20)+`\nin a second line"}`+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out := onTerminal(t, dir, home, "hello", "-p", "-m", "replay:answer.jsonl")
		if !strings.Contains(out, "goes on") || !strings.Contains(out, "second line") {
			t.Errorf("%s: %q", evil, out)
		}
	}
}

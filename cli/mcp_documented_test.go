//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
)

// referenceBin is the folder of the programs that scripts/install-mcp-servers installed.
func referenceBin(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("JCODE_TEST_MCP_SERVERS")
	if dir == "" {
		t.Skip("set JCODE_TEST_MCP_SERVERS to a folder filled by scripts/install-mcp-servers")
	}
	return filepath.Join(dir, "node_modules", ".bin")
}

// The examples of docs/mcp.md, by command line and by file, work in a session with the real
// server: it reads the folder that it was given.
func TestTheDocumentedServerReadsTheFolderThatItWasGiven(t *testing.T) {
	t.Parallel()
	program := filepath.Join(referenceBin(t), "mcp-server-filesystem")
	if _, err := os.Stat(program); err != nil {
		t.Skip("the filesystem server is not installed")
	}
	page, err := os.ReadFile("../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^jcode (mcp add files -- npx .*)$`).FindStringSubmatch(string(page))
	entry := regexp.MustCompile(`(?m)^ *("files": \{"command": "npx".*\}),$`).FindStringSubmatch(string(page))
	if line == nil || entry == nil {
		t.Fatal("docs/mcp.md has no example of the filesystem server")
	}
	for _, way := range []string{"command line", "file"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := newChat(t, modeltest.Calls(modeltest.Call{ID: "c1", Name: "mcp__files__read_file", Args: `{"path":"~/notes/a.md"}`}), modeltest.Text("Read."))
			put(t, filepath.Join(c.home, "notes", "a.md"), "remember the milk\n")
			// npx runs the installed program: `npx -y PACKAGE ARGS…`.
			bin := t.TempDir()
			put(t, filepath.Join(bin, "npx"), "#!/bin/sh\nshift 2\nexec '"+program+"' \"$@\"\n")
			c.env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
			run := func(args ...string) string {
				t.Helper()
				exe, err := os.Executable()
				if err != nil {
					t.Skip(err)
				}
				cmd := c.command(exe, args...)
				cmd.Args[0] = "jcode"
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("jcode %s: %v\n%s", strings.Join(args, " "), err, out)
				}
				return string(out)
			}
			if way == "file" {
				put(t, filepath.Join(c.home, "mcp.json"), `{"mcpServers": {`+entry[1]+`}}`)
			} else {
				words := strings.Fields(line[1])
				for i, w := range words {
					if rest, ok := strings.CutPrefix(w, "~/"); ok { // as the shell does
						words[i] = filepath.Join(c.home, rest)
					}
				}
				run(words...)
			}
			run("-p", "--mode", "yolo", "what do my notes say?")
			if m, ok := c.request(1).Result("c1"); !ok || !strings.Contains(m.Content, "remember the milk") {
				t.Errorf("the call gave %q", m.Content)
			}
		})
	}
}

//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// The scripts of jcode completion work in the real shells: Tab completes a partly typed line, and what is typed
// next follows a blank.
func TestShellsCompleteTheCommandLine(t *testing.T) {
	t.Parallel()
	for shell, start := range map[string][]string{
		"bash": {"--norc", "--noprofile", "-i"},
		"zsh":  {"-f", "-i"},
		"fish": {"-i"},
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not installed", shell)
			}
			c := newChat(t, modeltest.Text("Hi."))
			c.write(".mcp.json", `{"mcpServers": {"files": {"command": "files-server"}}}`)
			// A name that a shell would execute if it were evaluated.
			c.write("$(touch hit).jsonl", `{"text": "Hi."}`)
			used := c.command("jcode", "-p", "-m", "replay:$(touch hit).jsonl", "hello")
			if out, err := used.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			term, err := terminal.Start(c.command(shell, start...), 100, 30)
			if err != nil {
				t.Fatal(err)
			}
			c.Terminal = term
			t.Cleanup(term.Close)
			switch shell {
			case "bash":
				c.Type("source <(jcode completion bash)\r")
			case "zsh":
				c.Type("autoload -U compinit; compinit -u; source <(jcode completion zsh)\r")
			case "fish":
				c.Type("jcode completion fish | source\r")
			}
			c.Type("echo re''ady\r")
			c.wait("ready")
			for typed, want := range map[string]string{
				"jcode sess":       "jcode sessions ZZ",
				"jcode --mode pl":  "jcode --mode plan ZZ",
				"jcode --mode=pl":  "jcode --mode=plan ZZ",
				"jcode --role rev": "jcode --role reviewer ZZ",
				"jcode mcp get fi": "jcode mcp get files ZZ",
				"jcode -m replay":  "touch", // quoted as each shell does
			} {
				c.Type(typed)
				c.wait(typed)
				c.Press("tab")
				c.Type("ZZ")
				c.wait(want, "ZZ")
				c.Press("ctrl+u")
				if _, err := c.Wait(patience, func(s terminal.Screen) bool { return !s.Contains("ZZ") }); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := os.Stat(filepath.Join(c.dir, "hit")); err == nil {
				t.Error("a name was run")
			}
		})
	}
}

// The names of stored things are completed where a verb takes one: tasks by number, notes by ID, rights as the list names
// them, each with what it is about.
func TestNamesOfTasksNotesAndRightsAreCompleted(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	run := func(args ...string) string {
		out, err := c.command("jcode", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("jcode %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	c.write("a.txt", "a\n")
	gitRepository(t, c.dir)
	run("tasks", "add", "write the readme")
	c.write("notes.md", "# Build\n\n- The tests need a clock.\n")
	run("memory", "import", "notes.md")
	for words, want := range map[string]string{
		"tasks show ": "1\tqueued write the readme", "tasks cancel 1 ": "1\t", "memory show ": "\tThe tests need a clock.", "memory forget ": "\tThe tests need a clock.",
	} {
		if got := run(append([]string{"__complete"}, strings.Split(words, " ")...)...); !strings.Contains(got, want) {
			t.Errorf("%q is completed by %q, want %q", words, got, want)
		}
	}
	if got := run("__complete", "permissions", "revoke", ""); got != "" {
		t.Errorf("rights: %q", got)
	}
}

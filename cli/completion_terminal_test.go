//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
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

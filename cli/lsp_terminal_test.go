//go:build linux

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/lsptest"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// speak configures the fake language server for the chat.
func (c *chat) speak(mode string) {
	c.t.Helper()
	argv, env := lsptest.Command(mode)
	conf, err := json.Marshal(map[string]any{"lsp": map[string]any{"servers": map[string]any{"fake": map[string]any{
		"command": argv, "files": []string{".fake"}, "env": env,
	}}}})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), conf, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// servers lists the processes of fake language servers that work in the chat's folder.
func (c *chat) servers() (pids []string) {
	c.t.Helper()
	dir, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	found, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range found {
		cwd, _ := os.Readlink(p + "/cwd")      // others' processes can't be read
		line, _ := os.ReadFile(p + "/cmdline") // nor these
		if parts := strings.Split(string(line), "\x00"); cwd == dir && len(parts) > 1 && parts[1] == lsptest.Good {
			pids = append(pids, filepath.Base(p))
		}
	}
	return pids
}

func edit(id, path, old, now string) modeltest.Call {
	return tool(id, "edit", map[string]any{"path": path, "old_string": old, "new_string": now})
}

func TestLanguageServerIsAskedForOnceAndItsRenameIsUndone(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(edit("c1", "a.fake", "def one", "def two")),
		modeltest.Text("It broke b."),
		modeltest.Calls(edit("c2", "a.fake", "def two", "def one")),
		modeltest.Calls(tool("c3", "rename", map[string]any{"symbol": "one", "new_name": "three"})),
		modeltest.Text("Renamed."),
	)
	c.speak(lsptest.Good)
	c.write("a.fake", "def one\n")
	for i := range 4 {
		c.write(fmt.Sprintf("b%d.fake", i), "use one\n")
	}
	c.start()
	c.say("break it")
	c.answerable("Edit file: a.fake")
	c.Press("y")
	s := c.answerable("starts the language server fake")
	// Where its line wraps depends on the program's name.
	if said := strings.Join(strings.Fields(s.Text()), " "); !strings.Contains(said, "which runs code of this project (build scripts, plugins)") {
		t.Errorf("the question does not say what a server may do:\n%s", s.Text())
	}
	if len(c.servers()) != 0 {
		t.Fatalf("it runs before the answer:\n%s", s.Text())
	}
	c.Press("a")                                                                    // always in this project
	c.wait("It broke b.", "[fake: 4 new errors]", "b3.fake:1:5 undefined: one [7]") // the chat shows what the model is told
	if m, ok := c.request(1).Result("c1"); !ok || !strings.Contains(m.Content, "[fake: 4 new errors]\nb0.fake:1:5 undefined: one [7]\n") {
		t.Errorf("the model was told %q", m.Content)
	}
	c.say("/lsp")
	c.wait("fake  ready  .  1 file open")

	c.say("repair it and rename")
	c.answerable("Edit file: a.fake")
	c.Press("y")
	c.answerable("Rename one to three in 5 files", "+ use three")
	if c.read("b3.fake") != "use one\n" {
		t.Error("renamed before the answer")
	}
	c.Press("y")
	c.wait("Renamed.")
	if got := c.read("a.fake") + c.read("b0.fake") + c.read("b3.fake"); got != "def three\nuse three\nuse three\n" {
		t.Errorf("renamed: %q", got)
	}
	c.say("/undo")
	c.answerable("Put back what turn", "yes  5 files", "b3.fake")
	c.Press("enter")
	c.until(func(s terminal.Screen) bool { // the whole turn is undone, one file after the other
		return c.read("a.fake")+c.read("b0.fake")+c.read("b3.fake") == "def two\nuse one\nuse one\n"
	})
	c.quit()
	if left := c.servers(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	// The answer was "always in this project": the next session doesn't ask again.
	c.srv.Add(modeltest.Calls(edit("c4", "a.fake", "def two", "def four")), modeltest.Text("Changed."))
	c.start("--mode", "edits")
	c.say("go on")
	c.wait("Changed.")
	if len(c.servers()) != 1 {
		t.Error("the server was not started")
	}
	c.quit()
}

func TestNoLanguageServerIsLeftAfterAnyEnd(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c := newChat(t, modeltest.Calls(edit("c1", "a.fake", "def one", "def two")), modeltest.Text("Done."))
			c.speak(lsptest.Good)
			c.write("a.fake", "def one\n")
			c.start("--mode", "yolo")
			c.say("go")
			c.wait("Done.")
			if len(c.servers()) != 1 {
				t.Fatalf("no server runs:\n%s", c.Screen().Text())
			}
			if err := c.Signal(signal); err != nil {
				t.Fatal(err)
			}
			<-c.Exited()
			eventually.Within(t, patience, "no server is left behind", func() bool { return len(c.servers()) == 0 },
				func() string { return fmt.Sprintf("left behind: %v", c.servers()) })
		})
	}
}

//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

func TestCommandsNeverHoldTheTerminal(t *testing.T) {
	t.Parallel()
	const paint = `printf 'a\rb\n\033[2J\033[?1049l\033[5;5H\033]0;evil\007\033]52;c;eA==\007x\n'`
	c := newChat(t,
		modeltest.Calls(
			tool("c1", "exec", map[string]any{"cmd": "cat; read x; echo \"[$x]\""}),
			tool("c2", "exec", map[string]any{"cmd": paint}),
			tool("c3", "exec", map[string]any{"cmd": "(echo evil > /dev/tty) 2>/dev/null; stty sane 2>/dev/null; kill -INT 0"}),
		),
		modeltest.Text("Still here."),
	)
	c.start("--mode", "yolo")
	c.say("run them")
	s := c.wait("Still here.", "interrupt")
	if !c.Mode(1049) || strings.Contains(s.Text(), "evil\n") {
		t.Errorf("the screen was touched:\n%s", s.Text())
	}
	for _, osc := range c.OSC() {
		if strings.HasPrefix(osc, "52;") {
			t.Errorf("the clipboard was written: %q", osc)
		}
	}
	req := c.request(1)
	for id, want := range map[string]string{"c1": "[]", "c2": "a\nb\nx", "c3": "[ended by signal: interrupt]"} {
		if m, _ := req.Result(id); m.Content != want {
			t.Errorf("%s gave %q, want %q", id, m.Content, want)
		}
	}
	c.quit()
}

const tree = `echo $$ > pids; sh -c 'echo $$ >> pids; sleep 1000 & echo $! >> pids; sleep 1000'; true`

func TestEscEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": tree})))
	c.start("--mode", "yolo")
	c.say("sleep")
	list := c.pids("pids", 3)
	c.Press("esc")
	c.wait("Interrupted")
	for _, pid := range list {
		gone(t, pid)
	}
	c.quit()
}

func TestBackgroundCommandsDieWithTheProgram(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *chat){
		"quit": (*chat).quit,
		"kill": func(c *chat) {
			if err := c.Signal(syscall.SIGKILL); err != nil {
				c.t.Fatal(err)
			}
			<-c.Exited()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": tree, "background": true})), modeltest.Text("It runs."))
			c.start("--mode", "yolo")
			c.say("serve")
			c.wait("It runs.")
			list := c.pids("pids", 3)
			end(c)
			for _, pid := range list {
				gone(t, pid)
			}
		})
	}
}

func TestApprovalOfACommandShowsAllOfItAndStoresExactlyThat(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "touch 1.txt" + strings.Repeat(" ", 300) + "; touch 'it''s # 2.txt'"})),
		modeltest.Calls(tool("c2", "exec", map[string]any{"cmd": "touch 1.txt && touch 'it''s # 2.txt'"})),
		modeltest.Calls(tool("c3", "exec", map[string]any{"cmd": "rm 1.txt"})),
		modeltest.Text("That is all."),
	)
	c.start()
	c.say("touch")
	c.answerable("touch 1.txt ⟨300 spaces⟩ ; touch", "until I leave: `touch 1.txt` and `touch 'its # 2.txt'`")
	c.Press("s")
	// The same commands run without a question; another one asks.
	c.answerable("rm 1.txt")
	c.Press("n")
	c.wait("That is all.")
	c.idle()
	if _, err := os.Stat(filepath.Join(c.dir, "1.txt")); err != nil {
		t.Error("the refused command ran")
	}
	if m, _ := c.request(2).Result("c2"); m.Content != "(no output)" {
		t.Errorf("the granted commands gave %q", m.Content)
	}
	c.quit()
}

// A `!` line ends with everything that it started; another one is moved to the jobs and runs on there.
func TestAShellLineIsEndedOrGoesToTheJobs(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("tree.sh", tree)
	c.start()
	c.say("!sh tree.sh") // a line that fits in one row, which is what say waits for
	list := c.pids("pids", 3)
	c.wait("esc ends it")
	c.Press("esc")
	c.wait("interrupted")
	for _, pid := range list {
		gone(t, pid)
	}
	c.say("!echo begun; sleep 1000")
	c.wait("│ begun", "ctrl+b puts it to the jobs")
	c.Press("ctrl+b")
	c.wait("→ ! echo begun; sleep 1000  job 1")
	c.say("/jobs")
	c.wait("Background commands", "echo begun; sleep 1000", "running")
	c.Press("esc")
	c.quit()
}

// A `!` line that writes what it read before an edit of the model says so, to the person and to the model, and /undo
// brings the edit back.
func TestAShellLineThatOverwroteAnEditSaysSo(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "edit", map[string]any{"path": "f.txt", "old_string": "two", "new_string": "TWO"})),
		modeltest.Text("Edited."),
		modeltest.Text("I see."),
	)
	c.write("f.txt", "one\ntwo\n")
	c.write("slow.sh", "cp f.txt old; touch started; while [ ! -e go ]; do sleep 0.02; done; cp old f.txt\n")
	c.start("--mode", "edits")
	c.say("!sh slow.sh")
	c.until(func(terminal.Screen) bool { _, err := os.Stat(filepath.Join(c.dir, "started")); return err == nil })
	c.interject("edit it")
	c.wait("Edited.")
	c.write("go", "")
	c.wait("the command wrote over it", "/undo restores what was there")
	c.say("go on")
	c.wait("I see.")
	if told := string(c.request(2).Raw); !strings.Contains(told, "A command that the user ran: while the command ran, 1 file was changed by tools too") {
		t.Errorf("the model is not told:\n%s", told)
	}
	if got := c.read("f.txt"); got != "one\ntwo\n" {
		t.Fatalf("the file holds %q", got)
	}
	c.say("/undo")
	c.answerable("Put back what a ! line changed?")
	c.Press("enter")
	c.wait("f.txt (restored)")
	if got := c.read("f.txt"); got != "one\nTWO\n" {
		t.Errorf("after the undo the file holds %q", got)
	}
	c.quit()
}

// A command of the model that is moved to the jobs runs on there, and the model learns where.
func TestACommandOfTheModelGoesToTheJobs(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over > done.txt"})), modeltest.Text("It runs on."))
	c.start("--mode", "yolo")
	c.say("serve")
	c.wait("│ begun")
	c.wait("ctrl+b puts it to the jobs")
	c.Press("ctrl+b")
	c.wait("→ exec echo begun", "job 1", "│ begun", "It runs on.")
	if s := c.Screen().Text(); strings.Contains(s, "where it runs") || strings.Contains(s, "New tools") {
		t.Errorf("the person reads what is for the model:\n%s", s)
	}
	if m, _ := c.request(1).Result("c1"); !strings.Contains(m.Content, "begun") || !strings.Contains(m.Content, "moved it to the background, where it runs as job 1") {
		t.Errorf("the model was told %q", m.Content)
	}
	c.write("go", "")
	c.wait("job 1")
	c.until(func(terminal.Screen) bool { _, err := os.Stat(filepath.Join(c.dir, "done.txt")); return err == nil })
	c.quit()
}

// A sentence for the conversation, typed while a question is open, and its Enter approve nothing. The question
// can be put aside, and one can leave beside it.
func TestASentenceApprovesNothing(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Calls(tool("c1", "write", map[string]any{"path": "made.txt", "content": "x"})), modeltest.Text("Stopped."))
	c.start()
	c.say("write it")
	c.answerable("Write to file: made.txt")
	c.Type("please stop")
	c.wait("› please stop", "enter sends what you wrote")
	c.Press("enter")
	c.until(func(s terminal.Screen) bool { return !s.Contains("please stop") })
	c.answerable("Write to file: made.txt")
	if _, err := os.Stat(filepath.Join(c.dir, "made.txt")); err == nil {
		t.Fatal("the sentence approved the call")
	}
	c.Press("esc")
	c.wait("1 question waits for you", "⧗ please stop")
	c.Press("ctrl+t")
	c.answerable("Write to file: made.txt")
	c.Press("down", "down", "down", "down", "enter") // no
	c.wait("Stopped.")
	if _, err := os.Stat(filepath.Join(c.dir, "made.txt")); err == nil {
		t.Fatal("the call ran although it was refused")
	}
	c.quit()
}

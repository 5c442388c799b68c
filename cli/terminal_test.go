//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

func TestPromptEditsAFileAfterApproval(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "edit", map[string]any{"path": "a.txt", "old_string": "one", "new_string": "two"})).WithText("I'll change it."),
		modeltest.Text("It says **two** now."),
	)
	c.write("a.txt", "one\n")
	c.start()
	c.say("make it two")
	s := c.answerable("Edit file: a.txt", "+ two", "- one")
	if c.read("a.txt") != "one\n" {
		t.Fatalf("edited before the answer:\n%s", s.Text())
	}
	c.Press("y")
	c.wait("It says two now.")
	if got := c.read("a.txt"); got != "two\n" {
		t.Errorf("a.txt is %q", got)
	}
	c.quit()
}

func TestRefusalReachesTheModelAndTheFileStays(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "write", map[string]any{"path": "b.txt", "content": "b"})),
		modeltest.Text("All right."),
	)
	c.start()
	c.say("write it")
	c.answerable("Write to file: b.txt")
	c.Press("n")
	c.wait("All right.")
	if _, err := os.Stat(filepath.Join(c.dir, "b.txt")); err == nil {
		t.Error("the file was written")
	}
	if m, ok := c.request(1).Result("c1"); !ok || !strings.Contains(m.Content, "denied by user") {
		t.Errorf("the model was told %q", m.Content)
	}
	c.quit()
}

func TestEscInterruptsACommandAndTheNextPromptGoesOn(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "echo $$ > pids; sleep 300"}), tool("c2", "exec", map[string]any{"cmd": "echo never"})),
		modeltest.Text("Going on."),
	)
	c.start("--mode", "yolo")
	c.say("sleep")
	c.pids("pids", 1)
	c.Press("esc")
	c.wait("Interrupted")
	c.say("go on")
	c.wait("Going on.")
	req := c.request(1)
	first, _ := req.Result("c1")
	second, _ := req.Result("c2")
	if !strings.Contains(first.Content, "interrupted by user") || !strings.Contains(second.Content, "not run") {
		t.Errorf("results are %q and %q", first.Content, second.Content)
	}
	c.quit()
}

func TestKilledSessionResumesWithItsTranscript(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Text("The first answer."),
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "echo $$ > pids; sleep 300"})),
		modeltest.Text("Back again."),
	)
	c.start("--mode", "yolo")
	c.say("first question")
	c.wait("The first answer.")
	c.say("now sleep")
	c.pids("pids", 1)
	if err := c.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Exited()
	c.start("-c")
	c.wait("first question", "The first answer.", "now sleep")
	c.say("are you there")
	c.wait("Back again.")
	if m, ok := c.request(2).Result("c1"); !ok || !strings.Contains(m.Content, "not run") {
		t.Errorf("the call that was cut has the result %q", m.Content)
	}
	c.quit()
}

func TestTermSignalRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.start()
	if err := c.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, err := c.ExitCode(patience); err != nil || code != 143 {
		t.Errorf("exit %d, %v", code, err)
	}
	c.restored()
}

// selected returns the row that is selected.
func selected(s terminal.Screen) string {
	for _, line := range s.Lines() {
		if strings.Contains(line, "› ") {
			return line
		}
	}
	return ""
}

func TestFirstRunLeadsToTheTour(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the tour runs go test, and there is no go command")
	}
	c := newChat(t)
	cmd := exec.Command("jcode")
	cmd.Dir = c.dir
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasSuffix(name, "_API_KEY") && name != "OPENAI_BASE_URL" && name != "JCODE_MODEL" {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "JCODE_HOME="+c.home)
	term, err := terminal.Start(cmd, 90, 28)
	if err != nil {
		t.Fatal(err)
	}
	c.Terminal = term
	t.Cleanup(term.Close)
	s := c.wait("jcode needs a model", "Take the offline tour", "Enter an API key")
	for range s.Rows { // move down to the tour, however many servers were found
		if strings.Contains(c.Screen().Text(), "›   Take the offline tour") {
			break
		}
		before := selected(c.Screen()) // rows of servers that are found arrive meanwhile
		c.Press("down")
		c.until(func(s terminal.Screen) bool { return selected(s) != before })
	}
	c.Press("enter")
	c.wait("Run a command", "sh check.sh")
}

func TestPlanIsAcceptedAndCarriedOut(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Text("1. Write the file."),
		modeltest.Text("1. Write the other file."),
		modeltest.Calls(tool("c1", "write", map[string]any{"path": "done.txt", "content": "x"})),
		modeltest.Text("Carried out."),
	)
	c.start("--mode", "plan")
	c.say("plan it")
	c.wait("Write the file.", "Carry out this plan?", "enter choose")
	c.interject("another file") // typing a message asks for changes
	c.wait("Write the other file.", "Carry out this plan?", "enter choose")
	c.Press("2")
	c.wait("Carried out.")
	if c.read("done.txt") != "x" {
		t.Error("the plan was not carried out")
	}
	if names := c.request(0).ToolNames(); slices.Contains(names, "write") {
		t.Errorf("mode plan offers %v", names)
	}
	if names := c.request(2).ToolNames(); !slices.Contains(names, "write") {
		t.Errorf("after the plan was accepted, %v are offered", names)
	}
	c.quit()
}

// An answer in a read-only role is not a plan.
func TestAnswerOfAReadingRoleIsNoPlan(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("It reads files."), modeltest.Text("1. Write the file."))
	c.start("--role", "explain")
	c.wait(" plan  ", "  explain")
	c.say("what does it do")
	c.wait("It reads files.")
	c.say("/role planner") // the input is there
	c.wait(" plan  ", "  planner")
	c.say("plan it")
	c.wait("Write the file.", "Carry out this plan?", "enter choose")
	c.Press("esc")
	c.wait("ask for something")
	c.quit()
}

// A plan is accepted with the person's changes; a role that allows more than planning stays in force.
func TestPlanIsChangedAndCarriedOut(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Text("1. Write the file."),
		modeltest.Calls(tool("c1", "write", map[string]any{"path": "done.txt", "content": "x"})),
		modeltest.Text("Carried out."),
	)
	c.start("--role", "coder", "--mode", "plan")
	c.wait(" plan  ", "  coder")
	c.say("plan it")
	c.wait("Write the file.", "Carry out this plan?", "enter choose")
	c.Press("3")
	c.wait("› Carry out this plan instead:", "asking before edits")
	c.Type(" And say so.")
	c.wait("And say so.")
	c.Press("enter")
	c.answerable("Write to file: done.txt")
	c.Press("y")
	c.wait("Carried out.", " ask  ", "  coder")
	if raw := string(c.request(1).Raw); !strings.Contains(raw, "Carry out this plan instead:") || !strings.Contains(raw, "And say so.") {
		t.Errorf("asked: %.3000s", raw)
	}
	c.quit()
}

func TestSettingsOfASessionBecomeARole(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.editor("s/^You …/You are other./")
	c.start("--mode", "edits")
	c.say("/set temperature 0.5")
	c.wait("temperature is now 0.5")
	c.say("/roles save mine")
	c.wait("role mine keeps")
	c.say("/roles new other") // opens the editor
	c.wait("editing ")
	c.Press("enter")
	c.wait("ask for something")
	c.say("/roles export mine mine.md")
	c.wait("written to mine.md")
	text := c.read("mine.md")
	for _, want := range []string{`model: "test-model"`, "temperature: 0.5", "mode: edits"} {
		if !strings.Contains(text, want) {
			t.Errorf("the role lacks %q:\n%s", want, text)
		}
	}
	c.say("/role mine")
	c.say("hi")
	c.wait("Hello.")
	if got := c.request(0).Fields["temperature"]; got != 0.5 {
		t.Errorf("temperature %v was sent", got)
	}
	c.quit()
}

//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// patience is how long a screen may take; only a failing test waits for it.
const patience = time.Minute

// chat is the real program in a terminal, in a folder and home of its own.
type chat struct {
	*terminal.Terminal
	t    *testing.T
	dir  string
	home string
	env  []string // further variables
	srv  *modeltest.Server
}

func newChat(t *testing.T, replies ...modeltest.Reply) *chat {
	t.Helper()
	c := &chat{t: t, dir: t.TempDir(), home: t.TempDir(), srv: modeltest.New(t, replies...)}
	// Titles are asked for beside the turns.
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text("A title"), strings.HasPrefix(r.System(), "Name the task")
	})
	return c
}

func (c *chat) start(args ...string) {
	c.t.Helper()
	c.startAt("ask for something", args...)
}

// startAt starts the program and waits for a text.
func (c *chat) startAt(text string, args ...string) {
	c.t.Helper()
	term, err := terminal.Start(c.command("jcode", args...), 90, 28)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Terminal = term
	c.t.Cleanup(term.Close)
	c.wait(text)
}

// command returns a program in the project and the home of the chat, not started.
func (c *chat) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "JCODE_HOME="+c.home, "HOME="+c.home, "OPENAI_API_KEY=sk-test", "OPENAI_BASE_URL="+c.srv.URL(), "JCODE_MODEL=test-model")
	cmd.Env = append(cmd.Env, c.env...)
	return cmd
}

func (c *chat) wait(texts ...string) terminal.Screen {
	c.t.Helper()
	s, err := c.WaitFor(patience, texts...)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// say types a line and sends it. A command waits for the end of the running turn, because
// many do something else while one runs; see interject.
func (c *chat) say(text string) {
	c.t.Helper()
	if strings.HasPrefix(text, "/") {
		c.idle()
	}
	c.interject(text)
}

// interject types a line and sends it, whatever runs.
func (c *chat) interject(text string) {
	c.t.Helper()
	c.Type(text)
	c.wait(text)
	c.Press("enter")
}

func (c *chat) write(name, content string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *chat) read(name string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// answerable waits until a question takes keys: it does not while the input is shown.
func (c *chat) answerable(texts ...string) terminal.Screen {
	c.t.Helper()
	s, err := c.Wait(patience, func(s terminal.Screen) bool {
		for _, text := range texts {
			if !s.Contains(text) {
				return false
			}
		}
		return s.Contains("enter choose")
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// request returns the nth request of a turn, from 0.
func (c *chat) request(n int) modeltest.Request {
	c.t.Helper()
	for _, r := range c.srv.Requests() {
		if strings.HasPrefix(r.System(), "Name the task") {
			continue
		}
		if n == 0 {
			return r
		}
		n--
	}
	c.t.Fatal("there is no such request")
	return modeltest.Request{}
}

// idle waits until no turn runs any more: its spinner is gone.
func (c *chat) idle() {
	c.t.Helper()
	_, err := c.Wait(patience, func(s terminal.Screen) bool {
		return !strings.ContainsFunc(s.Text(), func(r rune) bool { return r >= 0x2800 && r <= 0x28FF })
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// quit leaves by Ctrl+C twice, and checks that the terminal is as it was.
func (c *chat) quit() {
	c.t.Helper()
	c.idle()
	const hint = "ctrl+c again to quit"
	for c.running() { // the second press counts while the hint shows, which a slow machine may miss
		c.Press("ctrl+c")
		c.until(func(s terminal.Screen) bool { return !c.running() || s.Contains(hint) })
		c.Press("ctrl+c")
		c.until(func(s terminal.Screen) bool { return !c.running() || !s.AltScreen || !s.Contains(hint) })
		if !c.Screen().AltScreen {
			break
		}
	}
	if code, err := c.ExitCode(patience); err != nil || code != 0 {
		c.t.Fatalf("exit %d, %v", code, err)
	}
	c.restored()
}

// running reports whether the program has not ended yet.
func (c *chat) running() bool {
	select {
	case <-c.Exited():
		return false
	default:
		return true
	}
}

// until waits until a condition holds for the screen, or the program ends.
func (c *chat) until(cond func(terminal.Screen) bool) {
	c.t.Helper()
	if _, err := c.Wait(patience, cond); err != nil {
		c.t.Fatal(err)
	}
}

// restored waits until the terminal is as it was: the program is gone before its last bytes
// are read here.
func (c *chat) restored() {
	c.t.Helper()
	modes := map[int]string{1049: "alternate screen", 2004: "bracketed paste", 1006: "mouse"}
	_, _ = c.Wait(patience, func(s terminal.Screen) bool {
		for mode := range modes {
			if c.Mode(mode) {
				return false
			}
		}
		return s.CursorVisible
	})
	for mode, name := range modes {
		if c.Mode(mode) {
			c.t.Errorf("%s is still on", name)
		}
	}
	if !c.Screen().CursorVisible {
		c.t.Error("the cursor is hidden")
	}
}

func tool(id, name string, args map[string]any) modeltest.Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return modeltest.Call{ID: id, Name: name, Args: string(b)}
}

func TestPromptEditsAFileAfterApproval(t *testing.T) {
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
	c := newChat(t,
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "sleep 300"}), tool("c2", "exec", map[string]any{"cmd": "echo never"})),
		modeltest.Text("Going on."),
	)
	c.start("--mode", "yolo")
	c.say("sleep")
	c.wait("exec sleep 300")
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
	c := newChat(t,
		modeltest.Text("The first answer."),
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "sleep 300"})),
		modeltest.Text("Back again."),
	)
	c.start("--mode", "yolo")
	c.say("first question")
	c.wait("The first answer.")
	c.say("now sleep")
	c.wait("exec sleep 300")
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

func TestFirstRunLeadsToTheTour(t *testing.T) {
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
	for range s.Rows { // down to the tour, however many servers were found
		if strings.Contains(c.Screen().Text(), "›   Take the offline tour") {
			break
		}
		before := c.Screen().Text()
		c.Press("down")
		c.until(func(s terminal.Screen) bool { return s.Text() != before })
	}
	c.Press("enter")
	c.wait("Run a command", "sh check.sh")
}

func TestPlanIsAcceptedAndCarriedOut(t *testing.T) {
	c := newChat(t,
		modeltest.Text("1. Write the file."),
		modeltest.Text("1. Write the other file."),
		modeltest.Calls(tool("c1", "write", map[string]any{"path": "done.txt", "content": "x"})),
		modeltest.Text("Carried out."),
	)
	c.start("--mode", "plan")
	c.say("plan it")
	c.wait("Write the file.", "Carry out this plan?", "enter choose")
	c.say("another file") // writing on asks for changes
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

// An answer in a role that never changes files is no plan.
func TestAnswerOfAReadingRoleIsNoPlan(t *testing.T) {
	c := newChat(t, modeltest.Text("It reads files."), modeltest.Text("1. Write the file."))
	c.start("--role", "explain")
	c.wait("explain · plan")
	c.say("what does it do")
	c.wait("It reads files.")
	c.say("/role planner") // the input is there
	c.wait("planner · plan")
	c.say("plan it")
	c.wait("Write the file.", "Carry out this plan?", "enter choose")
	c.Press("esc")
	c.wait("ask for something")
	c.quit()
}

// A plan that the person changed is accepted with that; a role that allows more than
// planning stays.
func TestPlanIsChangedAndCarriedOut(t *testing.T) {
	c := newChat(t,
		modeltest.Text("1. Write the file."),
		modeltest.Calls(tool("c1", "write", map[string]any{"path": "done.txt", "content": "x"})),
		modeltest.Text("Carried out."),
	)
	c.start("--role", "coder", "--mode", "plan")
	c.wait("coder · plan")
	c.say("plan it")
	c.wait("Write the file.", "Carry out this plan?", "enter choose")
	c.Press("3")
	c.wait("› Carry out this plan instead:", "asking before edits")
	c.Type(" And say so.")
	c.wait("And say so.")
	c.Press("enter")
	c.answerable("Write to file: done.txt")
	c.Press("y")
	c.wait("Carried out.", "coder · ask")
	if raw := string(c.request(1).Raw); !strings.Contains(raw, "Carry out this plan instead:") || !strings.Contains(raw, "And say so.") {
		t.Errorf("asked: %.3000s", raw)
	}
	c.quit()
}

func TestSettingsOfASessionBecomeARole(t *testing.T) {
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

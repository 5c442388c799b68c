//go:build linux || darwin

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/shorten"
	"jcode/internal/testkit/terminal"
	"jcode/session"
)

// patience is how long a screen may take; only a failing test waits for it.
const patience = 2 * time.Minute

// chat is the real program in a terminal, in its own folder and home, with a scripted model. A test reads like
// what a person does:
//
//	c := newChat(t, modeltest.Text("There is one file."))
//	c.write("a.txt", "one")             // what is there before
//	c.start("--mode", "plan")           // the program, until it takes input
//	c.say("what is here?")              // a line, once nothing runs
//	c.wait("There is one file.")        // the screen, with patience
//	c.interject("and there?")           // a line while a turn runs
//	c.answerable("Run a command")       // a question that takes keys
//	c.idle()                            // the end of the turn
//	c.request(0).System()               // what the model was sent
//	c.quit()                            // and nothing stays behind
//
// Steps that concern files, processes and servers are in chat_around_test.go. A step that only one test file
// needs is in that file.
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
	shorten.OneIn(t, 2)
	c := &chat{t: t, dir: shortDir(t), home: shortDir(t), srv: modeltest.New(t, replies...)}
	// Titles are requested in parallel with the turns.
	c.srv.Route(func(r modeltest.Request) (modeltest.Reply, bool) {
		return modeltest.Text("A title"), strings.HasPrefix(r.System(), "Name the task")
	})
	return c
}

// start starts the program and waits for its input.
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

// wait waits until all texts are on the screen.
func (c *chat) wait(texts ...string) terminal.Screen {
	c.t.Helper()
	s, err := c.WaitFor(patience, texts...)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// say types a line and sends it once the running turn has ended: during a turn, a prompt joins it and many
// commands behave differently. See interject.
func (c *chat) say(text string) {
	c.t.Helper()
	c.idle()
	c.interject(text)
}

// interject types a line and sends it, even while a turn runs.
func (c *chat) interject(text string) {
	c.t.Helper()
	c.Type(text)
	c.wait(text)
	c.Press("enter")
}

// write writes a file of the project, read returns one.
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

// project writes a file of the project, and creates the folders above it.
func (c *chat) project(file, content string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.dir, file)), 0o755); err != nil {
		c.t.Fatal(err)
	}
	c.write(file, content)
}

// readHome returns the content of a file in jcode's home.
func (c *chat) readHome(name string) string {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.home, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// jcode runs a subcommand without a terminal, and returns everything that it printed.
func (c *chat) jcode(stdin string, args ...string) (string, error) {
	c.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		c.t.Skip(err)
	}
	cmd := c.command(exe, args...)
	cmd.Args[0] = "jcode"
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// choose moves a picker's cursor to a row and presses Enter.
func (c *chat) choose(row string) {
	c.t.Helper()
	c.wait(row)
	for range c.Screen().Rows {
		if strings.Contains(c.Screen().Text(), "›   "+row) {
			c.Press("enter")
			return
		}
		before := c.Screen().Text()
		c.Press("down")
		c.until(func(s terminal.Screen) bool { return s.Text() != before })
	}
	c.t.Fatalf("%q cannot be chosen:\n%s", row, c.Screen().Text())
}

// answerable waits until a question accepts keys: it does not while the input is shown.
func (c *chat) answerable(texts ...string) terminal.Screen {
	c.t.Helper()
	s, err := c.Wait(patience, func(s terminal.Screen) bool {
		for _, text := range texts {
			if !s.Contains(text) {
				return false
			}
		}
		return s.Contains("esc aside") || s.Contains("enter choose")
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// request returns the nth request of a turn, from 0, as soon as it has arrived.
func (c *chat) request(n int) modeltest.Request {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		all := c.srv.Requests()
		if ours := c.turns(all); n < len(ours) {
			return ours[n]
		}
		if _, ok := c.srv.Wait(len(all)+1, time.Until(deadline)); !ok {
			c.t.Fatalf("request %d did not come", n)
		}
	}
}

// last returns the newest request of a turn.
func (c *chat) last() modeltest.Request {
	c.t.Helper()
	ours := c.turns(c.srv.Requests())
	if len(ours) == 0 {
		c.t.Fatal("there is no request")
	}
	return ours[len(ours)-1]
}

// turns leaves out the requests for titles, which are sent in parallel with those of the turns.
func (c *chat) turns(all []modeltest.Request) []modeltest.Request {
	return slices.DeleteFunc(all, func(r modeltest.Request) bool { return strings.HasPrefix(r.System(), "Name the task") })
}

// idle waits until no turn is running and no session is being opened. The program reports its state to the
// terminal; the text of an answer is on the screen before the turn has ended.
func (c *chat) idle() {
	c.t.Helper()
	_, err := c.Wait(patience, func(s terminal.Screen) bool {
		plain := !s.AltScreen // it reports nothing
		return (plain || strings.Contains(c.status(), "state=idle")) && !slices.ContainsFunc(s.Lines(), spins)
	})
	if err != nil {
		c.t.Fatalf("the turn does not end (%q): %v", c.status(), err)
	}
}

// status returns the state that the program has reported to the terminal.
func (c *chat) status() (said string) {
	for _, osc := range c.OSC() {
		if rest, ok := strings.CutPrefix(osc, "7501;"); ok {
			said = rest
		}
	}
	return said
}

// spins reports whether a line begins with a spinner. Those of background agents are indented.
func spins(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return r >= 0x2800 && r <= 0x28FF
}

// titled waits until a session has the title, which is requested in parallel with the turns.
func (c *chat) titled(title string) {
	c.t.Helper()
	store, err := session.Open(c.t.Context(), filepath.Join(c.home, "jcode.db"), session.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer store.Close()
	eventually.Within(c.t, patience, fmt.Sprintf("a session is called %q", title), func() bool {
		all, err := store.List(c.t.Context(), session.Filter{All: true})
		if err != nil {
			c.t.Fatal(err)
		}
		return slices.ContainsFunc(all, func(s session.Session) bool { return s.Title == title })
	})
}

// quit leaves with Ctrl+C twice, and checks that the terminal is restored.
func (c *chat) quit() {
	c.t.Helper()
	c.idle()
	const hint = "ctrl+c again to quit"
	deadline := time.Now().Add(patience)
	for c.running() && c.Screen().AltScreen {
		c.Press("ctrl+c")
		// The first press may close a page instead. The second counts only while the hint is shown; a slow machine
		// may miss that.
		if _, err := c.Wait(time.Second, func(s terminal.Screen) bool { return !c.running() || s.Contains(hint) }); err != nil {
			if time.Now().After(deadline) {
				c.t.Fatalf("it does not ask again: %v", err)
			}
			continue
		}
		c.Press("ctrl+c")
		c.until(func(s terminal.Screen) bool { return !c.running() || !s.AltScreen || !s.Contains(hint) })
	}
	if code, err := c.ExitCode(patience); err != nil || code != 0 {
		c.t.Fatalf("exit %d, %v", code, err)
	}
	c.restored()
}

// running reports whether the program is still running.
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

// restored waits until the terminal is restored: the program may end before its last bytes are read here.
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

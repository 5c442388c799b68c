//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
	"jcode/tools/sandbox"
)

// asksToTouch is a turn that asks before it makes a file.
func asksToTouch() []modeltest.Reply {
	return []modeltest.Reply{
		modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "touch made.txt"})), modeltest.Text("The file is there."), modeltest.Text("Second answer."),
	}
}

// sessions runs a command over the open sessions, from another terminal.
func (c *chat) sessions(args ...string) string {
	c.t.Helper()
	out, err := c.jcode("", append([]string{"sessions"}, args...)...)
	if err != nil {
		c.t.Errorf("sessions %q: %v\n%s", args, err, out)
	}
	return out
}

// TestAnOpenSessionIsFollowedAndAnsweredFromAnotherTerminal: who answered is shown where the session runs.
func TestAnOpenSessionIsFollowedAndAnsweredFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t, asksToTouch()...)
	c.start()
	c.say("make a file")
	c.answerable("touch made.txt")
	if out := c.sessions("ps"); !strings.Contains(out, "needs you") || !strings.Contains(out, "make a file") && !strings.Contains(out, "A title") {
		t.Errorf("ps: %s", out)
	}
	if out, err := c.jcode("", "sessions", "answer", "3"); err == nil || !strings.Contains(out, "outlasts the session") {
		t.Errorf("an answer for good: %v %s", err, out)
	}
	c.sessions("answer", "yes")
	c.wait("The file is there.", "another terminal answered")
	c.read("made.txt")
	if out, err := c.jcode("", "sessions", "answer", "yes"); err == nil || !strings.Contains(out, "waits for no answer") {
		t.Errorf("answered twice: %v %s", err, out)
	}
	c.idle()
	c.sessions("send", "title", "and", "again")
	c.wait("and again", "Second answer.")
	c.quit()
	if left, err := filepath.Glob(filepath.Join(c.home, "run", "*.sock")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if out, err := c.jcode("", "sessions", "ps"); err != nil || !strings.Contains(out, "no session is open") {
		t.Errorf("%v %s", err, out)
	}
}

// TestACommandAnswersNoQuestion: whatever a jcode started can't speak on the socket, of its own session or of another
// one of the same user, though nothing asks about it there.
func TestACommandAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	victim := newChat(t, asksToTouch()...)
	victim.start()
	victim.say("make a file")
	victim.answerable("touch made.txt")

	answer := "jcode sessions answer yes"
	tries := []string{
		answer,
		"env -u JCODE_TREE " + answer,
		"( " + answer + " & ) ; sleep 1",
		"setsid sh -c '" + answer + "; " + answer + "' < /dev/null > out 2>&1; cat out",
		"env -i PATH=\"$PATH\" HOME=\"$HOME\" JCODE_HOME=\"$JCODE_HOME\" " + answer,
		"nohup sh -c 'sh -c \"" + answer + "\" &' ; sleep 1",
	}
	var calls []modeltest.Reply
	for _, line := range tries {
		calls = append(calls, modeltest.Calls(tool("t", "exec", map[string]any{"cmd": line + "; true"})))
	}
	attacker := newChat(t, append(calls, modeltest.Text("I tried."))...)
	attacker.home = victim.home
	attacker.start("--mode", "yolo")
	attacker.say("try")
	attacker.answerable("env -i PATH") // the person does not see through it
	attacker.Press("y")
	attacker.wait("I tried.")
	for i := range tries {
		if m, ok := attacker.request(i + 1).Result("t"); !ok || !strings.Contains(m.Content, "hung up") && !strings.Contains(m.Content, "no session is open") {
			t.Errorf("%s: %s", tries[i], m.Content)
		}
	}
	if _, err := os.Stat(filepath.Join(victim.dir, "made.txt")); err == nil {
		t.Error("a command answered the question")
	}
	victim.wait("touch made.txt", "once")
	victim.Press("n")
	victim.wait("The file is there.")
	attacker.quit()
	victim.quit()
}

// TestTheSandboxDoesNotReadTheToken that whoever speaks on the socket must know.
func TestTheSandboxDoesNotReadTheToken(t *testing.T) {
	t.Parallel()
	if sandbox.Kernel() == 0 {
		t.Skip("no sandbox here")
	}
	c := newChat(t, modeltest.Calls(tool("t", "exec", map[string]any{"cmd": "p=run/token; cat \"$JCODE_HOME/$p\""})), modeltest.Text("Done."))
	c.start("--mode", "auto")
	c.until(func(terminal.Screen) bool {
		found, err := filepath.Glob(filepath.Join(c.home, "run", "*.json"))
		return err == nil && len(found) > 0
	})
	token := strings.TrimSpace(c.readHome("run/token"))
	c.say("read it")
	c.wait("Done.")
	if m, ok := c.request(1).Result("t"); !ok || strings.Contains(m.Content, token) {
		t.Errorf("the token is read: %s", m.Content)
	}
	c.quit()
}

// TestNobodyIsOfferedWhatIsPrivate, and nothing at all with the setting remote off.
func TestNobodyIsOfferedWhatIsPrivate(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.start("--private")
	c.say("hi")
	c.wait("Hello.")
	if out, err := c.jcode("", "sessions", "ps"); err != nil || !strings.Contains(out, "no session is open") {
		t.Errorf("%v %s", err, out)
	}
	c.quit()

	off := newChat(t, modeltest.Text("Hello."))
	if err := os.WriteFile(filepath.Join(off.home, "config.json"), []byte(`{"remote": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	off.start()
	off.say("hi")
	off.wait("Hello.")
	off.quit()
	if _, err := os.Stat(filepath.Join(off.home, "run")); err == nil {
		t.Error("a socket was opened")
	}
}

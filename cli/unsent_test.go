//go:build linux || darwin

package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// promptHook configures a hook of prompts for the chat.
func (c *chat) promptHook(command string) {
	put(c.t, filepath.Join(c.home, "config.json"), `{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "`+command+`"}]}]}}`)
}

func TestPromptsThatAHookRefusesComeBackIntoTheInput(t *testing.T) {
	c := newChat(t, modeltest.Calls(tool("c1", "exec", map[string]any{"cmd": "while ! test -e go; do sleep 0.05; done"})), modeltest.Text("all done"))
	c.promptHook("grep -q password && { echo no passwords >&2; exit 2; }; exit 0")
	c.start("--mode", "yolo")
	c.say("my password is x")
	c.wait("no passwords", "› my password is x")
	c.idle()
	c.Press("ctrl+u")
	c.say("do it")
	c.wait("exec while")
	c.interject("and the password")
	c.write("go", "")
	c.wait("all done", "› and the password")
	c.idle()
}

func TestPromptIsShownWhileAHookJudgesItAndEscGivesItBack(t *testing.T) {
	c := newChat(t, modeltest.Text("all done"))
	c.promptHook("while ! test -e go; do sleep 0.05; done")
	c.start()
	c.say("first of all")
	c.wait("⧗ first of all", "asking the hooks")
	c.interject("then this")
	c.wait("⧗ first of all", "⧗ then this")
	c.Press("esc")
	c.wait("Interrupted.", "› first of all", "then this")
	c.idle()
	c.Press("ctrl+u", "backspace", "ctrl+u")
	c.write("go", "")
	c.say("once more")
	c.wait("all done")
	c.idle()
	if n := len(c.turns(c.srv.Requests())); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestWhatAHookOfTheFirstPromptChangesIsUndone: it runs before there is a session to keep it with.
func TestWhatAHookOfTheFirstPromptChangesIsUndone(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("all done"), modeltest.Text("all done"))
	c.promptHook("echo judged >> judged.txt")
	c.start()
	c.say("first of all")
	c.wait("all done")
	c.idle()
	c.read("judged.txt")
	for n, asked := 1, false; !asked; n++ { // it is kept in the background
		c.say("/undo")
		c.until(func(s terminal.Screen) bool {
			asked = s.Contains("Put back")
			return asked || strings.Count(s.Text(), "/undo: nothing to do") >= n
		})
	}
	c.answerable("Put back")
	c.Press("enter")
	c.wait("judged.txt (removed)")
	if s := c.Screen(); s.Contains("can't be undone") {
		t.Error(s)
	}
	c.quit()

	if out, err := c.jcode("", "-p", "again"); err != nil || strings.Contains(out, "can't be undone") {
		t.Errorf("%v %s", err, out)
	}
}

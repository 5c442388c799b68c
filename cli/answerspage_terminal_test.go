//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/modeltest"
	"jcode/internal/testkit/terminal"
)

// What only answers a command is shown until Esc, and leaves nothing in the transcript.
func TestWhatOnlyAnswersACommandLeavesNothing(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Hello."))
	c.start()
	c.say("greet me")
	c.wait("Hello.")
	c.idle()
	transcript := func(s terminal.Screen) string {
		_, text, _ := strings.Cut(s.Text(), "› greet me") // what is above may still come: the start shows the project
		text, _, _ = strings.Cut(text, "──")
		return strings.TrimSpace(text)
	}
	var before string
	c.until(func(s terminal.Screen) bool { before = transcript(s); return true })
	for line, want := range map[string]string{
		"/docs": "There are no documents", "/docs x": "/docs rebuild", "/memory list": "There are no notes", "/private": "This conversation is kept",
		"/rewind ?": "Rewind to before which message", "/fork ?": "Fork up to the answer", "/permissions explain ls": "ls", "/lua errors": "no Lua errors",
		"/recall": "searches notes", "/set": "max_steps", "/usage": "Usage", "/hooks": "No hooks", "/lsp": "Language servers",
	} {
		c.Type(line)
		c.wait("› " + line)
		c.Press("enter")
		c.wait("esc close", want)
		c.Press("esc")
		var got string
		c.until(func(s terminal.Screen) bool {
			got = transcript(s)
			return !s.Contains("esc close") && !s.Contains("› "+line)
		})
		if got != before {
			t.Errorf("%s leaves\n%s\nbehind\n%s", line, got, before)
		}
	}
	c.quit()
}

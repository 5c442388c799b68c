//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startTranslating starts a chat in which the model changes two words of a file, far from each other.
func (c *chat) startTranslating() (file, before string) {
	c.t.Helper()
	before = "one\n" + strings.Repeat("same\n", 20) + "two\n"
	file = filepath.Join(c.dir, "list.txt")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.start("-m", "replay:"+scriptOf(c.t, `{"tool_calls":[{"name":"edit","arguments":{"path":"list.txt","edits":[{"old_string":"one","new_string":"uno"},{"old_string":"two","new_string":"dos"}]}}]}
{"text":"You took one of them.","expect":{"tool_result_contains":"of 2"}}
`))
	return file, before
}

// A person takes one hunk of two: the file holds that one, and the model learns which is missing.
func TestAPersonTakesOneHunkOfAChange(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	file, before := c.startTranslating()
	c.say("translate")
	c.answerable("h hunks")
	c.Press("h")
	c.wait("take 2 of 2 hunks")
	c.Press("n")
	c.wait("take 1 of 2 hunks")
	c.Press("enter")
	c.answerable("1 of 2 hunks, as you chose them")
	c.Press("y")
	c.wait("You took one of them.")
	c.idle()
	got, err := os.ReadFile(file)
	if want := strings.Replace(before, "two", "dos", 1); err != nil || string(got) != want {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	c.quit()
}

// One hunk of a change is taken from another terminal, and what can't be taken is refused.
func TestOneHunkOfAChangeIsTakenFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	file, before := c.startTranslating()
	c.say("translate")
	c.answerable("h hunks")
	for _, bad := range [][]string{{"yes", "--hunks", "3"}, {"yes", "--hunks", "0"}, {"yes", "--hunks", "2,2"}, {"no", "--hunks", "2"}, {"2", "--hunks", "2"}} {
		if out, err := c.jcode("", append([]string{"sessions", "answer"}, bad...)...); err == nil || !strings.Contains(out, "hunk") {
			t.Errorf("%q: %v %s", bad, err, out)
		}
	}
	c.sessions("answer", "yes", "--hunks", "2")
	c.wait("You took one of them.", "1 of 2 hunks")
	c.idle()
	if got, err := os.ReadFile(file); err != nil || string(got) != strings.Replace(before, "two", "dos", 1) {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	c.quit()
}

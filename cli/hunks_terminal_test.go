//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A person takes one hunk of two: the file holds that one, and the model learns which is missing.
func TestAPersonTakesOneHunkOfAChange(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	before := "one\n" + strings.Repeat("same\n", 20) + "two\n"
	file := filepath.Join(c.dir, "list.txt")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	c.start("-m", "replay:"+scriptOf(t, `{"tool_calls":[{"name":"edit","arguments":{"path":"list.txt","edits":[{"old_string":"one","new_string":"uno"},{"old_string":"two","new_string":"dos"}]}}]}
{"text":"You took one of them."}
`))
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

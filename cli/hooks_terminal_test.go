//go:build linux || darwin

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/modeltest"
)

// Hooks are told of the end of a session when the person leaves it, not only when the program ends, and of the
// model's last message.
func TestHooksHearOfASessionThatIsLeft(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("First answer."), modeltest.Text("Second answer."))
	heard := listening(c)
	c.start()
	c.say("one")
	c.wait("First answer.")
	c.idle()
	heard(`"source":"startup"`, `"last_assistant_message":"First answer."`)
	c.say("/new")
	c.wait("Carry the last exchange over", "enter choose")
	c.Press("enter")
	heard(`"First answer."`, `"reason":"clear"`)
	c.wait("ask for something")
	c.idle()
	c.say("two")
	c.wait("Second answer.")
	c.idle()
	heard(`"reason":"clear"`, `"source":"clear"`, `"last_assistant_message":"Second answer."`)
	c.quit()
	heard(`"Second answer."`, `"reason":"prompt_input_exit"`)
}

// Changing to another session leaves the previous one.
func TestHooksHearOfASessionThatIsLeftForAnother(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("First answer."), modeltest.Text("Second answer."), modeltest.Text("Third answer."))
	heard := listening(c)
	c.start()
	c.say("one")
	c.wait("First answer.")
	c.idle()
	c.titled("A title")
	c.say("/session another one") // there is no such session, so a new one begins
	c.wait("Carry the last exchange over", "enter choose")
	c.Press("enter")
	heard(`"source":"startup"`, `"reason":"clear"`)
	c.wait("ask for something")
	c.say("two")
	c.wait("Second answer.")
	c.idle()
	c.say("/session A title")
	c.wait("First answer.")
	heard(`"Second answer."`, `"reason":"resume"`)
	c.say("three")
	c.wait("Third answer.")
	c.idle()
	heard(`"reason":"resume"`, `"source":"resume"`, `"last_assistant_message":"Third answer."`)
	c.quit()
	heard(`"Third answer."`, `"reason":"prompt_input_exit"`)
}

// The person sees which hooks run, which wait for trust, and where each comes from.
func TestHooksAreListed(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	if err := os.WriteFile(filepath.Join(c.home, "config.json"), []byte(`{"hooks":{"PreToolUse":[{"matcher":"exec","hooks":[{"command":"own-check"}]}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.startAt("ask for something")
	c.say("/hooks")
	c.wait("PreToolUse on exec  own-check (config.json)")
	c.project(".claude/settings.json", `{"hooks":{"Stop":[{"hooks":[{"command":"their-check"}]}]}}`)
	c.say("/hooks")
	c.wait("waits for trust: Stop  their-check (.claude/settings.json)")
	c.quit()
}

// listening configures hooks that write what they are told about sessions into a file. The returned function
// waits until the file contains texts in this order.
func listening(c *chat) (heard func(texts ...string)) {
	c.t.Helper()
	put(c.t, filepath.Join(c.home, "config.json"), `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}]}}`)
	return func(texts ...string) {
		c.t.Helper()
		var b []byte
		var err error
		eventually.Within(c.t, patience, fmt.Sprintf("hooks hear %q, in this order", texts), func() bool {
			b, err = os.ReadFile(filepath.Join(c.dir, "heard"))
			rest := string(b)
			for _, text := range texts {
				_, after, found := strings.Cut(rest, text)
				if !found {
					return false
				}
				rest = after
			}
			return true
		}, func() string { return fmt.Sprintf("%v: %s", err, b) })
	}
}

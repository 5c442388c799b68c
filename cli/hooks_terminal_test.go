//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

// Hooks hear of a session's end when the person leaves it, not only at the end of the program,
// and of what the model said last.
func TestHooksHearOfASessionThatIsLeft(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("First answer."), modeltest.Text("Second answer."))
	put(t, filepath.Join(c.home, "config.json"), `{"hooks": {
		"SessionStart": [{"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "cat >> heard; echo >> heard"}]}]}}`)
	heard := func(texts ...string) {
		t.Helper()
		deadline := time.Now().Add(patience)
		for {
			b, err := os.ReadFile(filepath.Join(c.dir, "heard"))
			missing := ""
			rest := string(b)
			for _, text := range texts {
				at := strings.Index(rest, text)
				if at < 0 {
					missing = text
					break
				}
				rest = rest[at+len(text):]
			}
			if missing == "" {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v: hooks have not heard %s, in this order:\n%s", err, missing, b)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
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

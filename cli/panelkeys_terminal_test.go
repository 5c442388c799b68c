//go:build linux || darwin

package cli_test

import (
	"strings"
	"testing"

	"jcode/internal/testkit/terminal"
)

// The panel of permissions revokes a grant with its key, asked once more; a rule, which it can't revoke, names no key.
func TestTheKeyOfThePermissionsPanelRevokesAGrant(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.start("--deny", "fetch(domain:example.org)", "-m", "replay:"+scriptOf(t, `{"text":"Hello."}`+"\n"))
	c.say("hi")
	c.wait("Hello.")
	c.interject("/permissions allow exec(touch made)")
	c.wait("always in this project: exec(touch made)")
	foot := func(want string) {
		t.Helper()
		c.until(func(s terminal.Screen) bool {
			for _, line := range s.Lines() {
				if strings.Contains(line, "esc close") {
					return strings.Contains(line, "enter revoke") == (want == "revoke")
				}
			}
			return false
		})
	}
	c.interject("/permissions")
	c.wait("search:")
	c.Type("example.org")
	c.wait("example.org")
	foot("")
	for range len("example.org") {
		c.Press("backspace")
	}
	c.Type("made")
	foot("revoke")
	c.Press("enter")
	c.wait("press enter again to revoke")
	c.Press("enter")
	c.wait("revoked")
	c.until(func(s terminal.Screen) bool { return !strings.Contains(s.Text(), "enter revoke") })
}

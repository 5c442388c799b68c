//go:build linux || darwin

package cli_test

import (
	"testing"

	"jcode/internal/testkit/modeltest"
)

// A no to what a folder would run is remembered until that changes, is said at each start, and can be taken back.
func TestANoToAFolderIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	c := newChat(t, modeltest.Text("Fine."))
	c.project(".jcode/commands/state.md", "State: !`echo from-the-shell`\n")
	c.startAt("Trust this folder?")
	c.folderAsks("echo from-the-shell")
	c.Press("esc") // not now: the next start asks again
	c.wait("ask for something")
	c.quit()

	c.startAt("Trust this folder?")
	c.folderAsks("echo from-the-shell")
	c.Press("n")
	c.wait("ask for something")
	c.quit()

	c.start()
	c.wait("not trusted here, as you answered before", "/trust asks")
	c.say("/trust")
	c.folderAsks("echo from-the-shell")
	c.Press("y")
	c.wait("ask for something")
	c.say("/state")
	c.wait("Fine.")
	c.quit()

	c.project(".jcode/commands/state.md", "State: !`echo changed`\n")
	c.startAt("Trust this folder?")
	c.folderAsks("echo changed")
	c.Press("n")
	c.wait("ask for something")
	c.quit()
}

//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/modeltest"
)

func TestAPatchIsApprovedByItsDiffAndUndone(t *testing.T) {
	t.Parallel()
	c := newChat(t,
		modeltest.Calls(tool("c1", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: new/b.txt\n+fresh\n*** Delete File: gone.txt\n*** End Patch"})),
		modeltest.Text("Patched."),
	)
	c.write("a.txt", "one\n")
	c.write("gone.txt", "old\n")
	c.start()
	c.say("patch it")
	c.answerable("Apply patch: a.txt, new/b.txt, gone.txt (delete)", "+ two", "- one", "+ fresh", "- old")
	if c.read("a.txt") != "one\n" {
		t.Fatal("patched before the answer")
	}
	c.Press("y")
	c.wait("Patched.")
	c.idle()
	if a, b := c.read("a.txt"), c.read("new/b.txt"); a != "two\n" || b != "fresh\n" {
		t.Errorf("a.txt is %q, new/b.txt %q", a, b)
	}
	c.say("/undo")
	c.wait("Put back what ")
	c.Press("enter")
	c.wait("a.txt (restored)", "gone.txt (made again)")
	if a, gone := c.read("a.txt"), c.read("gone.txt"); a != "one\n" || gone != "old\n" {
		t.Errorf("a.txt is %q, gone.txt %q", a, gone)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "new")); err == nil {
		t.Error("new is there")
	}
	c.quit()
}

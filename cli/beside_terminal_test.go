//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/terminal"
)

// A session moves into a worktree, merges, takes the merge back, merges again and goes back to the checkout; the
// worktree goes when all of it is merged.
func TestASessionMovesIntoAWorktreeAndBack(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	c.start("--mode", "yolo", "-m", "replay:"+scriptOf(t, `{"text":"First answer."}
`))
	c.say("hello")
	c.wait("First answer.")
	c.idle()
	c.say("/worktree beside")
	c.wait("works in the worktree beside")
	c.idle()
	c.say("!echo two > new.txt; git branch --show-current")
	c.wait("│ jcode/beside") // the first line of the screen names the branch too
	c.idle()
	if _, err := os.Stat(filepath.Join(c.dir, "new.txt")); err == nil {
		t.Error("the checkout was written")
	}
	c.say("/worktree merge")
	c.wait("1 file of beside: new.txt.")
	if c.read("new.txt") != "two\n" {
		t.Error("the merge is not there")
	}
	c.idle()
	c.say("/undo")
	c.answerable("Put back")
	c.Press("enter")
	c.wait("new.txt (removed)")
	c.idle()
	c.say("/worktree merge")
	c.until(func(terminal.Screen) bool { _, err := os.Stat(filepath.Join(c.dir, "new.txt")); return err == nil })
	c.idle()
	c.say("/worktree leave")
	c.until(func(s terminal.Screen) bool {
		return len(besides(t, c.home)) == 0 && s.Contains("(main)") && !s.Contains("(jcode/beside)")
	})
	c.idle()
	c.say("!pwd")
	c.until(func(s terminal.Screen) bool { return strings.Contains(s.Text(), "│ /") })
	c.idle()
	c.quit()
}

// What a command writes belongs to what is merged, and it would end where the session moves.
func TestAWorktreeIsNotMergedOrLeftWhileACommandOfThePersonRuns(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	c.start("-m", "replay:"+scriptOf(t, `{"text":"First answer."}
`))
	c.say("/worktree beside")
	c.wait("works in the worktree beside")
	c.say("!until [ -e go.txt ]; do sleep 0.05; done; echo two > new.txt")
	for _, line := range []string{"/worktree merge", "/worktree leave", "/worktree other"} {
		c.interject(line)
		c.wait("✗ " + line + ": not while ! until")
	}
	if len(besides(t, c.home)) != 1 {
		t.Fatal("the session left")
	}
	if err := os.WriteFile(filepath.Join(besides(t, c.home)[0], "go.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.say("/worktree merge")
	c.wait("2 files of beside: go.txt, new.txt.")
	c.quit()
}

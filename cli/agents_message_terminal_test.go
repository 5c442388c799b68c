//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jcode/session"
)

// A message to an agent whose changes were merged reaches it in a new worktree, which begins with the merged
// files, and what it changes there is merged in turn.
func TestAMessageToAMergedAgentGoesOnInANewWorktree(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	script := played(t, inWorktree(map[string]any{"background": true}),
		calls("ann", "write", map[string]any{"path": "b.txt", "content": "two\n"}),
		says("ann", "Made b."),
		says("", "Ann is at it."),
		calls("ann", "exec", map[string]any{"cmd": "cat a.txt b.txt > c.txt"}),
		says("ann", "Made c."))
	c.start("--mode", "yolo", "-m", "replay:"+script)
	c.say("go")
	c.wait("Ann is at it.", "agent ann done: Made b.")
	c.idle()
	c.say("/agents merge ann")
	c.wait("Merged 1 file of ann: b.txt")
	c.idle()
	c.say("/agents message ann now both in one file")
	c.wait("sent to ann", "agent ann done: Made c.", "It changed 1 file in its worktree")
	if _, err := os.Stat(filepath.Join(c.dir, "c.txt")); err == nil {
		t.Error("it worked in the checkout")
	}
	c.say("/agents merge ann")
	c.wait("Merged 1 file of ann: c.txt")
	if got := c.read("c.txt"); got != "one\ntwo\n" {
		t.Errorf("c.txt is %q", got)
	}
	c.quit()
	store, err := session.Open(t.Context(), filepath.Join(c.home, "jcode.db"), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	agents, err := store.List(t.Context(), session.Filter{All: true, Kind: session.KindTask})
	if err != nil || len(agents) != 1 {
		t.Fatalf("%v, %v", agents, err)
	}
	rows, err := store.History().All(t.Context(), agents[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, row := range rows {
		if row.Role == session.RoleUser {
			read = append(read, row.Text())
		}
	}
	if all := strings.Join(read, "\n"); !strings.Contains(all, "Your worktree was removed") || !strings.Contains(all, "with the files as they are now: read again what you rely on") {
		t.Errorf("the agent is not told that it is in a new worktree:\n%s", all)
	}
}

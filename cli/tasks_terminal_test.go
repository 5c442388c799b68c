//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/testkit/terminal"
)

// /later queues a task with the chat's model, /tasks shows and ends it; no file of tasks is made before.
func TestAChatQueuesATaskAndShowsIt(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	c.start("--mode", "edits")
	c.say("/tasks")
	c.wait("No tasks.")
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	c.say("/later mend the list")
	c.wait("Task 1 is queued", "No worker runs")
	c.say("/tasks")
	c.wait("1 mend the list", "queued", "ctrl+d cancel", "priority  2") // the row and, of the one under the cursor, all
	c.Press("enter")
	c.wait("/tasks show 1", "folder", c.dir)
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	c.say("/tasks")
	c.wait("1 mend the list", "queued", "ctrl+d cancel")
	c.Press("ctrl+d")
	c.wait("press ctrl+d again to cancel")
	c.Press("ctrl+d")
	c.wait("task 1 is cancelled")
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	r := &taskRoom{c}
	if v := r.task(1); v.State != "failed" || v.Why != "cancelled" {
		t.Errorf("%+v", v)
	}
}

// What a task asks is answered, and what came out is read and taken, from a chat.
func TestTheQuestionOfATaskIsAnsweredAndItsResultTakenInAChat(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.write("a.txt", "one\n")
	gitRepository(t, c.dir)
	r := &taskRoom{c}
	r.config(`{"tasks":{"wait":"300ms"}}`)
	asks := calls("", "exec", map[string]any{"cmd": "touch c.txt"})
	script := played(t, asks)
	r.must("tasks", "add", "--mode", "edits", "-m", "replay:"+script, "touch c")
	r.must("worker", "--once")
	c.start("--mode", "edits")
	c.say("/tasks")
	c.wait("1 touch c", "asks", "touch c.txt", "ctrl+y allow once", "ctrl+n refuse")
	c.Press("ctrl+y")
	c.wait("press ctrl+y again to allow once")
	c.Press("ctrl+y")
	c.wait("task 1: yes", "queued")
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	rewrite(t, script, asks, says("", "Add c.txt, as was allowed"))
	r.must("worker", "--once")
	c.say("/tasks log 1")
	c.wait("/tasks log 1", "exec `touch c.txt`")
	c.Press("esc")
	c.until(func(s terminal.Screen) bool { return s.Contains("ask for something") })
	c.say("/tasks")
	c.wait("done", "ctrl+e take")
	c.Press("ctrl+e")
	c.wait("press ctrl+e again to take")
	c.Press("ctrl+e")
	c.until(func(terminal.Screen) bool {
		_, err := os.Stat(filepath.Join(c.dir, "c.txt"))
		return err == nil
	})
	c.wait("touch c")
	r.until(1, "is taken", func(v taskJSON) bool { return v.Taken })
}

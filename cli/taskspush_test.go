//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What came out of a task is pushed as a branch of its own before the task is done; the hooks of git do not run. A push
// that fails loses nothing.
func TestTheResultOfATaskIsPushed(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	there := filepath.Join(t.TempDir(), "there.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", there).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	script := writesFile(t, "b.txt")
	if out, err := r.run("tasks", "add", "--mode", "edits", "--push", "origin", "-m", script, "write b.txt"); err == nil || !strings.Contains(out, `no remote "origin"`) {
		t.Errorf("without a remote: %v\n%s", err, out)
	}
	if out, err := r.run("tasks", "add", "--mode", "edits", "--push", "--exec=x", "-m", script, "write b.txt"); err == nil {
		t.Errorf("what is no remote is taken for one:\n%s", out)
	}
	r.git("remote", "add", "origin", there)
	ran := filepath.Join(r.dir, "ran")
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "hooks", "pre-push"), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.must("tasks", "add", "--mode", "edits", "--push", "origin", "-m", script, "write b.txt")
	r.must("worker", "--once")
	v := r.task(1)
	branch := "jcode/task-1-" + v.Session[max(0, len(v.Session)-8):]
	if got := r.git("ls-remote", "origin"); v.State != "done" || got != v.Commit+"\trefs/heads/"+branch || !strings.Contains(v.Summary, "Pushed to origin as "+branch) {
		t.Errorf("the remote has %q; the task: %+v", got, v)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook of git ran")
	}
	if testing.Short() {
		return
	}
	r.must("tasks", "add", "--mode", "edits", "--push", "origin", "-m", script, "write b.txt again")
	if err := os.RemoveAll(there); err != nil {
		t.Fatal(err)
	}
	r.must("worker", "--once")
	if v := r.task(2); v.State != "failed" || v.Commit == "" || !strings.Contains(v.Why, "git push origin") || !strings.Contains(v.Why, "jcode tasks take 2") {
		t.Errorf("after a push that failed: %+v", v)
	}
	r.must("tasks", "take", "2")
	if got := read(t, r.dir, "b.txt"); got != "b.txt\n" {
		t.Errorf("taken: %q", got)
	}
}

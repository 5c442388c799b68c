//go:build linux || darwin

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jcode/internal/testkit/eventually"
)

// trees lists the worktrees of the clones in the room's data folder.
func (r *taskRoom) trees() (list []string) {
	r.t.Helper()
	clones, err := filepath.Glob(filepath.Join(r.home, "clones", "*", "*", ".git"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, clone := range clones {
		out, err := exec.Command("git", "--git-dir", clone, "worktree", "list", "--porcelain").CombinedOutput()
		if err != nil {
			continue // it is just being made
		}
		for line := range strings.Lines(string(out)) {
			if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok && strings.Contains(dir, "task-") {
				list = append(list, dir)
			}
		}
	}
	return list
}

func TestWhatATaskChangedOnAnotherMachineIsTakenFromTheQueue(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	server := h.onPostgres()
	queue := read(t, h.home, "config.json")
	far := newTaskRoom(t) // another machine: a data folder and a folder of its own
	far.config(queue)
	base := h.git("rev-parse", "HEAD")
	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "--repo", h.address, "write b.txt")
	out := far.must("worker", "--once", "--repos", h.pattern)
	v := h.task(1)
	if v.State != "done" || v.Commit == "" {
		t.Fatalf("the task: %+v\n%s", v, out)
	}
	if list := far.trees(); len(list) != 0 {
		t.Errorf("the worker left %v", list)
	}
	if diff := h.must("tasks", "diff", "1"); !strings.Contains(diff, "+b.txt") {
		t.Errorf("the diff:\n%s", diff)
	}
	if log := h.must("tasks", "log", "1"); !strings.Contains(log, "Add b.txt") {
		t.Errorf("the transcript:\n%s", log)
	}
	log, err := jcode(t.Context(), t, h.dir, h.home, h.srv.URL(), "tasks", "log", "1", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(shortDir(t), "session.json")
	if err := os.WriteFile(session, log, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := h.must("sessions", "import", session); !strings.Contains(out, "1 session new") {
		t.Errorf("imported: %s", out)
	}
	if out := h.must("sessions", "search", "Add b.txt", "--all"); !strings.Contains(out, "b.txt") {
		t.Errorf("the imported session:\n%s", out)
	}
	if out, err := far.run("tasks", "take", "1"); err == nil || !strings.Contains(out, base) || !strings.Contains(out, "--bundle FILE") {
		t.Errorf("taken into a folder without the commit that it began with: %v\n%s", err, out)
	}
	h.write("b.txt", "mine\n")
	if out, err := h.run("tasks", "take", "1"); err == nil || !strings.Contains(out, "nothing was merged") || read(t, h.dir, "b.txt") != "mine\n" {
		t.Errorf("a conflict: %v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(h.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(shortDir(t), "b.bundle")
	h.must("tasks", "take", "1", "--bundle", file)
	if got := h.git("bundle", "list-heads", file); got != v.Commit+" refs/heads/"+v.Branch {
		t.Errorf("the bundle has %q", got)
	}
	h.must("tasks", "take", "1")
	if read(t, h.dir, "b.txt") != "b.txt\n" || strings.Contains(h.git("worktree", "list"), "task-1") || h.git("branch", "--list", "jcode/*") != "" {
		t.Errorf("after it was taken: %s\n%s", h.git("worktree", "list"), h.git("branch", "--list"))
	}
	if out, err := h.run("tasks", "take", "1"); err == nil || !strings.Contains(out, "taken before") {
		t.Errorf("taken twice: %v\n%s", err, out)
	}
	h.must("tasks", "rm", "1")

	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "c.txt"), "--repo", h.address, "write c.txt")
	far.must("worker", "--once", "--repos", h.pattern)
	server.Exec(t, queueAddress(t, queue), "UPDATE task_bundles SET bytes = substr(bytes, 1, length(bytes) - 30)")
	if out, err := h.run("tasks", "take", "2"); err == nil || !strings.Contains(out, "damaged") || !strings.Contains(out, "nothing was changed") {
		t.Errorf("a damaged bundle: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "c.txt")); err == nil || strings.Contains(h.git("worktree", "list"), "task-") {
		t.Error("something of it was taken")
	}

	h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "d.txt"), "write d.txt in this folder")
	if out := far.must("worker", "--once"); strings.Contains(out, "begins") {
		t.Errorf("another machine works on a folder that it does not have:\n%s", out)
	}
	h.must("worker", "--once")
	far.git("fetch", "-q", h.dir, "HEAD")
	if diff := far.must("tasks", "diff", "3"); !strings.Contains(diff, "+d.txt") {
		t.Errorf("the diff on another machine:\n%s", diff)
	}
	far.must("tasks", "take", "3")
	if read(t, far.dir, "d.txt") != "d.txt\n" {
		t.Error("it was not taken on another machine")
	}
}

// queueAddress returns the address of the queue in settings.
func queueAddress(t *testing.T, settings string) string {
	t.Helper()
	_, rest, _ := strings.Cut(settings, `"queue":"`)
	address, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no queue in %s", settings)
	}
	return address
}

func TestABundleIsAFileBesideTheTasks(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	bundles := func() int {
		list, err := filepath.Glob(filepath.Join(h.home, "bundles", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for _, name := range []string{"b.txt", "c.txt"} {
		h.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, name), "--repo", h.address, "write "+name)
	}
	h.must("worker", "--once", "--repos", h.pattern)
	if bundles() != 2 || len(h.trees()) != 0 {
		t.Errorf("%d bundles, and the worktrees %v", bundles(), h.trees())
	}
	h.must("tasks", "take", "1")
	if bundles() != 1 || read(t, h.dir, "b.txt") != "b.txt\n" {
		t.Errorf("after one was taken there are %d bundles", bundles())
	}
	h.must("tasks", "rm", "--yes", "2")
	if bundles() != 0 {
		t.Errorf("after rm there are %d bundles", bundles())
	}
	if testing.Short() {
		return
	}
	large := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "head -c 68000000 /dev/urandom > large"}), says("", "Add large"))
	h.must("tasks", "add", "--mode", "yolo", "-m", large, "--repo", h.address, "write a large file")
	h.must("worker", "--once", "--repos", h.pattern)
	if v := h.task(3); v.State != "failed" || v.Commit == "" || !strings.Contains(v.Why, "64 MB") || len(h.trees()) != 1 {
		t.Errorf("a large result: %+v, with the worktrees %v", v, h.trees())
	}
	h.must("tasks", "rm", "--yes", "3")
}

func TestAKilledWorkerOfAnAddressLeavesOneResultAndNoWorktree(t *testing.T) {
	t.Parallel()
	h := newHosted(t)
	script := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "sleep 1"}), calls("", "write", map[string]any{"path": "b.txt", "content": "b\n"}), says("", "Add b"))
	for range 2 {
		h.must("tasks", "add", "--mode", "yolo", "-m", script, "--repo", h.address, "x")
	}
	w := h.worker("--repos", h.pattern)
	eventually.True(t, "both begin", func() bool { return len(h.trees()) >= 2 }, w.out.String)
	w.kill()
	out := h.must("worker", "--once", "--repos", h.pattern)
	for id := 1; id <= 2; id++ {
		if v := h.task(id); v.State != "done" || v.Commit == "" || v.Attempts != 2 {
			t.Errorf("%+v\n%s", v, out)
		}
	}
	if list := h.trees(); len(list) != 0 {
		t.Errorf("it left %v\n%s", list, out)
	}
}

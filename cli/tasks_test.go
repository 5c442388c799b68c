//go:build linux || darwin

package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

func TestATaskIsWorkedOnInAWorktreeAndTaken(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	base := r.git("rev-parse", "HEAD")
	if out := r.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "write", "b.txt"); strings.TrimSpace(out) != "1" {
		t.Errorf("added: %q", out)
	}
	r.write("later.txt", "a commit that came later\n")
	r.git("add", ".")
	r.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "later")
	r.must("worker", "--once")
	v := r.task(1)
	if v.State != "done" || v.Branch != "jcode/task-1" || v.Commit == "" || v.Session == "" || v.Summary != "Add b.txt\n\nNo checks were needed." || v.Steps != 2 {
		t.Errorf("the task: %+v", v)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "b.txt")); err == nil {
		t.Error("it wrote into the checkout")
	}
	if got := r.git("rev-parse", "jcode/task-1^"); got != base {
		t.Errorf("it began with %s, not with the commit of when it was added, %s", got, base)
	}
	message := r.git("log", "-1", "--format=%B", "jcode/task-1")
	for _, want := range []string{"Add b.txt\n\nNo checks were needed.", "Jcode-Task: 1", "Jcode-Session: " + v.Session, "Jcode-Cost: $"} {
		if !strings.Contains(message, want) {
			t.Errorf("the commit lacks %q:\n%s", want, message)
		}
	}
	if diff := r.must("tasks", "diff", "1"); !strings.Contains(diff, "+b.txt") || strings.Contains(diff, "later") {
		t.Errorf("the diff:\n%s", diff)
	}
	if out, err := r.run("-c", "-p", "-m", writesFile(t, "c.txt"), "go on"); err == nil || !strings.Contains(out, "no session in this folder") {
		t.Errorf("-c takes the task's session for a person's: %v\n%s", err, out)
	}
	if mine, theirs := r.must("sessions", "list"), r.must("sessions", "list", "--tasks"); strings.Contains(mine, "write b.txt") || !strings.Contains(theirs, "write b.txt") {
		t.Errorf("the session of a task is listed as a person's:\n%s\nthose of tasks:\n%s", mine, theirs)
	}
	if out := r.must("-r", v.Session, "-p", "-m", "replay:"+played(t, says("", "I go on")), "go on"); !strings.Contains(out, "I go on") {
		t.Errorf("continued by its ID: %s", out)
	}
	if log := r.must("tasks", "log", "1"); !strings.Contains(log, "Add b.txt") {
		t.Errorf("the transcript:\n%s", log)
	}
	r.must("tasks", "take", "1")
	if b, err := os.ReadFile(filepath.Join(r.dir, "b.txt")); err != nil || string(b) != "b.txt\n" {
		t.Errorf("taken: %q, %v", b, err)
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, "task-1") || !r.task(1).Taken {
		t.Errorf("after it was taken:\n%s", trees)
	}
	if out, err := r.run("tasks", "take", "1"); err == nil || !strings.Contains(out, "taken before") {
		t.Errorf("taken twice: %v\n%s", err, out)
	}
	r.must("tasks", "rm", "1")
	if list := r.tasks(); len(list) != 0 {
		t.Errorf("after rm: %+v", list)
	}
}

func TestTakingATaskThatConflictsChangesNothing(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	r.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "write b.txt")
	r.must("worker", "--once")
	r.write("b.txt", "mine\n")
	out, err := r.run("tasks", "take", "1")
	if err == nil || !strings.Contains(out, "nothing was merged") || !strings.Contains(out, "mine") {
		t.Errorf("taken: %v\n%s", err, out)
	}
	if b, _ := os.ReadFile(filepath.Join(r.dir, "b.txt")); string(b) != "mine\n" {
		t.Errorf("the file: %q", b)
	}
	if v := r.task(1); v.Taken || v.Branch == "" {
		t.Errorf("the task: %+v", v)
	}
}

func TestManyTasksComeFromAFileAndRunByPriorityOrderAndKey(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	script := writesFile(t, "b.txt")
	lines := fmt.Sprintf("{\"prompt\":\"low\",\"priority\":4,\"key\":\"k\",\"model\":%q}\n\n{\"prompt\":\"high\",\"priority\":1,\"model\":%q}\n{\"prompt\":\"later\",\"at\":\"24h\",\"model\":%q}\n", script, script, script)
	r.write("t.jsonl", lines)
	r.must("tasks", "add", "--mode", "edits", "--from", "t.jsonl")
	if out := r.must("tasks", "add", "--mode", "edits", "--key", "k", "again"); !strings.Contains(out, "nothing was queued") {
		t.Errorf("the same key: %s", out)
	}
	r.must("tasks", "add", "--mode", "edits", "-m", script, "--after", "1", "after low")
	w := r.must("worker", "--once", "--slots", "1")
	high, low, after := strings.Index(w, "task 2 (high) begins"), strings.Index(w, "task 1 (low) begins"), strings.Index(w, "task 4 (after low) begins")
	if high < 0 || low < high || after < low {
		t.Errorf("the order:\n%s", w)
	}
	if v := r.task(3); v.State != "queued" || !strings.Contains(v.Why, "not before") {
		t.Errorf("the one for tomorrow: %+v", v)
	}
	r.write("bad.jsonl", "{\"prompt\":\"x\"}\n{\"prompt\":\"x\",\"trust\":true}\n")
	if out, err := r.run("tasks", "add", "--mode", "edits", "--from", "bad.jsonl"); err == nil || !strings.Contains(out, "bad.jsonl:2") || len(r.tasks()) != 4 {
		t.Errorf("a key that nobody knows: %v\n%s", err, out)
	}
}

func TestAQuestionOfATaskIsAnsweredFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	script := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "touch c.txt"}), says("", "Add c.txt"))
	r.must("tasks", "add", "--mode", "edits", "-m", script, "touch c")
	w := r.worker()
	r.until(1, "asks", func(v taskJSON) bool { return v.State == "asks" })
	if show := r.must("tasks", "show", "1"); !strings.Contains(show, "touch c.txt") || !strings.Contains(show, "open") {
		t.Errorf("the question:\n%s", show)
	}
	if out, err := r.run("tasks", "answer", "1", "yes", "and", "rm", "too"); err == nil {
		t.Errorf("a yes with more words: %s", out)
	}
	r.must("tasks", "answer", "1", "yes")
	v := r.until(1, "ends", func(v taskJSON) bool { return v.State == "done" })
	if v.Attempts != 1 {
		t.Errorf("it took %d attempts\n%s", v.Attempts, w.out)
	}
	if diff := r.must("tasks", "diff", "1"); !strings.Contains(diff, "c.txt") {
		t.Errorf("the diff:\n%s", diff)
	}
}

// A question that nobody answers parks the task: its slot is free. The answer is good for exactly the call that
// was asked about, once; the next call, and another one, are asked about again.
func TestAParkedTaskGoesOnWithItsAnswer(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	r.config(`{"tasks":{"wait":"300ms"}}`)
	asks := calls("", "exec", map[string]any{"cmd": "touch c.txt"})
	script := played(t, asks)
	r.must("tasks", "add", "--mode", "edits", "-m", "replay:"+script, "touch c")
	r.must("worker", "--once")
	parked := r.task(1)
	if parked.State != "asks" || parked.Attempts != 1 {
		t.Fatalf("not parked: %+v", parked)
	}
	r.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "write b.txt") // the slot is free
	r.must("worker", "--once", "--slots", "1")
	if v := r.task(2); v.State != "done" {
		t.Errorf("the other one: %+v", v)
	}
	r.must("tasks", "answer", "1", "yes")
	rewrite(t, script, asks, asks, says("", "never said")) // the call twice
	r.must("worker", "--once")
	v := r.task(1)
	if v.State != "asks" || v.Attempts != 2 || v.Session != parked.Session {
		t.Errorf("the second call was not asked about, or another session began: %+v\n%s", v, r.must("tasks", "log", "1"))
	}
	r.must("tasks", "answer", "1", "no", "not", "twice")
	rewrite(t, script, says("", "Add c.txt"))
	r.must("worker", "--once")
	if v := r.task(1); v.State != "done" || v.Session != parked.Session {
		t.Errorf("in the end: %+v", v)
	}
	if diff := r.must("tasks", "diff", "1"); !strings.Contains(diff, "c.txt") {
		t.Errorf("what was allowed was not done:\n%s", diff)
	}
	if log := r.must("tasks", "log", "1"); !strings.Contains(log, "not twice") {
		t.Errorf("the model was not told the refusal:\n%s", log)
	}
}

// rewrite replaces the lines of a script.
func rewrite(t *testing.T, file string, lines ...map[string]any) {
	t.Helper()
	b, err := os.ReadFile(played(t, lines...))
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestATaskThatAsksNobodyIsToldNo(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	script := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "touch c.txt"}), says("", "Nothing could be done"))
	r.must("tasks", "add", "--no-ask", "--mode", "edits", "-m", script, "touch c")
	r.must("worker", "--once")
	if v := r.task(1); v.State != "done" || v.Commit != "" {
		t.Errorf("the task: %+v", v)
	}
	if log := r.must("tasks", "log", "1"); !strings.Contains(log, "(denied") {
		t.Errorf("the transcript:\n%s", log)
	}
}

func TestCancelEndsATaskThatWorks(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	script := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "sleep 600"}), says("", "slept"))
	r.must("tasks", "add", "--mode", "yolo", "-m", script, "sleep")
	r.worker()
	r.until(1, "works", func(v taskJSON) bool { return v.State == "working" && v.Steps > 0 })
	r.must("tasks", "cancel", "1")
	if v := r.until(1, "ends", func(v taskJSON) bool { return v.State == "failed" }); v.Why != "cancelled" {
		t.Errorf("the task: %+v", v)
	}
}

func TestTheTimeOfATaskIsLimited(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	script := "replay:" + played(t, calls("", "exec", map[string]any{"cmd": "sleep 600"}), says("", "slept"))
	r.must("tasks", "add", "--mode", "yolo", "--max-time", "1s", "-m", script, "sleep")
	r.must("worker", "--once")
	if v := r.task(1); v.State != "failed" || !strings.Contains(v.Why, "its time of 1s is over") {
		t.Errorf("the task: %+v", v)
	}
}

// However often workers are killed, each task has one result, and nothing is left of the attempts that were lost. By
// hand with more: JCODE_WORKER_KILLS=50 go test ./cli -run TestKillsOfWorkersLoseNoTask -v
func TestKillsOfWorkersLoseNoTask(t *testing.T) {
	t.Parallel()
	kills := 4
	if s := os.Getenv("JCODE_WORKER_KILLS"); s != "" {
		kills, _ = strconv.Atoi(s)
	}
	r := newTaskRoom(t)
	killsOfWorkers(t, r, kills, func(int) {})
	if left, _ := filepath.Glob(filepath.Join(r.home, "tasks", "*")); len(left) > 0 {
		t.Errorf("locks are left: %v", left)
	}
}

// killsOfWorkers kills workers of a room at random points. between is told of each kill.
func killsOfWorkers(t *testing.T, r *taskRoom, kills int, between func(n int)) {
	t.Helper()
	const count = 4
	for i := range count {
		name := fmt.Sprintf("f%d.txt", i)
		script := "replay:" + played(t,
			calls("", "write", map[string]any{"path": "half-" + name, "content": "half\n"}),
			calls("", "exec", map[string]any{"cmd": "sleep 0.3; git mv half-" + name + " " + name + " 2>/dev/null || mv half-" + name + " " + name}),
			says("", "Add "+name))
		r.must("tasks", "add", "--mode", "yolo", "-m", script, name)
	}
	for n := range kills {
		between(n)
		w := r.worker("--slots", "2")
		time.Sleep(time.Duration(300+rand.IntN(1500)) * time.Millisecond) // the point is random on purpose
		w.kill()
	}
	out := r.must("worker", "--once", "--slots", "2")
	for i := range count {
		v, name := r.task(i+1), fmt.Sprintf("f%d.txt", i)
		if v.State != "done" {
			t.Errorf("task %d: %+v\n%s", v.ID, v, out)
			continue
		}
		branch := fmt.Sprintf("jcode/task-%d", i+1)
		if v.Branch != branch || r.git("diff", "--name-only", "main", branch) != name || r.git("rev-list", "--count", "main.."+branch) != "1" {
			t.Errorf("task %d: %+v has the wrong result: %s", v.ID, v, r.git("diff", "--stat", "main", branch))
		}
	}
	trees := strings.Count(r.git("worktree", "list"), "\n")
	branches := len(strings.Fields(r.git("for-each-ref", "--format=%(refname)", "refs/heads/jcode")))
	if trees != count || branches != count {
		t.Errorf("%d worktrees and %d branches are left of %d tasks:\n%s", trees, branches, count, r.git("worktree", "list"))
	}
}

// A git that is killed with its worker leaves the lock of the task's branch in the repository.
func TestTheLockOfAKilledGitStopsNoTask(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	r.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "add b")
	heads := filepath.Join(r.dir, ".git", "refs", "heads", "jcode")
	if err := os.MkdirAll(heads, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(heads, "task-1.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := r.must("worker", "--once")
	if v := r.task(1); v.State != "done" || v.Branch != "jcode/task-1" || r.git("diff", "--name-only", "main", v.Branch) != "b.txt" {
		t.Errorf("%+v\n%s", v, out)
	}
}

func TestAModelThatFailsIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	r.config(`{"attempts":1}`)
	r.srv.Add(modeltest.Status(500, nil, `{"error":{"message":"broken"}}`))
	r.must("tasks", "add", "--mode", "edits", "say it")
	r.must("worker", "--once")
	if v := r.task(1); v.State != "queued" || !strings.Contains(v.Why, "broken") || v.Attempts != 1 {
		t.Fatalf("after the failure: %+v", v)
	}
	r.srv.Add(modeltest.Text("It is said"))
	r.must("tasks", "retry", "1") // does not wait
	r.must("worker", "--once")
	if v := r.task(1); v.State != "done" || v.Summary != "It is said" {
		t.Errorf("in the end: %+v", v)
	}
}

func TestTheCostOfADayIsLimited(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	r.config(`{"tasks":{"max_cost_per_day":1}}`)
	r.must("tasks", "add", "--mode", "edits", "--max-cost", "2", "-m", writesFile(t, "b.txt"), "too dear")
	r.must("worker", "--once")
	if v := r.task(1); v.State != "queued" || !strings.Contains(v.Why, "max_cost_per_day") || !strings.Contains(v.Why, "tomorrow") {
		t.Errorf("the task: %+v", v)
	}
}

func TestTheDoctorChecksTheQueueOfTasks(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	doctor := func(wants ...string) {
		t.Helper()
		out, _ := r.run("doctor", "--offline", "--tasks") // there may be other faults
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("the report lacks %q:\n%s", want, out)
			}
		}
	}
	doctor("none yet: jcode tasks add makes")
	if list, _ := filepath.Glob(filepath.Join(r.home, "tasks*")); len(list) != 0 {
		t.Errorf("to look made %v", list)
	}
	r.must("tasks", "add", "--mode", "edits", "say it")
	doctor("1 queued task in ", "no worker runs", "jcode worker begins one", "git works in "+r.dir)
	file := filepath.Join(r.home, "tasks.db")
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	r.write(".mcp.json", `{"mcpServers":{"x":{"command":"true"}}}`)
	doctor("other users may write "+file, "chmod go-w "+file, "waits for trust")
	if err := os.Rename(filepath.Join(r.dir, ".git"), filepath.Join(r.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	doctor("a task needs a git repository with a commit")
}

func TestAChatTouchesNoTasks(t *testing.T) {
	t.Parallel()
	c := newChat(t)
	c.start()
	c.say("/quit")
	if _, err := c.ExitCode(time.Minute); err != nil {
		t.Fatal(err)
	}
	if list, _ := filepath.Glob(filepath.Join(c.home, "tasks*")); len(list) != 0 {
		t.Errorf("a chat made %v", list)
	}
	if out, err := jcode(t.Context(), t, c.dir, c.home, c.srv.URL(), "tasks").CombinedOutput(); err != nil || !strings.Contains(string(out), "no tasks") {
		t.Errorf("jcode tasks: %v\n%s", err, out)
	}
	if list, _ := filepath.Glob(filepath.Join(c.home, "tasks*")); len(list) != 0 {
		t.Errorf("to look made %v", list)
	}
}

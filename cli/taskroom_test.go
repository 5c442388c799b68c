//go:build linux || darwin

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
)

// taskRoom is a repository with a home in which tasks are queued and worked on.
type taskRoom struct {
	*chat
}

func newTaskRoom(t *testing.T) *taskRoom {
	t.Helper()
	r := &taskRoom{newChat(t)}
	r.write("a.txt", "one\n")
	gitRepository(t, r.dir)
	return r
}

// run runs a command line and returns what it prints, with its error.
func (r *taskRoom) run(args ...string) (out string, err error) {
	r.t.Helper()
	b, err := jcode(r.t.Context(), r.t, r.dir, r.home, r.srv.URL(), args...).CombinedOutput()
	return string(b), err
}

// must is run for a command line that succeeds.
func (r *taskRoom) must(args ...string) string {
	r.t.Helper()
	out, err := r.run(args...)
	if err != nil {
		r.t.Fatalf("jcode %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// git runs git in the repository.
func (r *taskRoom) git(args ...string) string {
	r.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.dir}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// taskJSON is a task as jcode tasks --json prints it.
type taskJSON struct {
	ID                               int
	State, Why, Branch, Commit, Mode string
	Session, Summary                 string
	Attempts, Steps                  int
	Taken                            bool
}

func (r *taskRoom) tasks() (list []taskJSON) {
	r.t.Helper()
	out, err := jcode(r.t.Context(), r.t, r.dir, r.home, r.srv.URL(), "tasks", "--json", "-n", "1000").Output()
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	if err != nil {
		r.t.Fatalf("jcode tasks --json: %v\n%s", err, out)
	}
	return list
}

func (r *taskRoom) task(id int) taskJSON {
	r.t.Helper()
	for _, v := range r.tasks() {
		if v.ID == id {
			return v
		}
	}
	r.t.Fatalf("there is no task %d", id)
	return taskJSON{}
}

// until waits until a task is as wanted.
func (r *taskRoom) until(id int, what string, ok func(taskJSON) bool) taskJSON {
	r.t.Helper()
	var v taskJSON
	eventually.Within(r.t, 2*time.Minute, fmt.Sprintf("task %d %s", id, what), func() bool { v = r.task(id); return ok(v) },
		func() string { return fmt.Sprintf("%+v\n%s", v, r.must("tasks", "show", strconv.Itoa(id))) })
	return v
}

// startedWorker is a worker that runs.
type startedWorker struct {
	cmd *exec.Cmd
	out *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// worker starts a worker, which ends with the test.
func (r *taskRoom) worker(args ...string) *startedWorker {
	r.t.Helper()
	w := &startedWorker{jcode(r.t.Context(), r.t, r.dir, r.home, r.srv.URL(), append([]string{"worker"}, args...)...), &lockedBuffer{}}
	w.cmd.Stderr = w.out
	if err := w.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = w.cmd.Process.Signal(os.Interrupt)
		_ = w.cmd.Wait()
	})
	return w
}

// kill ends the worker as nothing can prepare for.
func (w *startedWorker) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

func (r *taskRoom) config(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.home, "config.json"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// writesFile is a script that writes a file and sums that up.
func writesFile(t *testing.T, name string) string {
	return "replay:" + played(t, calls("", "write", map[string]any{"path": name, "content": name + "\n"}), says("", "Add "+name+"\n\nNo checks were needed."))
}

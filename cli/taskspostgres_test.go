//go:build linux || darwin

package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"jcode/internal/testkit/postgrestest"
)

// onPostgres puts the tasks of a room into a Postgres.
func (r *taskRoom) onPostgres() *postgrestest.Server {
	r.t.Helper()
	var servers postgrestest.Servers // this test's own: it may end it
	server := servers.Of(r.t)
	r.t.Cleanup(servers.Stop)
	r.config(`{"tasks":{"queue":"` + server.Database(r.t) + `"}}`)
	return server
}

func TestATaskOfAPostgresIsWorkedOnAndTaken(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	server := r.onPostgres()
	r.must("tasks", "add", "--mode", "edits", "-m", writesFile(t, "b.txt"), "write b.txt")
	if err := os.Mkdir(filepath.Join(r.dir, ".jcode"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.write(".jcode/config.json", `{"tasks":{"queue":"postgres://elsewhere/x"}}`) // a project has no say
	r.must("worker", "--once")
	if v := r.task(1); v.State != "done" || v.Branch != "jcode/task-1" {
		t.Errorf("%+v", v)
	}
	r.must("tasks", "take", "1")
	if b, err := os.ReadFile(filepath.Join(r.dir, "b.txt")); err != nil || string(b) != "b.txt\n" {
		t.Errorf("taken: %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(r.home, "tasks.db")); err == nil {
		t.Error("there is a file of tasks too")
	}
	if err := server.Halt(); err != nil {
		t.Fatal(err)
	}
	if out, err := r.run("tasks"); err == nil || !strings.Contains(out, "can't be reached") {
		t.Errorf("without the Postgres: %v\n%s", err, out)
	}
}

func TestThePasswordOfThePostgresReachesNoCommand(t *testing.T) {
	t.Parallel()
	r := newTaskRoom(t)
	for _, name := range []string{"PGPASSWORD", "PGSSLPASSWORD"} {
		cmd := jcode(t.Context(), t, r.dir, r.home, r.srv.URL(), "-p", "--mode", "yolo", "-m", "replay:"+played(t, calls("", "exec", map[string]any{"cmd": "echo got:$" + name + ":"}), says("", "done")), "--output-format", "stream-json", "x")
		cmd.Env = append(cmd.Env, name+"=hidden-word")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "got::") || strings.Contains(string(out), "hidden-word") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// By hand, since others wait half a minute for a worker that is gone: JCODE_WORKER_KILLS=20 go test ./cli -run
// TestKillsOfWorkersOfAPostgresLoseNoTask -v
func TestKillsOfWorkersOfAPostgresLoseNoTask(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("JCODE_WORKER_KILLS"))
	if kills == 0 {
		t.Skip("JCODE_WORKER_KILLS says how many")
	}
	r := newTaskRoom(t)
	server := r.onPostgres()
	killsOfWorkers(t, r, kills, func(n int) {
		if n != kills/3 && n != 2*kills/3 {
			return
		}
		if err := server.Halt(); err != nil {
			t.Error(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
	})
}

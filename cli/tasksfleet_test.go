//go:build linux || darwin

package cli_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
)

// private returns how many bytes of memory of its own that were written a process has, 0 where that is not known.
func private(pid int) (n int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(b)) {
		var kb int
		if _, err := fmt.Sscanf(line, "Private_Dirty: %d kB", &kb); err == nil {
			n += kb << 10
		}
	}
	return n
}

// cpu returns the time on a processor that an ended process and its children used.
func cpu(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// Three workers with four slots each, every one with a data folder of its own as on three machines, share the tasks of an
// address: each task is done once, and nothing is left. The figures of docs/fleet.md, by hand:
// JCODE_FLEET_TASKS=1000 go test ./cli -run TestAFleetOfWorkers -v -timeout 0
func TestAFleetOfWorkersDoesEachTaskOnce(t *testing.T) {
	count := 12
	if s := os.Getenv("JCODE_FLEET_TASKS"); s != "" {
		count, _ = strconv.Atoi(s)
	} else if testing.Short() {
		t.Skip("it needs three workers")
	}
	h := newHosted(t)
	h.onPostgres()
	settings := read(t, h.home, "config.json")
	script := writesFile(t, "b.txt")

	// The same work without a queue, twelve at once.
	plain := min(count, 60)
	alone, used := make(chan time.Duration, plain), time.Duration(0)
	limit, began := make(chan struct{}, 12), time.Now()
	for range plain {
		limit <- struct{}{}
		dir := filepath.Join(shortDir(t), "w")
		h.git("clone", "-q", h.dir, dir)
		cmd := jcode(t.Context(), t, dir, h.home, h.srv.URL(), "-p", "--mode", "edits", "-m", script, "write b.txt")
		go func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("jcode -p: %v\n%s", err, out)
			}
			<-limit
			alone <- cpu(cmd)
		}()
	}
	for range plain {
		used += <-alone
	}
	t.Logf("%d × jcode -p, 12 at once: %s of wall time and %s of a processor each", plain, (time.Since(began) / time.Duration(plain)).Round(time.Millisecond), (used / time.Duration(plain)).Round(time.Millisecond))

	lines := strings.Repeat(fmt.Sprintf("{\"prompt\":\"write b.txt\",\"model\":%q,\"repo\":%q}\n", script, h.address), count)
	h.write("t.jsonl", lines)
	h.must("tasks", "add", "--mode", "edits", "--from", "t.jsonl")
	began = time.Now()
	var rooms []*taskRoom
	var workers []*startedWorker
	for range 3 {
		r := newTaskRoom(t)
		r.config(settings)
		rooms = append(rooms, r)
		workers = append(workers, r.worker("--slots", "4", "--repos", h.pattern))
	}
	db, err := sql.Open("postgres", queueAddress(t, settings))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	number := func(query string) (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	memory := make([][]int, len(workers))
	over, next := 0, 0
	eventually.Within(t, time.Minute+time.Duration(count)*10*time.Second, "all tasks are over", func() bool {
		if over = number("SELECT count(*) FROM tasks WHERE state IN ('done', 'failed')"); over >= next {
			for i, w := range workers {
				memory[i] = append(memory[i], private(w.cmd.Process.Pid)>>10)
			}
			next += max(count/10, 1)
		}
		return over >= count
	}, func() string { return fmt.Sprintf("%d of %d are over\n%s", over, count, workers[0].out) })
	took := time.Since(began)
	used = 0
	for i, w := range workers {
		if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = w.cmd.Wait() // its code is that of the signal
		used += cpu(w.cmd)
		t.Logf("worker %d: kB of its own after each tenth: %v", i+1, memory[i])
		if list := rooms[i].trees(); len(list) != 0 {
			t.Errorf("worker %d left %v", i+1, list)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg") // not everywhere
	each := time.Duration(count)
	t.Logf("%d tasks, 3 workers × 4 slots: %s, %s of wall time and %s of a processor each; load %s", count, took.Round(time.Second), (took / each).Round(time.Millisecond), (used / each).Round(time.Millisecond), strings.TrimSpace(string(load)))
	for query, want := range map[string]int{
		"SELECT count(*) FROM tasks WHERE state = 'done' AND attempt = 1 AND dir = '' AND result <> ''": count,
		"SELECT count(*) FROM task_attempts":                                            count,
		"SELECT count(*) FROM task_bundles WHERE length(bytes) > 0 AND length(log) > 0": count,
		"SELECT count(DISTINCT worker) FROM task_attempts":                              3,
	} {
		if got := number(query); got != want {
			t.Errorf("%s: %d, not %d", query, got, want)
		}
	}
	h.must("tasks", "take", strconv.Itoa(count))
	if read(t, h.dir, "b.txt") != "b.txt\n" {
		t.Error("the last one was not taken")
	}
}

// By hand, on a quiet machine: JCODE_QUEUED_TASKS=10000 go test ./cli -run TestALongQueueIsListedSoon -v
func TestALongQueueIsListedSoon(t *testing.T) {
	count, _ := strconv.Atoi(os.Getenv("JCODE_QUEUED_TASKS"))
	if count == 0 {
		t.Skip("JCODE_QUEUED_TASKS says how long")
	}
	for _, shared := range []bool{false, true} {
		r := newTaskRoom(t)
		if shared {
			r.onPostgres()
		}
		r.write("t.jsonl", strings.Repeat("{\"prompt\":\"x\"}\n", count))
		began := time.Now()
		r.must("tasks", "add", "--mode", "edits", "--from", "t.jsonl")
		added := time.Since(began)
		var times []time.Duration
		for range 9 {
			began := time.Now()
			out, err := jcode(t.Context(), t, r.dir, r.home, r.srv.URL(), "tasks", "--json").Output()
			times = append(times, time.Since(began).Round(time.Millisecond))
			var list []json.RawMessage
			if err != nil || json.Unmarshal(out, &list) != nil || len(list) != 20 {
				t.Fatalf("%d tasks, %v\n%s", len(list), err, out)
			}
		}
		slices.Sort(times)
		load, _ := os.ReadFile("/proc/loadavg") // not everywhere
		t.Logf("%d queued (Postgres: %v): added in %s, listed in %v; load %s", count, shared, added.Round(time.Millisecond), times, strings.TrimSpace(string(load)))
		if times[0] > 150*time.Millisecond {
			t.Errorf("listed in %s at best", times[0])
		}
	}
}

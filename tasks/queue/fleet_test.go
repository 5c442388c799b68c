package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/eventually"
	"jcode/internal/testkit/postgrestest"
	"jcode/tasks"
)

// fleetAt and fleetSize tell a process of the fleet the Postgres and how many workers it has.
const (
	fleetAt   = "JCODE_FLEET_AT"
	fleetSize = "JCODE_FLEET_SIZE"
)

// fleetMember is a process with workers whose tasks only sleep, until its input ends.
func fleetMember() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	size, err := strconv.Atoi(os.Getenv(fleetSize))
	var stops []func(context.Context) error
	for n := 0; n < size && err == nil; n++ {
		var stop func(context.Context) error
		stop, err = fleetWorker(ctx, fmt.Sprintf("w%d-%d", os.Getpid(), n))
		stops = append(stops, stop)
	}
	if err == nil {
		fmt.Println("ready")
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
		ending, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		for _, stop := range stops {
			err = errors.Join(err, stop(ending))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func fleetWorker(ctx context.Context, name string) (stop func(context.Context) error, err error) {
	store, err := tasks.Open(ctx, os.Getenv(fleetAt))
	if err != nil {
		return nil, err
	}
	store.Patient(time.Minute)
	store.At(name)
	q, err := Open(ctx, store)
	if err != nil {
		return nil, err
	}
	go func() {
		for ctx.Err() == nil {
			if err := store.Fleet().Beat(ctx, tasks.Worker{Name: name, Slots: 4}); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, err)
			}
			time.Sleep(tasks.BeatEvery)
		}
	}()
	return q.Start(ctx, Work{
		Worker: name, Slots: 4, Place: name, Wake: woken(ctx, store), Alive: func(string) bool { return true },
		Hold: func(context.Context, tasks.Task) (string, time.Time, error) { return "", time.Time{}, nil },
		Run: func(ctx context.Context, task tasks.Task) {
			time.Sleep(50 * time.Millisecond)
			if err := store.Done(context.WithoutCancel(ctx), task.ID, task.Attempt, tasks.Result{}, ""); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		},
		Failed: func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
}

// The figures of docs/fleet.md, by hand: JCODE_FLEET=6,50,100000 go test ./tasks/queue -run TestAFleet -v (processes,
// workers of each, tasks).
func TestAFleetDoesEachTaskOnce(t *testing.T) {
	var processes, size, most int
	if _, err := fmt.Sscanf(os.Getenv("JCODE_FLEET"), "%d,%d,%d", &processes, &size, &most); err != nil {
		t.Skip("JCODE_FLEET says how large")
	}
	own := postgrestest.Servers{Options: fmt.Sprintf("-c max_connections=%d -c shared_buffers=128MB -c fsync=on -c autovacuum=on -c shared_preload_libraries=pg_stat_statements", processes*size*6+50)}
	server := own.Of(t)
	t.Cleanup(own.Stop)
	address, ctx := server.Database(t), t.Context()
	server.Exec(t, address, "CREATE EXTENSION pg_stat_statements")
	store, err := tasks.Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	q, err := Open(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	for range processes {
		cmd := exec.CommandContext(context.WithoutCancel(ctx), os.Args[0]) // its input ends it
		cmd.Env = append(os.Environ(), fleetAt+"="+address, fmt.Sprintf("%s=%d", fleetSize, size))
		cmd.Stderr = os.Stderr
		in, errIn := cmd.StdinPipe()
		out, errOut := cmd.StdoutPipe()
		if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	number := func(query string) (n float64) {
		t.Helper()
		var v sql.NullFloat64
		if err := store.DB().QueryRowContext(ctx, query).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v.Float64
	}
	idle := number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
	const wal, calls = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn", "SELECT sum(calls) FROM pg_stat_statements WHERE query NOT ILIKE '%pg_stat%'"
	wal0, calls0, began := number(wal), number(calls), time.Now()
	list := make([]tasks.New, 0, 1000)
	for n := range most {
		list = append(list, tasks.New{Prompt: "sleep", Folder: os.TempDir()})
		if len(list) == cap(list) || n == most-1 {
			if _, err := store.Add(ctx, q, list...); err != nil {
				t.Fatal(err)
			}
			list = list[:0]
		}
	}
	added := time.Since(began)
	busy := 0.0
	eventually.Within(t, time.Hour, "all tasks are done", func() bool {
		counts, err := store.Counts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		busy = max(busy, number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"))
		return counts[tasks.Done] == most
	})
	took, n := time.Since(began), float64(most)
	if again := number("SELECT count(*) FROM tasks WHERE attempt <> 1"); again != 0 {
		t.Errorf("%v tasks ran more than once", again)
	}
	load, _ := os.ReadFile("/proc/loadavg") // not everywhere
	t.Logf("%d workers in %d processes, %d tasks: added in %s, done in %s: %.0f tasks a second; for each %.1f statements, %.0f bytes of WAL; connections %v idle, %v at most; load %s",
		processes*size, processes, most, added.Round(time.Millisecond), took.Round(time.Millisecond), n/took.Seconds(), (number(calls)-calls0)/n, (number(wal)-wal0)/n, idle, busy, strings.TrimSpace(string(load)))
	rows, err := store.DB().QueryContext(ctx, "SELECT calls, round(total_exec_time), left(regexp_replace(query, '\\s+', ' ', 'g'), 110) FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 14")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var calls, ms float64
		var query string
		if err := rows.Scan(&calls, &ms, &query); err != nil {
			t.Fatal(err)
		}
		t.Logf("%8.0f times %8.0f ms  %s", calls, ms, query)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

package tasks

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// channel is what is notified of tasks that came.
const channel = "jcode_tasks"

// A worker of a Postgres says so often that it is there, and is taken for gone when it did not for so long, by the
// clock of the Postgres.
const (
	BeatEvery = 10 * time.Second
	GoneAfter = 40 * time.Second
	// strandAfter is how long a task that was answered waits for the worker that has its session.
	strandAfter = 10 * time.Minute
)

// Worker is one that works on the tasks of a Postgres.
type Worker struct {
	Name, Host string
	Slots      int
}

// Fleet is the workers of a Postgres.
type Fleet struct{ s *Store }

// Fleet returns the workers of the tasks.
func (s *Store) Fleet() Fleet { return Fleet{s} }

// At names the data folder that this program has: a task in a folder of it is worked on there only.
func (s *Store) At(place string) { s.place = place }

// Place returns what At said.
func (s *Store) Place() string { return s.place }

// placeOf returns where a task can be worked on; "" for everywhere.
func (s *Store) placeOf(n New) string {
	if n.place != "" { // of a schedule, which is of another data folder
		return n.place
	}
	if s.db.postgres && n.Repo == "" {
		return s.place
	}
	return ""
}

const clock = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

// Beat says that a worker is there. It has a use on Postgres only.
func (f Fleet) Beat(ctx context.Context, w Worker) error {
	return f.s.tx(ctx, func(tx *tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO task_workers (name, host, place, slots, began, seen) VALUES (?, ?, ?, ?, "+clock+", "+clock+") ON CONFLICT (name) DO UPDATE SET seen = EXCLUDED.seen",
			w.Name, w.Host, f.s.place, w.Slots)
		return err
	})
}

// Left says that a worker is gone, and forgets those that have been for a day.
func (f Fleet) Left(ctx context.Context, name string) error {
	return f.s.tx(ctx, func(tx *tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM task_workers WHERE name = ? OR seen < "+clock+" - ?", name, (24 * time.Hour).Milliseconds())
		return err
	})
}

// List returns those that are there.
func (f Fleet) List(ctx context.Context) ([]Worker, error) {
	return list(ctx, f.s, func(row scanner) (w Worker, err error) {
		err = row.Scan(&w.Name, &w.Host, &w.Slots)
		return w, err
	}, "SELECT name, host, slots FROM task_workers WHERE seen > "+clock+" - ? ORDER BY name", GoneAfter.Milliseconds())
}

// Strand has parked tasks whose session is in a data folder without a worker begin again elsewhere, after a while.
func (f Fleet) Strand(ctx context.Context) error {
	return f.s.tx(ctx, func(tx *tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE tasks SET goes_on = 0, job = 0 WHERE state = 'queued' AND goes_on = 1 AND place = '' AND changed < ? AND NOT EXISTS (SELECT 1 FROM task_workers w WHERE w.place = tasks.parked_at AND w.seen > "+clock+" - ?)",
			millis(f.s.now().Add(-strandAfter)), GoneAfter.Milliseconds())
		return err
	})
}

// Listen tells of tasks that came to a Postgres, until ctx ends. It tells too when it was cut off for a while.
func (f Fleet) Listen(ctx context.Context) <-chan struct{} {
	came := make(chan struct{}, 1)
	go func() {
		l := pq.NewListener(f.s.where, time.Second, connIdle, nil)
		defer func() { _ = l.Close() }()      // it only listened
		go func() { _ = l.Listen(channel) }() // it fails when l is closed
		probe := time.NewTicker(connIdle)
		defer probe.Stop()
		for {
			select {
			case <-l.Notify:
				select {
				case came <- struct{}{}:
				default:
				}
			case <-probe.C:
				_ = l.Ping() // a connection that is dead is made anew
			case <-ctx.Done():
				return
			}
		}
	}()
	return came
}

// Package queue brings tasks to workers with River, a job queue in the tasks' own file.
//
// A job only names its task: what a task is, and what becomes of it, are the rows of package tasks. It must not know
// how a task is worked on.
package queue

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivermigrate"

	"jcode/tasks"
)

// queueOf names the queue of the workers of a data folder.
func queueOf(place string) string {
	if place == "" {
		return river.QueueDefault
	}
	return "at-" + place
}

// queuesOf names the queues of a worker in a data folder.
func queuesOf(place string) []string {
	if place == "" {
		return []string{river.QueueDefault}
	}
	return []string{river.QueueDefault, queueOf(place)}
}

// queueOfRepo names the queue of the tasks of an address: only workers that take it look there.
func queueOfRepo(repo string) string {
	sum := sha256.Sum256([]byte(repo))
	return "git-" + hex.EncodeToString(sum[:16])
}

// busySnooze is how long a job waits that came to a worker without a slot.
const busySnooze = time.Second

// job names the task that it brings.
type job struct {
	Task int64 `json:"task"`
}

// Kind implements river.JobArgs.
func (job) Kind() string { return "task" }

// Queue carries tasks.
type Queue struct {
	store  *tasks.Store
	insert *river.Client[*sql.Tx]
}

// Open prepares the file of tasks for jobs.
func Open(ctx context.Context, store *tasks.Store) (*Queue, error) {
	driver, _ := driverOf(store, nil)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet()})
	if err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	if err := migrate(ctx, store, migrator); err != nil {
		return nil, err
	}
	insert, err := river.NewClient(driver, &river.Config{Logger: quiet()})
	if err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	return &Queue{store, insert}, nil
}

// migrate brings the queue's own tables to the state that this program knows.
func migrate(ctx context.Context, store *tasks.Store, m *rivermigrate.Migrator[*sql.Tx]) error {
	known := m.AllVersions()
	newest := known[len(known)-1].Version
	var found sql.NullInt64
	err := store.DB().QueryRowContext(ctx, "SELECT MAX(version) FROM river_migration").Scan(&found)
	switch {
	case err == nil && found.Int64 == int64(newest):
		return nil
	case err == nil && found.Int64 > int64(newest):
		return fmt.Errorf("tasks: the queue in %s was written by a newer jcode (version %d, this one knows %d): update this jcode", store.Path(), found.Int64, newest)
	}
	if store.Shared() {
		conn, err := store.DB().Conn(ctx)
		if err != nil {
			return fmt.Errorf("tasks: %w", err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock(hashtext('jcode queue'))"); err != nil { // one at a time
			return fmt.Errorf("tasks: %w", err)
		}
		defer func() { _, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock(hashtext('jcode queue'))") }() // its end unlocks too
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("tasks: make the queue in %s: %w", store.Path(), err)
	}
	return nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Carry implements tasks.Carrier.
func (q *Queue) Carry(ctx context.Context, tx *sql.Tx, c tasks.Carried) (int64, error) {
	name := queueOf(c.Place)
	if c.Place == "" && c.Repo != "" {
		name = queueOfRepo(c.Repo)
	}
	res, err := q.insert.InsertTx(ctx, tx, job{c.Task}, &river.InsertOpts{Priority: c.Priority, ScheduledAt: c.At, Queue: name})
	if err != nil {
		return 0, err
	}
	return res.Job.ID, nil
}

// Work says how tasks are worked on.
type Work struct {
	// Worker is the name of this worker, Slots how many tasks it works on at once.
	Worker string
	Slots  int
	// Place is its data folder, "" where no other worker has another one.
	Place string
	// Takes reports whether tasks of an address are worked on; nil is for none.
	Takes func(repo string) bool
	// Wake tells that the file has changed: tasks may have come.
	Wake <-chan struct{}
	// Alive reports whether a worker is.
	Alive func(worker string) bool
	// Hold returns why a task must wait, and until when; "" for no reason.
	Hold func(ctx context.Context, t tasks.Task) (why string, until time.Time, err error)
	// Run works on a task until it is over, or ctx ends. It reports to the store itself.
	Run func(ctx context.Context, t tasks.Task)
	// Failed is told what went wrong with the queue.
	Failed func(err error)
}

// worker works on the tasks that jobs name.
type worker struct {
	river.WorkerDefaults[job]
	q    *tasks.Store
	w    Work
	rest *resting
	// slots holds one for each task that is worked on: there may be two queues, each of which brings as many as both may.
	slots chan struct{}
}

// Timeout implements river.Worker. A job has none; one whose worker is gone is over, so that the rescue ends it.
func (w *worker) Timeout(j *river.Job[job]) time.Duration {
	if n := len(j.AttemptedBy); n > 0 && !w.w.Alive(j.AttemptedBy[n-1]) {
		return time.Nanosecond
	}
	return -1
}

// NextRetry implements river.Worker: a job that failed in the queue itself comes again soon.
func (w *worker) NextRetry(*river.Job[job]) time.Time { return time.Now().Add(pollEvery) }

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	if !w.rest.enter() {
		return river.JobSnooze(0) // the client ends: the next one fetches it again
	}
	defer w.rest.leave()
	select {
	case w.slots <- struct{}{}:
	default:
		if w.w.Place == "" || j.Queue != queueOf(w.w.Place) {
			return river.JobSnooze(busySnooze) // another worker may have a slot
		}
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-w.slots }()
	t, err := w.q.Get(ctx, j.Args.Task)
	if errors.Is(err, tasks.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	why, until, err := w.w.Hold(ctx, t)
	if err != nil {
		return err
	}
	if why != "" {
		return ended(w.q.Wait(ctx, t.ID, j.ID, why, until))
	}
	if t, err = w.q.Claim(ctx, t.ID, j.ID, w.w.Worker); err != nil {
		return ended(err)
	}
	w.w.Run(ctx, t)
	return nil
}

// ended leaves out that a task is not this job's any more.
func ended(err error) error {
	if errors.Is(err, tasks.ErrOver) {
		return nil
	}
	return err
}

package tasks

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Added says what became of a new task.
type Added struct {
	ID int64
	// There says that a task with its key was there already; ID is that one's.
	There bool
}

// Add queues tasks, all or none.
func (s *Store) Add(ctx context.Context, by Carrier, list ...New) (out []Added, err error) {
	for i, n := range list {
		if err := n.check(); err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("task %d of %d: %w", i+1, len(list), err)
			}
			return nil, err
		}
	}
	err = s.tx(ctx, func(tx *tx) error {
		out = nil
		for _, n := range list {
			added, err := s.insert(ctx, tx, n)
			if err != nil {
				return err
			}
			out = append(out, added)
		}
		return s.release(ctx, tx, by)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Store) insert(ctx context.Context, tx *tx, n New) (Added, error) {
	there, err := sameKey(ctx, tx, n)
	if err != nil || there != 0 { // no number is used up
		return Added{ID: there, There: true}, err
	}
	now := millis(s.now())
	id, err := tx.insert(ctx, `INSERT INTO tasks (prompt, folder, repo, place, base, role, model, mode, max_steps, max_cost, max_time, no_ask, priority, not_before, key, push, schedule, state, created, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
		n.Prompt, n.Folder, n.Repo, s.placeOf(n), n.Base, n.Role, n.Model, n.Mode, n.MaxSteps, n.MaxCost, n.MaxTime.Milliseconds(), bit(n.NoAsk), cmp.Or(n.Priority, 2), millis(n.NotBefore), n.Key, n.Push, n.schedule, now, now)
	if errors.Is(err, sql.ErrNoRows) {
		there, err = sameKey(ctx, tx, n) // another one was faster
		return Added{ID: there, There: true}, err
	}
	if err != nil {
		return Added{}, err
	}
	for _, before := range n.After {
		if _, err := get(ctx, tx, before); err != nil {
			return Added{}, fmt.Errorf("the task that it comes after: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO task_after VALUES (?, ?) ON CONFLICT DO NOTHING", id, before); err != nil {
			return Added{}, err
		}
	}
	return Added{ID: id}, nil
}

// sameKey returns the task with the key of a new one that is not over, 0 for none.
func sameKey(ctx context.Context, tx *tx, n New) (id int64, err error) {
	if n.Key == "" {
		return 0, nil
	}
	found, err := collect(ctx, tx, value[int64], "SELECT id FROM tasks WHERE key = ? AND state IN ('queued', 'working', 'asks')", n.Key)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// Release has every queued task carried that nothing carries yet and that comes after none which is not done.
func (s *Store) Release(ctx context.Context, by Carrier) error {
	return s.tx(ctx, func(tx *tx) error { return s.release(ctx, tx, by) })
}

// needs is the data folder whose workers alone can work on a task: that of its folder, or of its parked session.
const needs = "CASE WHEN goes_on = 1 AND place = '' THEN parked_at ELSE place END"

// begins is when a task may be worked on.
const begins = "CASE WHEN not_before > next_at THEN not_before ELSE next_at END"

// free are the queued tasks that wait for no other.
const free = `state = 'queued' AND NOT EXISTS (SELECT 1 FROM task_after a LEFT JOIN tasks b ON b.id = a.before WHERE a.task = tasks.id AND b.state IS DISTINCT FROM 'done')`

func (s *Store) release(ctx context.Context, tx *tx, by Carrier) error {
	list, err := collect(ctx, tx, func(row scanner) (Carried, error) {
		var c Carried
		var at int64
		err := row.Scan(&c.Task, &c.Priority, &c.Place, &c.Repo, &at)
		c.At = instant(at)
		return c, err
	}, "SELECT id, priority, "+needs+", repo, "+begins+" FROM tasks WHERE job = 0 AND "+free+" ORDER BY priority, id"+tx.skipping())
	if err != nil {
		return err
	}
	for _, c := range list {
		job, err := by.Carry(ctx, tx.Tx, c)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE tasks SET job = ? WHERE id = ?", job, c.Task); err != nil {
			return err
		}
	}
	if tx.postgres && len(list) > 0 {
		_, err = tx.ExecContext(ctx, "SELECT pg_notify('"+channel+"', '')")
	}
	return err
}

// Pending returns how many tasks could be worked on now from this data folder, or are. takes reports whether those of an
// address are worked on here.
func (s *Store) Pending(ctx context.Context, takes func(repo string) bool) (n int, err error) {
	now := millis(s.now())
	found, err := list(ctx, s, func(row scanner) (count struct {
		repo string
		n    int
	}, err error,
	) {
		err = row.Scan(&count.repo, &count.n)
		return count, err
	}, "SELECT CASE WHEN state = 'queued' THEN repo ELSE '' END, COUNT(*) FROM tasks WHERE state = 'working' OR state = 'asks' AND worker <> '' OR "+begins+" <= ? AND "+needs+" IN ('', ?) AND "+free+" GROUP BY 1", now, s.place)
	for _, count := range found {
		if count.repo == "" || takes(count.repo) {
			n += count.n
		}
	}
	return n, err
}

// Ready reports whether a task of a folder waits for nothing but a worker.
func (s *Store) Ready(ctx context.Context) (ready bool, err error) {
	return one(ctx, s, value[bool], "SELECT EXISTS (SELECT 1 FROM tasks WHERE repo = '' AND "+begins+" <= ? AND "+needs+" IN ('', ?) AND "+free+")", millis(s.now()), s.place)
}

// Repos returns the addresses whose tasks wait for nothing but a worker.
func (s *Store) Repos(ctx context.Context) ([]string, error) {
	return list(ctx, s, value[string], "SELECT DISTINCT repo FROM tasks WHERE repo <> '' AND "+begins+" <= ? AND "+needs+" IN ('', ?) AND "+free, millis(s.now()), s.place)
}

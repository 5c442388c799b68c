package tasks

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
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
	err = s.tx(ctx, func(tx *sql.Tx) error {
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

func (s *Store) insert(ctx context.Context, tx *sql.Tx, n New) (Added, error) {
	if n.Key != "" {
		var id int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM tasks WHERE key = ? AND state IN ('queued', 'working', 'asks')", n.Key).Scan(&id)
		if err == nil {
			return Added{ID: id, There: true}, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return Added{}, err
		}
	}
	now := millis(s.now())
	res, err := tx.ExecContext(ctx, `INSERT INTO tasks (prompt, folder, base, role, model, mode, max_steps, max_cost, max_time, no_ask, priority, not_before, key, schedule, state, created, changed)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
		n.Prompt, n.Folder, n.Base, n.Role, n.Model, n.Mode, n.MaxSteps, n.MaxCost, n.MaxTime.Milliseconds(), n.NoAsk, cmp.Or(n.Priority, 2), millis(n.NotBefore), n.Key, n.schedule, now, now)
	if err != nil {
		return Added{}, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return Added{}, err
	}
	for _, before := range n.After {
		if _, err := get(ctx, tx, before); err != nil {
			return Added{}, fmt.Errorf("the task that it comes after: %w", err)
		}
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO task_after VALUES (?, ?)", id, before); err != nil {
			return Added{}, err
		}
	}
	return Added{ID: id}, nil
}

// Release has every queued task carried that nothing carries yet and that comes after none which is not done.
func (s *Store) Release(ctx context.Context, by Carrier) error {
	return s.tx(ctx, func(tx *sql.Tx) error { return s.release(ctx, tx, by) })
}

// free are the queued tasks that wait for no other.
const free = `state = 'queued' AND NOT EXISTS (SELECT 1 FROM task_after a LEFT JOIN tasks b ON b.id = a.before WHERE a.task = tasks.id AND b.state IS NOT 'done')`

func (s *Store) release(ctx context.Context, tx *sql.Tx, by Carrier) error {
	type waiting struct {
		id       int64
		priority int
		at       time.Time
	}
	list, err := collect(ctx, tx, func(row scanner) (waiting, error) {
		var w waiting
		var at int64
		err := row.Scan(&w.id, &w.priority, &at)
		w.at = instant(at)
		return w, err
	}, "SELECT id, priority, MAX(not_before, next_at) FROM tasks WHERE job = 0 AND "+free+" ORDER BY priority, id")
	if err != nil {
		return err
	}
	for _, w := range list {
		job, err := by.Carry(ctx, tx, w.id, w.priority, w.at)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE tasks SET job = ? WHERE id = ?", job, w.id); err != nil {
			return err
		}
	}
	return nil
}

// Pending returns how many tasks could be worked on now, or are.
func (s *Store) Pending(ctx context.Context) (n int, err error) {
	now := millis(s.now())
	err = s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM tasks WHERE state = 'working' OR state = 'asks' AND worker <> '' OR MAX(not_before, next_at) <= ? AND "+free, now).Scan(&n)
	return n, s.explain(err)
}

// Ready reports whether a task waits for nothing but a worker.
func (s *Store) Ready(ctx context.Context) (ready bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM tasks WHERE MAX(not_before, next_at) <= ? AND "+free+")", millis(s.now())).Scan(&ready)
	return ready, s.explain(err)
}

package tasks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// How often a task may fail or be lost before it is given up, and the wait after the first failure.
const (
	mostFails = 3
	mostLost  = 10
	firstWait = 5 * time.Second
)

// The outcomes of attempts.
const (
	OutcomeDone    = "done"
	OutcomeFailed  = "failed"
	OutcomeLost    = "lost"
	OutcomeParked  = "parked"
	OutcomeStopped = "stopped"
)

// ErrOver says that an attempt is no longer the task's: another one has begun, or the task is over.
var ErrOver = errors.New("this attempt is over")

// change runs a statement that must change one row.
func change(ctx context.Context, tx *tx, query string, args ...any) error {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrOver
	}
	return err
}

// Claim begins an attempt at a task that a job brought. It returns ErrOver if something else carries the task now, or
// it is not queued any more.
func (s *Store) Claim(ctx context.Context, id, job int64, worker string) (t Task, err error) {
	err = s.tx(ctx, func(tx *tx) error {
		now := millis(s.now())
		if err := change(ctx, tx, "UPDATE tasks SET state = 'working', attempt = attempt + 1, worker = ?, note = '', changed = ?, next_at = 0, cancel = 0 WHERE id = ? AND job = ? AND state = 'queued'",
			worker, now, id, job); err != nil {
			return err
		}
		if t, err = tx.held(ctx, id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO task_attempts (task, number, worker, began) VALUES (?, ?, ?, ?)", id, t.Attempt, worker, now)
		return err
	})
	return t, err
}

// Began notes where an attempt works. It returns ErrOver as all that an attempt notes.
func (s *Store) Began(ctx context.Context, id int64, attempt int, session, dir, branch string) error {
	return s.tx(ctx, func(tx *tx) error {
		if err := change(ctx, tx, "UPDATE tasks SET session = ?, dir = ?, branch = ?, changed = ? WHERE id = ? AND attempt = ? AND state IN ('working', 'asks')",
			session, dir, branch, millis(s.now()), id, attempt); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE task_attempts SET session = ? WHERE task = ? AND number = ?", session, id, attempt)
		return err
	})
}

// Based notes the commit that an attempt begins with, where that was not known before.
func (s *Store) Based(ctx context.Context, id int64, attempt int, base string) error {
	return s.tx(ctx, func(tx *tx) error {
		return change(ctx, tx, "UPDATE tasks SET base = ?, changed = ? WHERE id = ? AND attempt = ? AND state IN ('working', 'asks')", base, millis(s.now()), id, attempt)
	})
}

// Progress notes the steps and the cost of an attempt, and reports whether a person wants the task to end.
func (s *Store) Progress(ctx context.Context, id int64, attempt, steps int, cost float64) (cancel bool, err error) {
	err = s.tx(ctx, func(tx *tx) error {
		if err := tx.hold(ctx, id); err != nil {
			return err
		}
		if err := change(ctx, tx, "UPDATE task_attempts SET steps = ?, cost = ? WHERE task = ? AND number = ? AND ended = 0", steps, cost, id, attempt); err != nil {
			return err
		}
		if err := change(ctx, tx, `UPDATE tasks SET steps = (SELECT SUM(steps) FROM task_attempts WHERE task = tasks.id), cost = (SELECT SUM(cost) FROM task_attempts WHERE task = tasks.id), changed = ?
			WHERE id = ? AND attempt = ?`, millis(s.now()), id, attempt); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT cancel FROM tasks WHERE id = ?", id).Scan(&cancel)
	})
	return cancel, err
}

// Cancelled reports whether a person wants a task to end, or its attempt is over.
func (s *Store) Cancelled(ctx context.Context, id int64, attempt int) (bool, error) {
	cancel, err := one(ctx, s, value[bool], "SELECT cancel FROM tasks WHERE id = ? AND attempt = ? AND state IN ('working', 'asks')", id, attempt)
	if errors.Is(err, sql.ErrNoRows) {
		return true, ErrOver
	}
	return cancel, err
}

// end closes an attempt's row, and changes the task as said.
func end(ctx context.Context, s *Store, id int64, attempt int, outcome, set string, args ...any) error {
	return s.tx(ctx, func(tx *tx) error { return s.endIn(ctx, tx, id, attempt, outcome, set, args...) })
}

func (s *Store) endIn(ctx context.Context, tx *tx, id int64, attempt int, outcome, set string, args ...any) error {
	now := millis(s.now())
	args = append(append([]any{now}, args...), id, attempt)
	if err := change(ctx, tx, "UPDATE tasks SET worker = '', job = 0, changed = ?, "+set+" WHERE id = ? AND attempt = ? AND state IN ('working', 'asks') AND worker <> ''", args...); err != nil {
		return err
	}
	if outcome != OutcomeParked {
		if err := withdraw(ctx, tx, id); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "UPDATE task_attempts SET ended = ?, outcome = ? WHERE task = ? AND number = ?", now, outcome, id, attempt)
	return err
}

// Done ends a task with its result and a summary.
func (s *Store) Done(ctx context.Context, id int64, attempt int, r Result, summary string) error {
	return endWith(ctx, s, id, attempt, OutcomeDone, r, "state = 'done', note = '', result = ?, summary = ?", r.Commit, summary)
}

// Fail ends a task that another attempt would not help.
func (s *Store) Fail(ctx context.Context, id int64, attempt int, why string) error {
	return s.FailWith(ctx, id, attempt, Result{}, why)
}

// FailWith is Fail for a task of which something came out all the same.
func (s *Store) FailWith(ctx context.Context, id int64, attempt int, r Result, why string) error {
	return endWith(ctx, s, id, attempt, OutcomeFailed, r, "state = 'failed', result = ?, note = ?", r.Commit, why)
}

// Again queues a task whose attempt failed for a reason that may pass. It waits longer each time, and is given up after
// some.
func (s *Store) Again(ctx context.Context, id int64, attempt int, why string) error {
	return s.tx(ctx, func(tx *tx) error {
		t, err := tx.held(ctx, id)
		if err != nil {
			return err
		}
		if t.Fails+1 >= mostFails {
			return s.endIn(ctx, tx, id, attempt, OutcomeFailed, "state = 'failed', fails = fails + 1, note = ?", fmt.Sprintf("%s (%d attempts)", why, t.Fails+1))
		}
		wait := firstWait * time.Duration((t.Fails+1)*(t.Fails+1))
		return s.endIn(ctx, tx, id, attempt, OutcomeFailed, "state = 'queued', goes_on = 0, fails = fails + 1, note = ?, next_at = ?", why, millis(s.now().Add(wait)))
	})
}

// Stopped queues a task again whose attempt was ended from outside, which is nothing that it failed at.
func (s *Store) Stopped(ctx context.Context, id int64, attempt int) error {
	return end(ctx, s, id, attempt, OutcomeStopped, "state = 'queued', goes_on = 0, note = ''")
}

// Lost queues a task again whose attempt ended without a word.
func (s *Store) Lost(ctx context.Context, id int64, attempt int, why string) error {
	return s.tx(ctx, func(tx *tx) error { return s.lost(ctx, tx, id, attempt, why) })
}

func (s *Store) lost(ctx context.Context, tx *tx, id int64, attempt int, why string) error {
	t, err := tx.held(ctx, id)
	switch {
	case err != nil:
		return err
	case t.Cancel:
		return s.endIn(ctx, tx, id, attempt, OutcomeLost, "state = 'failed', note = 'cancelled'")
	case t.Lost+1 >= mostLost:
		return s.endIn(ctx, tx, id, attempt, OutcomeLost, "state = 'failed', lost = lost + 1, note = ?", fmt.Sprintf("%s, %d times", why, t.Lost+1))
	}
	return s.endIn(ctx, tx, id, attempt, OutcomeLost, "state = 'queued', goes_on = 0, lost = lost + 1, note = ?", why)
}

// Rescue queues the tasks again whose worker is gone.
func (s *Store) Rescue(ctx context.Context, alive func(worker string) bool) (rescued []int64, err error) {
	held, err := list(ctx, s, scanTask, "SELECT "+columns+" FROM tasks WHERE state IN ('working', 'asks') AND worker <> ''")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, t := range held {
		lives, asked := known[t.Worker]
		if !asked {
			lives = alive(t.Worker)
			known[t.Worker] = lives
		}
		if lives {
			continue
		}
		switch err := s.Lost(ctx, t.ID, t.Attempt, "its worker ended without a result"); {
		case errors.Is(err, ErrOver): // somebody else was faster
		case err != nil:
			return rescued, err
		default:
			rescued = append(rescued, t.ID)
		}
	}
	return rescued, nil
}

// Wait notes why a task that could be worked on is not, and when it is looked at again.
func (s *Store) Wait(ctx context.Context, id, job int64, why string, until time.Time) error {
	return s.tx(ctx, func(tx *tx) error {
		return change(ctx, tx, "UPDATE tasks SET note = ?, next_at = ?, job = 0, changed = ? WHERE id = ? AND job = ? AND state = 'queued'", why, millis(until), millis(s.now()), id, job)
	})
}

// Spent returns what the attempts that began at a time or later cost, and what is set aside for those that work.
func (s *Store) Spent(ctx context.Context, since time.Time) (cost float64, err error) {
	return one(ctx, s, value[float64], `SELECT COALESCE(SUM(CASE WHEN a.ended = 0 AND t.max_cost > a.cost THEN t.max_cost ELSE a.cost END), 0)
		FROM task_attempts a JOIN tasks t ON t.id = a.task WHERE a.began >= ? OR a.ended = 0`, millis(since))
}

// Cancel ends a task: at once where nothing works on it, else its worker is told.
func (s *Store) Cancel(ctx context.Context, id int64) (t Task, err error) {
	err = s.tx(ctx, func(tx *tx) error {
		if t, err = tx.held(ctx, id); err != nil {
			return err
		}
		switch {
		case t.Over():
			return fmt.Errorf("task %d is %s already", id, t.State)
		case t.Worker != "":
			t.Cancel = true
			return change(ctx, tx, "UPDATE tasks SET cancel = 1, changed = ? WHERE id = ?", millis(s.now()), id)
		}
		t.State = Failed
		if err := withdraw(ctx, tx, id); err != nil {
			return err
		}
		return change(ctx, tx, "UPDATE tasks SET state = 'failed', note = 'cancelled', job = 0, changed = ? WHERE id = ?", millis(s.now()), id)
	})
	return t, err
}

// Retry queues a task again that failed, as if it had not been tried.
func (s *Store) Retry(ctx context.Context, by Carrier, id int64) error {
	return s.tx(ctx, func(tx *tx) error {
		t, err := tx.held(ctx, id)
		switch {
		case err != nil:
			return err
		case t.State == Queued && (!t.NextAt.IsZero() || t.Continue): // its wait is over
		case t.State != Failed:
			return fmt.Errorf("task %d is %s: only one that failed is tried again", id, t.State)
		}
		if t.Key != "" {
			var other int64
			if tx.QueryRowContext(ctx, "SELECT id FROM tasks WHERE key = ? AND id <> ? AND state IN ('queued', 'working', 'asks')", t.Key, id).Scan(&other) == nil {
				return fmt.Errorf("task %d has the same key and is not over: nothing was changed", other)
			}
		}
		if err := change(ctx, tx, "UPDATE tasks SET state = 'queued', note = '', fails = 0, lost = 0, goes_on = 0, next_at = 0, cancel = 0, job = 0, changed = ? WHERE id = ?", millis(s.now()), id); err != nil {
			return err
		}
		return s.release(ctx, tx, by)
	})
}

// Remove forgets a task that nobody works on, with its bundle.
func (s *Store) Remove(ctx context.Context, id int64) error {
	err := s.tx(ctx, func(tx *tx) error {
		t, err := tx.held(ctx, id)
		if err != nil {
			return err
		}
		if t.Worker != "" {
			return fmt.Errorf("task %d is being worked on: jcode tasks cancel %d first", id, id)
		}
		return change(ctx, tx, "DELETE FROM tasks WHERE id = ?", id)
	})
	if err == nil {
		err = removeFiles(s, id, "")
	}
	return err
}

// Took notes that what came out of a task was taken; its worktree and its bundle are gone then, unless something is left
// there.
func (s *Store) Took(ctx context.Context, id int64, stays bool) error {
	set := "dir = '', branch = '', "
	if stays {
		set = ""
	}
	err := s.tx(ctx, func(tx *tx) error {
		now := millis(s.now())
		if err := change(ctx, tx, "UPDATE tasks SET "+set+"taken = ?, changed = ? WHERE id = ?", now, now, id); err != nil || stays {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE task_bundles SET bytes = ? WHERE task = ?", []byte{}, id) // the log stays
		return err
	})
	if err == nil && !stays {
		err = removeFiles(s, id, "")
	}
	return err
}

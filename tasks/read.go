package tasks

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

const columns = `id, prompt, folder, repo, place, base, role, model, mode, max_steps, max_cost, max_time, no_ask, priority, not_before, key, push, schedule,
	state, note, created, changed, next_at, job, attempt, fails, lost, worker, session, goes_on, dir, branch, result, summary, steps, cost, cancel, taken,
	(SELECT '[' || COALESCE(string_agg(CAST(before AS TEXT), ','), '') || ']' FROM task_after WHERE task = tasks.id)`

// scanner is a row that is read.
type scanner interface{ Scan(dest ...any) error }

func scanTask(row scanner) (Task, error) {
	var t Task
	var maxTime, notBefore, created, changed, next, taken int64
	var after string
	err := row.Scan(&t.ID, &t.Prompt, &t.Folder, &t.Repo, &t.place, &t.Base, &t.Role, &t.Model, &t.Mode, &t.MaxSteps, &t.MaxCost, &maxTime, &t.NoAsk, &t.Priority, &notBefore, &t.Key, &t.Push, &t.schedule,
		&t.State, &t.Note, &created, &changed, &next, &t.Job, &t.Attempt, &t.Fails, &t.Lost, &t.Worker, &t.Session, &t.Continue, &t.Dir, &t.Branch, &t.Commit, &t.Summary, &t.Steps, &t.Cost, &t.Cancel, &taken, &after)
	if errors.Is(err, sql.ErrNoRows) {
		return t, ErrNone
	}
	if err != nil {
		return t, err
	}
	t.MaxTime, t.NotBefore, t.Created, t.Changed = time.Duration(maxTime)*time.Millisecond, instant(notBefore), instant(created), instant(changed)
	t.NextAt, t.Taken = instant(next), instant(taken)
	if err := json.Unmarshal([]byte(after), &t.After); err != nil {
		return t, fmt.Errorf("task %d: %w", t.ID, err)
	}
	return t, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func get(ctx context.Context, q querier, id int64) (Task, error) {
	t, err := scanTask(q.QueryRowContext(ctx, "SELECT "+columns+" FROM tasks WHERE id = ?", id))
	if errors.Is(err, ErrNone) {
		return t, fmt.Errorf("%w as %d: jcode tasks lists them", ErrNone, id)
	}
	return t, err
}

// Get returns a task.
func (s *Store) Get(ctx context.Context, id int64) (Task, error) {
	var t Task
	err := s.again(ctx, func() (err error) {
		t, err = get(ctx, s.db, id)
		return err
	})
	return t, err
}

// held is get for a task that nobody else may change until the transaction ends.
func (t *tx) held(ctx context.Context, id int64) (Task, error) {
	if err := t.hold(ctx, id); err != nil {
		return Task{}, err
	}
	return get(ctx, t, id)
}

// hold keeps all others from changing a task until the transaction ends. Whatever changes rows of a task holds it first.
func (t *tx) hold(ctx context.Context, id int64) error {
	_, err := collect(ctx, t, value[int64], "SELECT id FROM tasks WHERE id = ?"+t.holding(), id)
	return err
}

// value reads a row of one column.
func value[T any](row scanner) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}

// one reads the row of a query.
func one[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), query string, args ...any) (out T, err error) {
	err = s.again(ctx, func() (err error) {
		out, err = scan(s.db.QueryRowContext(ctx, query, args...))
		return err
	})
	return out, err
}

// list reads all rows of a query.
func list[T any](ctx context.Context, s *Store, scan func(scanner) (T, error), query string, args ...any) (out []T, err error) {
	err = s.again(ctx, func() (err error) {
		out, err = collect(ctx, s.db, scan, query, args...)
		return err
	})
	return out, err
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) (out []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// List returns tasks in one of some states, all without one, the newest first; most limits them, 0 for no limit.
func (s *Store) List(ctx context.Context, most int, states ...State) ([]Task, error) {
	query, args := "SELECT "+columns+" FROM tasks", []any{}
	if len(states) > 0 {
		query += " WHERE state IN (?" + strings.Repeat(", ?", len(states)-1) + ")"
		for _, st := range states {
			args = append(args, st)
		}
	}
	query += " ORDER BY id DESC"
	if most > 0 {
		query += fmt.Sprintf(" LIMIT %d", most)
	}
	return list(ctx, s, scanTask, query, args...)
}

// Counts returns how many tasks are in each state.
func (s *Store) Counts(ctx context.Context) (map[State]int, error) {
	out := map[State]int{}
	_, err := list(ctx, s, func(row scanner) (struct{}, error) {
		var st State
		var n int
		err := row.Scan(&st, &n)
		out[st] = n
		return struct{}{}, err
	}, "SELECT state, COUNT(*) FROM tasks GROUP BY state")
	return out, err
}

// Attempts returns the attempts at a task.
func (s *Store) Attempts(ctx context.Context, id int64) ([]Attempt, error) {
	return list(ctx, s, func(row scanner) (Attempt, error) {
		var a Attempt
		var began, ended int64
		err := row.Scan(&a.Number, &a.Session, &a.Worker, &began, &ended, &a.Outcome, &a.Steps, &a.Cost)
		a.Began, a.Ended = instant(began), instant(ended)
		return a, err
	}, "SELECT number, session, worker, began, ended, outcome, steps, cost FROM task_attempts WHERE task = ? ORDER BY number", id)
}

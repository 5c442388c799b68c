package tasks

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
)

// MaxBundle and MaxLog bound what is kept of a task's result, in bytes.
const (
	MaxBundle = 64 << 20
	MaxLog    = 16 << 20
)

// Result is what came out of an attempt.
type Result struct {
	Commit string
	// Bundle is the commit as a git bundle, nil where the repository that has it is the task's own folder.
	Bundle []byte
	// Log is the session for those who don't have it, nil for none.
	Log []byte
}

// bundleFile returns the file of an attempt's bundle. A Postgres has bundles as rows.
func bundleFile(s *Store, id int64, attempt int) string {
	return filepath.Join(filepath.Dir(s.path), "bundles", fmt.Sprintf("task-%d-%d.bundle", id, attempt))
}

// endWith ends an attempt with its result. A file is written before, and counts only when the row names its attempt.
func endWith(ctx context.Context, s *Store, id int64, attempt int, outcome string, r Result, set string, args ...any) error {
	if len(r.Bundle) > MaxBundle || len(r.Log) > MaxLog {
		return fmt.Errorf("tasks: the result of task %d is too large to be kept", id)
	}
	bytes, file := r.Bundle, ""
	if len(r.Bundle) > 0 && !s.db.postgres {
		bytes, file = nil, bundleFile(s, id, attempt)
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err == nil {
			err = atomicfile.Write(file, r.Bundle, atomicfile.Options{Sync: true, Perm: 0o600})
		}
		if err != nil {
			return fmt.Errorf("tasks: keep the bundle of task %d: %w", id, err)
		}
	}
	err := s.tx(ctx, func(tx *tx) error {
		if err := s.endIn(ctx, tx, id, attempt, outcome, set, args...); err != nil || len(r.Bundle)+len(r.Log) == 0 {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO task_bundles (task, attempt, bytes, log) VALUES (?, ?, ?, ?) ON CONFLICT (task) DO UPDATE SET attempt = EXCLUDED.attempt, bytes = EXCLUDED.bytes, log = EXCLUDED.log",
			id, attempt, append([]byte{}, bytes...), r.Log)
		return err
	})
	if file == "" {
		return err
	}
	if err != nil { // it is another attempt's task
		return errors.Join(err, os.Remove(file))
	}
	return removeFiles(s, id, file)
}

// removeFiles removes the files of a task's bundles, but one.
func removeFiles(s *Store, id int64, but string) (err error) {
	if s.db.postgres {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(filepath.Dir(s.path), "bundles", fmt.Sprintf("task-%d-*.bundle", id)))
	for _, file := range found {
		if file != but {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// Results are what came out of tasks.
type Results struct{ s *Store }

// Results returns what came out of the tasks.
func (s *Store) Results() Results { return Results{s} }

// Of returns the bundle and the log of a task, without the parts that it has not.
func (rs Results) Of(ctx context.Context, id int64) (r Result, err error) {
	s := rs.s
	var attempt int
	r, err = one(ctx, s, func(row scanner) (r Result, err error) {
		err = row.Scan(&attempt, &r.Bundle, &r.Log)
		return r, err
	}, "SELECT attempt, bytes, log FROM task_bundles WHERE task = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return Result{}, nil
	}
	if err != nil || s.db.postgres {
		return r, err
	}
	r.Bundle, err = paths.ReadFile(bundleFile(s, id, attempt), MaxBundle)
	if errors.Is(err, fs.ErrNotExist) { // it was taken
		err = nil
	}
	return r, err
}

// Here reports whether the folder of a task is one of this data folder's machine.
func (s *Store) Here(t Task) bool { return t.Repo == "" && (t.place == "" || t.place == s.place) }

// Cleared notes that a worktree of a task is gone.
func (rs Results) Cleared(ctx context.Context, id int64, dir string) error {
	return rs.s.tx(ctx, func(tx *tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE tasks SET dir = '' WHERE id = ? AND dir = ?", id, dir)
		return err
	})
}

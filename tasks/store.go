package tasks

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the engine

	"jcode/internal/owner"
)

//go:embed schema.sql
var schema string

// version is the version of the schema that this program knows.
const version = 1

// ErrNone says that there is no such task.
var ErrNone = errors.New("there is no such task")

// Carrier brings tasks to workers.
type Carrier interface {
	// Carry makes, as a part of a transaction, a job that brings a task to a worker at a time, and returns its number.
	Carry(ctx context.Context, tx *sql.Tx, task int64, priority int, at time.Time) (job int64, err error)
}

// Store keeps tasks in a file.
type Store struct {
	db   *sql.DB
	path string
	now  func() time.Time
}

// Exists reports whether there is a file of tasks.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Open opens the file of tasks, which is made if there is none.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	if err := foreign(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("tasks: %s can't be written: give this user the right to, or set JCODE_HOME to a folder of its own", path)
	case err != nil:
		return nil, fmt.Errorf("tasks: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, fmt.Errorf("tasks: %w", err)
	}
	db.SetMaxOpenConns(1) // as River advises for SQLite
	s := &Store{db: db, path: path, now: time.Now}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// foreign refuses a file of another user of this machine: whoever writes tasks has programs run.
func foreign(path string) error {
	files := []string{path, path + "-wal", path + "-shm"}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		files = append(files, real)
	}
	for _, file := range files {
		if whose := owner.Here().Whose(file); whose != "" {
			return fmt.Errorf("tasks: %s belongs to %s: nothing of it is read or run; move it away, or set JCODE_HOME to a folder of your own", file, whose)
		}
	}
	return nil
}

func dsn(path string) string {
	q := url.Values{}
	q.Set("_busy_timeout", "10000")
	q.Set("_foreign_keys", "1")
	q.Set("_synchronous", "NORMAL")
	q.Set("_txlock", "immediate")
	q.Add("_pragma", "journal_mode(WAL)")
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: q.Encode()}
	return u.String()
}

// migrate brings the file to this program's schema.
func (s *Store) migrate(ctx context.Context) error {
	var found int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return s.explain(err)
	}
	if found == version {
		return nil
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
			return err
		}
		switch {
		case found > version:
			return fmt.Errorf("%s was written by a newer jcode (schema %d, this one knows %d): update this jcode", s.path, found, version)
		case found == version: // another process was faster
			return nil
		}
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("\nPRAGMA user_version = %d;", version))
		return err
	})
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// DB returns the database, for what carries the tasks.
func (s *Store) DB() *sql.DB { return s.db }

// Path returns where the file is.
func (s *Store) Path() string { return s.path }

// tx runs a transaction, which begins as one that writes.
func (s *Store) tx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(err)
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the fault is why
		return s.explain(err)
	}
	return s.explain(tx.Commit())
}

// explain says what can be done about a fault of the file.
func (s *Store) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrNone), strings.HasPrefix(err.Error(), "tasks: "):
		return err
	case strings.Contains(err.Error(), "database or disk is full"):
		return fmt.Errorf("tasks: the disk of %s is full: nothing was changed; make room and try again", s.path)
	case strings.Contains(err.Error(), "malformed") || strings.Contains(err.Error(), "not a database"):
		return fmt.Errorf("tasks: %s is damaged (%w): move it away; a new one is made, and the branches jcode/task-… are still in their repositories", s.path, err)
	case strings.Contains(err.Error(), "readonly"):
		return fmt.Errorf("tasks: %s can't be written (%w)", s.path, err)
	}
	return fmt.Errorf("tasks: %w", err)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

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

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

//go:embed schema4.sql
var schema4 string

//go:embed schema5.sql
var schema5 string

// migrations lead from each version of the schema to the next one.
func migrations() []string { return []string{schema, schema2, schema3, schema4, schema5} }

// ErrNone says that there is no such task.
var ErrNone = errors.New("there is no such task")

// Carrier brings tasks to workers.
type Carrier interface {
	// Carry makes, as a part of a transaction, a job that brings a task to a worker, and returns its number.
	Carry(ctx context.Context, tx *sql.Tx, c Carried) (job int64, err error)
}

// Carried is what is known of a task that is brought to a worker.
type Carried struct {
	Task     int64
	Priority int
	At       time.Time // not before; the zero time for at once
	// Place is the data folder whose workers alone can work on it, "" for any.
	Place string
	// Repo is the address of its repository, "" for one in a folder.
	Repo string
}

// Store keeps tasks in a file, or in a Postgres.
type Store struct {
	db    database
	path  string // or the address, as it may be shown
	where string // as it was said
	place string // this data folder
	now   func() time.Time
	// patience is how long a fault that passes is waited for.
	patience time.Duration
}

// Limits of a Postgres.
const (
	connectLimit = 30 * time.Second
	connIdle     = time.Minute
	maxConns     = 4
)

// Exists reports whether there are tasks: a file of them, or a Postgres, which is not asked.
func Exists(where string) bool {
	if Shared(where) {
		return true
	}
	_, err := os.Stat(where)
	return err == nil
}

// Open opens the file of tasks, which is made if there is none, or the Postgres of an address.
func Open(ctx context.Context, where string) (*Store, error) {
	s := &Store{where: where, path: where, now: time.Now}
	var err error
	if s.db.postgres = Shared(where); s.db.postgres {
		s.db.DB, s.path, err = postgres(where)
	} else {
		s.db.DB, err = file(where)
	}
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// file opens a file of tasks.
func file(path string) (*sql.DB, error) {
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
	return db, nil
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

// migrate brings the tables to this program's schema.
func (s *Store) migrate(ctx context.Context) error {
	steps := migrations()
	found, err := s.version(ctx, s.db)
	if err != nil {
		return s.explain(err)
	}
	if found == len(steps) {
		return nil
	}
	return s.tx(ctx, func(tx *tx) error {
		if tx.postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtext('jcode tasks'))"); err != nil {
				return err
			}
		}
		found, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		if found > len(steps) {
			return fmt.Errorf("%s was written by a newer jcode (schema %d, this one knows %d): update this jcode", s.path, found, len(steps))
		}
		if tx.postgres && found == 0 {
			if _, err := tx.ExecContext(ctx, "CREATE TABLE task_schema (version BIGINT NOT NULL); INSERT INTO task_schema VALUES (0)"); err != nil {
				return err
			}
		}
		for _, step := range steps[found:] { // none if another process was faster
			if _, err := tx.ExecContext(ctx, tx.ddl(step)); err != nil {
				return err
			}
		}
		set := fmt.Sprintf("PRAGMA user_version = %d", len(steps))
		if tx.postgres {
			set = fmt.Sprintf("UPDATE task_schema SET version = %d", len(steps))
		}
		_, err = tx.ExecContext(ctx, set)
		return err
	})
}

// version returns the version of the schema, 0 where there is none yet.
func (s *Store) version(ctx context.Context, q querier) (found int, err error) {
	if !s.db.postgres {
		return found, q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found)
	}
	var there bool
	if err := q.QueryRowContext(ctx, "SELECT to_regclass('task_schema') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	return found, q.QueryRowContext(ctx, "SELECT version FROM task_schema").Scan(&found)
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// DB returns the database, for what carries the tasks.
func (s *Store) DB() *sql.DB { return s.db.DB }

// Shared reports whether the tasks are in a Postgres.
func (s *Store) Shared() bool { return s.db.postgres }

// Where returns what the store was opened with; Path is for people.
func (s *Store) Where() string { return s.where }

// Patient has each change wait for a fault that passes, such as a Postgres that starts again, at most so long.
func (s *Store) Patient(most time.Duration) { s.patience = most }

// Path returns where the tasks are: the file, or the address without what connects.
func (s *Store) Path() string { return s.path }

// tx runs a transaction, which begins as one that writes. f may run again after a fault that passes.
func (s *Store) tx(ctx context.Context, f func(tx *tx) error) error {
	return s.again(ctx, func() error {
		begun, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(&tx{begun, s.db.engine}); err != nil {
			_ = begun.Rollback() // the fault is why
			return err
		}
		return begun.Commit()
	})
}

// again does something until it succeeds, or fails for a reason that does not pass.
func (s *Store) again(ctx context.Context, do func() error) error {
	end, wait := time.Now().Add(s.patience), 50*time.Millisecond
	for {
		err := do()
		if err == nil || !s.db.postgres || !passing(err) || time.Now().Add(wait).After(end) {
			return s.explain(err)
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, 2*time.Second)
		case <-ctx.Done():
			return s.explain(err)
		}
	}
}

// explain says what can be done about a fault of the file.
func (s *Store) explain(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrNone), strings.HasPrefix(err.Error(), "tasks: "):
		return err
	case s.db.postgres:
		return explainPostgres(s.path, err)
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

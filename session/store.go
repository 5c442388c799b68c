package session

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"jcode/session/db"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// whole is what all migrations make together; a test compares them, and writes it with -update.
//
//go:embed schema.sql
var whole string

// applicationID marks a SQLite file as jcode's ("jcod").
const applicationID = 0x6a636f64

// schema returns the tables of the database.
func schema() (db.Schema, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	return db.Schema{Files: files, Whole: whole, ApplicationID: applicationID}, err
}

// What the database reports, for callers that branch on it.
var (
	ErrNotFound = db.ErrNotFound
	ErrReadOnly = db.ErrReadOnly
)

type (
	// HeldError says that another live process holds a session.
	HeldError = db.HeldError
	// Hold is this process's exclusive claim to write to one session.
	Hold = db.Hold
	// Notice is something about the opening of the store that the person must be told.
	Notice = db.Notice
)

// Options are the settings of Open. The zero value is right for a program.
type Options struct {
	Now func() time.Time // nil means time.Now
	// Contents returns what is kept outside of the database under a content's hash. May be nil.
	Contents func(hash string) ([]byte, error)
}

// Store is an open database file. It is safe for concurrent use.
type Store struct {
	db      *db.DB
	now     func() time.Time
	ids     *private                          // of the store in memory: its sessions; nil for the one of the file
	outside func(hash string) ([]byte, error) // contents that are kept elsewhere; may be nil
	memory  atomic.Pointer[Store]             // the store in memory, once there is one

	memMu  sync.Mutex // guards the opening of the store in memory
	closed bool
}

// Open opens the database file at path and creates it, with its folder, where it is missing
// or empty. See db.Open for damaged, newer, foreign and read-only files.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	set, err := openOptions(opts)
	if err != nil {
		return nil, err
	}
	s := &Store{now: set.Now, outside: opts.Contents}
	if s.db, err = db.Open(ctx, path, set); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenReading opens a database file that can't be written: see db.OpenReading.
func OpenReading(ctx context.Context, path string) (*Store, error) {
	set, err := openOptions(Options{})
	if err != nil {
		return nil, err
	}
	s := &Store{now: set.Now}
	if s.db, err = db.OpenReading(ctx, path, set); err != nil {
		return nil, err
	}
	return s, nil
}

// openOptions are those of the file of a store.
func openOptions(opts Options) (db.Options, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	tables, err := schema()
	return db.Options{Schema: tables, Now: opts.Now, Rebuild: func(t *db.Tx) error {
		return (&tx{t, &Store{now: opts.Now}}).rebuild()
	}}, err
}

// Notices returns what must be reported about the opening.
func (s *Store) Notices() []Notice { return s.db.Notices() }

// Check reads the whole database and returns what is wrong with its structure.
func (s *Store) Check(ctx context.Context) (faults []string, err error) { return s.db.Check(ctx) }

// CheckWrite commits a transaction that leaves everything as it was: an error says why
// nothing can be written, such as a full disk.
func (s *Store) CheckWrite(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.run("INSERT OR REPLACE INTO drafts (key, text, at) VALUES ('jcode:check', '', 0)"); err != nil {
			return err
		}
		return t.run("DELETE FROM drafts WHERE key = 'jcode:check'")
	})
}

// Close closes all connections. It waits for a write that is under way. What is kept in
// memory only is gone then.
func (s *Store) Close() error {
	s.memMu.Lock()
	defer s.memMu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if mem := s.Memory().store(); mem != nil {
		err = mem.db.Close()
	}
	return errors.Join(err, s.db.Close())
}

// Leave is Close for the end of a program: it leaves the connections to the operating
// system, which is quicker. See db.DB.Leave.
func (s *Store) Leave() error {
	s.memMu.Lock()
	defer s.memMu.Unlock()
	s.closed = true
	return s.db.Leave()
}

// Hold claims a session for writing. It returns a *HeldError if a live process, this one
// included, has claimed it already.
func (s *Store) Hold(sessionID string) (*Hold, error) {
	if s.Memory().Has(sessionID) { // no other process knows of it
		return &Hold{}, nil
	}
	return s.db.Hold(sessionID)
}

// held reports whether a live process works with a session.
func (s *Store) held(sessionID string) bool {
	return s.Memory().Has(sessionID) || s.db.Held(sessionID)
}

// LockFolder returns the folder of the locks that every writer of a person's file takes, so
// that no other process changes the file between a look and a write.
func (s *Store) LockFolder() string { return filepath.Join(s.db.LockFolder(), "files") }

// tx is a running write transaction of a store, with the statements that several methods share.
type tx struct {
	*db.Tx
	s *Store
}

// now returns the time of the store's clock.
func (t *tx) now() time.Time { return t.s.now() }

// run executes a statement whose result doesn't matter.
func (t *tx) run(query string, args ...any) error {
	_, err := t.Exec(query, args...)
	return err
}

// selectKey selects the internal key of a session by its ID.
const selectKey = "SELECT n FROM sessions WHERE id = ?"

// key returns the internal key of a session, or ErrNotFound.
func (t *tx) key(sessionID string) (n int64, err error) {
	err = t.Row(selectKey, []any{sessionID}, &n)
	return n, err
}

// write runs fn in one transaction: see db.DB.Write.
func (s *Store) write(ctx context.Context, fn func(t *tx) error) error {
	return s.db.Write(ctx, func(t *db.Tx) error { return fn(&tx{t, s}) })
}

// change is write with an error that says what failed.
func (s *Store) change(ctx context.Context, what string, fn func(t *tx) error) error {
	return wrap(what, s.write(ctx, fn))
}

// changeIn is change in the store that has a session: see of.
func (s *Store) changeIn(ctx context.Context, sessionID, what string, fn func(t *tx) error) error {
	s, done := s.of(sessionID)
	defer done()
	return s.change(ctx, what, fn)
}

// fetch returns the rows of a query as read makes them. Its error says what failed.
func fetch[T any](ctx context.Context, s *Store, what, query string, args []any, read func(db.Scan) (T, error)) ([]T, error) {
	all, err := db.All(ctx, s.db, query, args, read)
	return all, wrap(what, err)
}

// wrap adds to an error what failed; nil stays nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// millis scans a column of milliseconds since 1970 into a time; 0 is the zero time.
type millis struct{ to *time.Time }

// Scan implements sql.Scanner.
func (m millis) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return fmt.Errorf("%v is not a time in milliseconds", value)
	}
	*m.to = fromMillis(ms)
	return nil
}

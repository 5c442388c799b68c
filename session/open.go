package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jcode/internal/filelock"
)

const (
	busyTimeout  = 10 * time.Second
	lockWait     = 15 * time.Second
	maxReaders   = 3
	databaseMode = 0o600
)

// Options are what Open may be told. The zero value is right for a program.
type Options struct {
	// Now gives the time; nil means time.Now.
	Now func() time.Time
}

// Notice is something that happened while the store was opened and that the person must
// be told.
type Notice struct {
	Text string
}

// Store is an open database file. It is safe for concurrent use.
type Store struct {
	path    string
	now     func() time.Time
	notices []Notice
	writer  *writer
	name    string   // of the database for the engine; "" is path
	ids     *private // of a store in memory: its sessions
	private atomic.Pointer[private]

	readMu  sync.Mutex
	reading *sql.DB
	closed  bool
}

// Open opens the database file at path and makes it, with its folder, where it is
// missing or empty. A damaged file is moved aside, which Notices says. It gives a
// *NewerError for a file of a newer jcode, and ErrReadOnly or ErrForeign for one that
// can't be used; the file is then as it was.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s := &Store{path: path, now: opts.Now}
	if s.now == nil {
		s.now = time.Now
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	if err := checkWritable(path); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	// Whoever judges, makes or migrates the file does so alone.
	lock, err := filelock.Wait(wait, path+".lock")
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	defer func() { _ = lock.Unlock() }() // the lock file holds nothing

	// From here on nothing stops half-way.
	if err := s.openLocked(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return s, nil
}

// openLocked opens the file, and moves it aside once if it proves damaged.
func (s *Store) openLocked(ctx context.Context) error {
	release := keepLog(s.path)
	defer release()
	err := s.openWriter(ctx)
	if err == nil || !damaged(err) {
		return err
	}
	aside, moveErr := moveAside(s.path, s.now())
	if moveErr != nil {
		return errors.Join(fmt.Errorf("open database %s: %w", s.path, err), moveErr)
	}
	s.notices = append(s.notices, Notice{Text: fmt.Sprintf(
		"the session database was damaged (%v): it was moved to %s and a new one was made", err, aside)})
	return s.openWriter(ctx)
}

func (s *Store) openWriter(ctx context.Context) error {
	if err := createFile(s.path); err != nil {
		return err
	}
	w, err := newWriter(ctx, dsn(s.path, false))
	if err != nil {
		return explainOpen(s.path, err)
	}
	if err := migrate(ctx, w.conn, s.path); err != nil {
		return errors.Join(explainOpen(s.path, err), w.close())
	}
	s.writer = w
	return nil
}

// explainOpen leaves damage as it is, for openLocked to act on.
func explainOpen(path string, err error) error {
	if damaged(err) {
		return err
	}
	return explain(path, err)
}

// Notices are what must be said about the opening.
func (s *Store) Notices() []Notice { return s.notices }

// CheckWrite commits a transaction that leaves everything as it was: an error says why
// nothing can be written, such as a full disk.
func (s *Store) CheckWrite(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.exec("INSERT OR REPLACE INTO drafts (key, text, at) VALUES ('jcode:check', '', 0)"); err != nil {
			return err
		}
		_, err := t.exec("DELETE FROM drafts WHERE key = 'jcode:check'")
		return err
	})
}

// Close ends all connections. It waits for a write that is under way.
func (s *Store) Close() error {
	s.readMu.Lock()
	defer s.readMu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if s.reading != nil {
		err = s.reading.Close()
	}
	if mem := s.memory(); mem != nil {
		err = errors.Join(err, mem.Close())
	}
	return errors.Join(err, s.writer.close())
}

// leaveLog is the size of the write-ahead log, in bytes, up to which Leave lets it be. The
// next start reads it through.
const leaveLog = 1 << 20

// Leave is Close for the end of a program: it waits for a write that is under way and then
// leaves the connections to the system. Closing them copies the log into the database,
// which waits for the disk; that is done only once in a while, when the log is long.
func (s *Store) Leave() error {
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() > leaveLog {
		return s.Close()
	}
	s.readMu.Lock()
	defer s.readMu.Unlock()
	s.closed = true
	s.writer.retire()
	return nil
}

// readers gives the reading connections, opened on first use.
func (s *Store) readers() (*sql.DB, error) {
	s.readMu.Lock()
	defer s.readMu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("read database: %w", sql.ErrConnDone)
	}
	if s.reading == nil {
		name := dsn(s.path, true)
		if s.name != "" {
			name = s.name
		}
		db, err := sql.Open("sqlite", name)
		if err != nil {
			return nil, fmt.Errorf("read database: %w", err)
		}
		db.SetMaxOpenConns(maxReaders)
		db.SetMaxIdleConns(maxReaders)
		s.reading = db
	}
	return s.reading, nil
}

func dsn(path string, reader bool) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	q := dsnValues()
	if reader {
		q.Set("_query_only", "1")
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: q.Encode()}
	return u.String()
}

func dsnValues() url.Values {
	q := url.Values{}
	q.Set("_busy_timeout", fmt.Sprint(busyTimeout.Milliseconds()))
	q.Set("_foreign_keys", "1")
	q.Set("_synchronous", "NORMAL")
	q.Set("_dqs", "0")
	return q
}

// createFile makes the file so that only its owner can read it. The engine gives its
// companion files the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, databaseMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make database: %w", err)
	}
	return f.Close()
}

// checkWritable refuses what could only be read, before anything is touched.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("open database: %s is not a regular file", path)
	}
	if info.Mode().Perm()&0o222 == 0 || !writable(path) || !writable(filepath.Dir(path)) {
		return fmt.Errorf("%w: %s can't be written: check its permissions and those of its folder", ErrReadOnly, path)
	}
	return nil
}

// keepLog gives the write-ahead log a second name, because the engine deletes the log when
// it closes a database that it can't read. The second name goes with the returned call.
func keepLog(path string) (release func()) {
	kept := path + keptLog
	_ = os.Remove(kept) // of a process that was killed here
	if os.Link(path+"-wal", kept) != nil {
		return func() {} // there is no log, or no links are made here
	}
	return func() { _ = os.Remove(kept) } // moved aside, it is gone
}

const keptLog = "-wal.kept"

// moveAside renames a damaged database with its companions and gives its new name.
func moveAside(path string, now time.Time) (string, error) {
	base := path + ".damaged-" + now.UTC().Format("20060102T150405")
	aside := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", base, i)
	}
	for _, f := range []struct{ from, to string }{{"-wal", "-wal"}, {keptLog, "-wal"}, {"-shm", "-shm"}, {"-journal", "-journal"}, {"", ""}} {
		if err := os.Rename(path+f.from, aside+f.to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("move damaged database aside: %w", err)
		}
	}
	return aside, nil
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"jcode/internal/filelock"
)

const (
	busyTimeout = 10 * time.Second
	lockWait    = 15 * time.Second
	maxReaders  = 3
)

// Options are the settings of Open.
type Options struct {
	Schema Schema
	Now    func() time.Time // nil means time.Now
	// Rebuild makes what is derived from other rows, after those of a damaged file were copied.
	Rebuild func(t *Tx) error
}

// Notice is something that happened while the file was opened and that the person must be
// told.
type Notice struct {
	Text string
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path    string // of the file; of a database in memory, what errors call it
	name    string // what reading connections open
	uri     string // what another database attaches; "" for a file
	notices []Notice
	writer  *writer
	shown   bool // the file is only read

	readMu  sync.Mutex
	reading *sql.DB
	closed  bool
}

// Open opens the database file at path and creates it, with its folder, where it is missing
// or empty. A damaged file is moved aside and what can be read of it is copied, which Notices reports. It returns a *NewerError
// for a file of a newer jcode, and ErrReadOnly or ErrForeign for one that can't be used; the
// file is then as it was.
func Open(ctx context.Context, path string, opts Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	if err := checkWritable(path); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	// The file is inspected, created and migrated by one process at a time.
	lock, err := filelock.Wait(wait, path+".lock")
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	defer func() { _ = lock.Unlock() }() // the lock file holds nothing

	d := &DB{path: path, name: dsn(path, true)}
	// From here on nothing stops half-way.
	if err := d.openLocked(context.WithoutCancel(ctx), opts); err != nil {
		return nil, err
	}
	return d, nil
}

// OpenReading opens a database file that can't be written, as on a read-only file system. It must have this program's
// schema, since it can't be changed. Whoever writes gets ErrReadOnly.
func OpenReading(ctx context.Context, path string, opts Options) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if headerDamaged(path, opts.Schema.ApplicationID) {
		return nil, fmt.Errorf("open database %s: %w", path, errHeader)
	}
	q := dsnValues()
	q.Set("mode", "ro")
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		q.Set("immutable", "1") // without a log, the engine would create one
	}
	name := fileURL(path, q)
	w, err := newWriter(ctx, name)
	if err != nil {
		return nil, explain(path, err)
	}
	if err := opts.Schema.present(ctx, w.conn, path); err != nil {
		return nil, errors.Join(explain(path, err), w.close())
	}
	return &DB{path: path, name: name, writer: w, shown: true}, nil
}

// errHeader is the damage that keeps Open from letting the engine touch the file.
var errHeader = errors.New("its header is damaged")

// wildSteps is how much newer than this program a file can't be.
const wildSteps = 200

// openLocked opens the file. If it proves damaged, it is moved aside once, and what can be read of
// it is copied.
func (d *DB) openLocked(ctx context.Context, opts Options) error {
	release := keepLog(d.path)
	defer release()
	err := errHeader
	if !headerDamaged(d.path, opts.Schema.ApplicationID) {
		err = d.openWriter(ctx, opts.Schema)
	}
	if err == nil {
		if damageNoted(d.path) {
			d.notices = append(d.notices, Notice{Text: "the session database is damaged inside: end jcode and run " + RepairCommand +
				", which copies what can be read into a new file and keeps this one"})
		}
		return nil
	}
	if newer, ok := errors.AsType[*NewerError](err); ok && newer.Found <= newer.Known+wildSteps ||
		!errors.Is(err, errHeader) && !Damaged(err) && !looksOurs(ctx, d.path, opts.Schema) {
		return err
	}
	aside, moveErr := moveAside(d.path, opts.Now())
	if moveErr != nil {
		return errors.Join(fmt.Errorf("open database %s: %w", d.path, err), moveErr)
	}
	forgetDamage(d.path)
	saved := d.saveFrom(ctx, aside, opts)
	d.notices = append(d.notices, Notice{Text: fmt.Sprintf("the session database was damaged (%v): it was moved to %s and a new one was made; %s", err, aside, saved)})
	return d.openWriter(ctx, opts.Schema)
}

// saveFrom makes the file anew from a damaged one, and says what came of it.
func (d *DB) saveFrom(ctx context.Context, aside string, opts Options) string {
	if info, err := os.Stat(aside); err != nil || info.Size() > repairAtOpen {
		return RepairCommand + " restores its sessions"
	}
	fresh := d.path + ".repaired"
	defer discard(fresh)
	lost, err := Salvage(ctx, aside, fresh, opts)
	if err == nil {
		err = errors.Join(os.Rename(fresh, d.path), MarkCopied(aside))
	}
	switch {
	case err != nil:
		return fmt.Sprintf("nothing could be copied from it (%v)", err)
	case len(lost) == 0:
		return "everything in it was copied"
	}
	return "what can be read was copied; " + Describe(lost)
}

// Describe says in words what was lost.
func Describe(lost []Lost) string {
	if len(lost) == 0 {
		return "nothing is lost"
	}
	var parts []string
	for _, l := range lost {
		switch {
		case !l.Unsure:
			parts = append(parts, fmt.Sprintf("%d of %s", l.Rows, l.Table))
		case l.Rows > 0:
			parts = append(parts, fmt.Sprintf("%d or more of %s", l.Rows, l.Table))
		default:
			parts = append(parts, "some of "+l.Table)
		}
	}
	return "lost rows: " + strings.Join(parts, ", ")
}

func (d *DB) openWriter(ctx context.Context, schema Schema) error {
	if err := createFile(d.path); err != nil {
		return err
	}
	w, err := newWriter(ctx, dsn(d.path, false))
	if err != nil {
		return explainOpen(d.path, err)
	}
	if err := schema.migrate(ctx, w.conn, d.path); err != nil {
		return errors.Join(explainOpen(d.path, err), w.close())
	}
	d.writer = w
	return nil
}

// explainOpen leaves damage as it is, for openLocked to act on.
func explainOpen(path string, err error) error {
	if Damaged(err) {
		return err
	}
	return explain(path, err)
}

// OpenMemory opens an empty database in memory under a name that is unique in the process.
// It ends with Close.
func OpenMemory(ctx context.Context, name string, schema Schema) (*DB, error) {
	// The memdb file system shares one database among the connections of a process that name it.
	q := dsnValues()
	q.Set("vfs", "memdb")
	q.Add("_pragma", "temp_store(MEMORY)")
	u := url.URL{Scheme: "file", Path: "/" + name, RawQuery: q.Encode()}
	d := &DB{path: "database in memory", name: u.String(), uri: "file:/" + name + "?vfs=memdb"}
	w, err := newWriter(ctx, d.name)
	if err != nil {
		return nil, fmt.Errorf("open database in memory: %w", err)
	}
	if err := schema.migrate(context.WithoutCancel(ctx), w.conn, d.path); err != nil {
		return nil, errors.Join(fmt.Errorf("open database in memory: %w", err), w.close())
	}
	d.writer = w
	return d, nil
}

// Notices returns what must be reported about the opening.
func (d *DB) Notices() []Notice { return d.notices }

// Check reads the whole file and returns what is wrong with its structure, nothing for a sound one.
func (d *DB) Check(ctx context.Context) (faults []string, err error) {
	err = d.Each(ctx, "PRAGMA quick_check(5)", nil, func(scan Scan) error {
		var line string
		if err := scan(&line); err != nil || line == "ok" {
			return err
		}
		faults = append(faults, line)
		return nil
	})
	if Damaged(err) {
		faults, err = append(faults, err.Error()), nil
	}
	switch {
	case err != nil:
	case len(faults) > 0:
		noteDamage(d.path)
	default:
		forgetDamage(d.path)
	}
	return faults, err
}

// Close closes all connections. It waits for a write that is under way.
func (d *DB) Close() error {
	d.readMu.Lock()
	defer d.readMu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var err error
	if d.reading != nil {
		err = d.reading.Close()
	}
	return errors.Join(err, d.writer.close())
}

// leaveLog is the size of the write-ahead log, in bytes, up to which Leave doesn't empty it.
// The next start reads it through.
const leaveLog = 1 << 20

// Leave is Close for the end of a program: it waits for a write that is under way and then
// leaves the connections to the operating system. Closing them copies the log into the
// database, which waits for the disk; that is done only once the log is long.
func (d *DB) Leave() error {
	if info, err := os.Stat(d.path + "-wal"); err == nil && info.Size() > leaveLog {
		return d.Close()
	}
	d.readMu.Lock()
	defer d.readMu.Unlock()
	d.closed = true
	d.writer.retire()
	return nil
}

// readers returns the pool of reading connections, opened on first use.
func (d *DB) readers() (*sql.DB, error) {
	d.readMu.Lock()
	defer d.readMu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("read database: %w", sql.ErrConnDone)
	}
	if d.reading == nil {
		pool, err := sql.Open("sqlite", d.name)
		if err != nil {
			return nil, fmt.Errorf("read database: %w", err)
		}
		pool.SetMaxOpenConns(maxReaders)
		pool.SetMaxIdleConns(maxReaders)
		d.reading = pool
	}
	return d.reading, nil
}

func dsn(path string, reader bool) string {
	q := dsnValues()
	if reader {
		q.Set("_query_only", "1")
	}
	return fileURL(path, q)
}

func fileURL(path string, q url.Values) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
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

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/filelock"
)

// repairAtOpen is the size of a damaged file, in bytes, up to which Open itself copies what can be read.
const repairAtOpen = 256 << 20

// noteName marks, beside a file, that a reading or writing met damage inside it.
const noteName = ".is-damaged"

// RepairCommand is what the person runs to repair the file.
const RepairCommand = "jcode doctor --repair"

// InUseError says that a repair would take the file from another live process.
type InUseError struct{ PID int }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another jcode (process %d) works with the database: end it first", e.PID)
}

// Repair copies what can be read of a damaged file into a new one that takes its place. The damaged
// file stays under another name, which it returns. No other process may use the file.
func Repair(ctx context.Context, path string, opts Options) (aside string, lost []Lost, err error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if err := checkWritable(path); err != nil {
		return "", nil, err
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := filelock.Wait(wait, path+".lock")
	if err != nil {
		return "", nil, fmt.Errorf("repair database %s: %w", path, err)
	}
	defer func() { _ = lock.Unlock() }() // the lock file holds nothing
	held, err := heldElsewhere(filepath.Join(filepath.Dir(path), "locks"))
	if err != nil {
		return "", nil, err
	}
	for _, pid := range held {
		return "", nil, &InUseError{PID: pid}
	}
	fresh := path + ".repaired"
	defer discard(fresh)
	if lost, err = Salvage(ctx, path, fresh, opts); err != nil {
		return "", nil, fmt.Errorf("repair database %s: %w", path, err)
	}
	if aside, err = moveAside(path, opts.Now()); err != nil {
		return "", nil, err
	}
	forgetDamage(path)
	return aside, lost, errors.Join(os.Rename(fresh, path), MarkCopied(aside))
}

// Salvage copies what can be read of a database at `from`, which stays as it is, into a new file at
// `to`. opts.Rebuild makes there what is derived from the rows.
func Salvage(ctx context.Context, from, to string, opts Options) (lost []Lost, err error) {
	source := to + ".source"
	discard(source)
	discard(to)
	defer discard(source)
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(from+suffix, source+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	if err := mendHeader(source); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", dsn(source, false))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("the list of tables can't be read: %w", err)
	}
	defer func() { _ = conn.Close() }() // with the pool
	// A list of tables with a broken entry is read as far as it goes.
	err = run(ctx, conn, "PRAGMA writable_schema = ON", "PRAGMA cell_size_check = ON")
	if err == nil {
		opts.Schema, err = opts.Schema.of(ctx, conn)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of tables can't be read: %w", err)
	}
	d := &DB{path: to, name: dsn(to, true)}
	if err := d.openWriter(ctx, opts.Schema); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	s := &salvage{ctx: ctx, from: conn, to: d.writer.conn}
	if err := s.all(); err != nil {
		return nil, err
	}
	if opts.Rebuild == nil {
		return s.lost, nil
	}
	return s.lost, d.Write(ctx, opts.Rebuild)
}

// of returns the steps that lead to the tables of a file. Its own number counts only if it lacks
// something that the last step makes: damage may have changed it.
func (s Schema) of(ctx context.Context, conn *sql.Conn) (Schema, error) {
	if same, err := s.matches(ctx, conn); err != nil || same {
		return s, err
	}
	all, err := s.steps()
	if err != nil {
		return s, err
	}
	var found int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found); err != nil {
		return s, err
	}
	if found < 1 || found >= len(all) {
		return s, nil
	}
	return Schema{Files: firstFiles{s.Files, all[:found]}, ApplicationID: s.ApplicationID}, nil
}

// firstFiles are some of the files of a folder.
type firstFiles struct {
	fs.FS
	names []string
}

// Glob implements fs.GlobFS.
func (f firstFiles) Glob(string) ([]string, error) { return f.names, nil }

// matches reports whether a file has exactly the tables and columns of the schema.
func (s Schema) matches(ctx context.Context, conn *sql.Conn) (bool, error) {
	const list = `SELECT l.name || '.' || c.name FROM pragma_table_list l, pragma_table_info(l.name) c
		WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%' ORDER BY 1`
	there, err := texts(ctx, conn, list)
	if err != nil {
		return false, err
	}
	model, err := OpenMemory(ctx, fmt.Sprintf("schema-%p", conn), s)
	if err != nil {
		return false, err
	}
	here, err := texts(ctx, model.writer.conn, list)
	return slices.Equal(there, here), errors.Join(err, model.Close())
}

// looksOurs reports whether a file that could not be opened is one of ours, with a wrong mark or
// number of steps.
func looksOurs(ctx context.Context, path string, schema Schema) bool {
	pool, err := sql.Open("sqlite", dsn(path, true))
	if err != nil {
		return false
	}
	defer func() { _ = pool.Close() }() // it was read only
	conn, err := pool.Conn(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }() // with the pool
	same, err := schema.matches(ctx, conn)
	return err == nil && same
}

// copiedName marks, beside a file that was moved aside, that what can be read of it was copied.
const copiedName = "-copied"

// MarkCopied notes that what can be read of a file that was moved aside is in the database again.
func MarkCopied(aside string) error {
	f, err := os.OpenFile(aside+copiedName, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return err
	}
	return f.Close()
}

// Asides lists the damaged files that were moved aside from path and not copied yet, the oldest first.
func Asides(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(path), e.Name())
		beside := slices.ContainsFunc([]string{"-wal", "-shm", "-journal", copiedName}, func(end string) bool { return strings.HasSuffix(name, end) })
		if beside || !strings.HasPrefix(name, path+".damaged-") {
			continue
		}
		if _, err := os.Lstat(name + copiedName); err != nil {
			all = append(all, name)
		}
	}
	return all, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was read only
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// discard removes a database that was made on the way, if it is there.
func discard(path string) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		_ = os.Remove(path + suffix)
	}
}

// noteDamage leaves word for the next start.
func noteDamage(path string) {
	if f, err := os.OpenFile(path+noteName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode); err == nil {
		_ = f.Close() // it is empty
	}
}

func forgetDamage(path string) { _ = os.Remove(path + noteName) }

// damageNoted reports whether a process met damage inside the file.
func damageNoted(path string) bool {
	_, err := os.Lstat(path + noteName)
	return err == nil
}

package db

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Errors that a caller can branch on.
var (
	// ErrNotFound says that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrReadOnly says that the database file or its folder can't be written.
	ErrReadOnly = errors.New("read-only database")
	// ErrForeign says that the file is a database of another program.
	ErrForeign = errors.New("not a jcode database")
)

// NewerError says that a newer jcode wrote the database file. The file was left as it is.
type NewerError struct {
	Path  string
	Found int // schema version of the file
	Known int // newest schema version that this program knows
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by a newer jcode (schema %d, this one knows %d): update jcode, or set JCODE_HOME to another folder",
		e.Path, e.Found, e.Known)
}

// code returns the primary SQLite result code of err, 0 if it has none.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// Damaged reports whether err says that the file's content is not a sound database.
func Damaged(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_NOTADB || c == sqlite3.SQLITE_CORRUPT
}

// explain is the function for this file. It leaves word of damage for the next start.
func (d *DB) explain(err error) error {
	if Damaged(err) && d.uri == "" {
		noteDamage(d.path)
	}
	return explain(d.path, err)
}

// explain turns an error of the engine into one that says what to do.
func explain(path string, err error) error {
	switch code(err) {
	case sqlite3.SQLITE_READONLY:
		return readOnly(path)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("open %s: check that its folder exists and can be written: %w", path, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("write %s: %w: free some space on its disk", path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("read or write %s: the disk is full or fails: %w", path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("write %s: another process kept it locked: %w", path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("read %s: the file is damaged inside; end jcode and run %s, which copies what can be read into a new file: %w", path, RepairCommand, err)
	}
	return err
}

func readOnly(path string) error {
	return fmt.Errorf("%w: %s can't be written: check its permissions and those of its folder", ErrReadOnly, path)
}

package foreign

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the engine

	"jcode/internal/paths"
)

// database is what guess says of a SQLite file: its tables tell whose it is.
const database = "a database"

// readDatabase reads the sessions of a database. A copy of it is opened, since whoever opens a database with a log writes
// beside it, and the program that owns it may be running.
func readDatabase(ctx context.Context, path string, yield func(Session, []Fault) bool) {
	db, done, err := openCopy(ctx, path)
	if err != nil {
		yield(Session{File: path}, []Fault{{File: path, Text: err.Error()}})
		return
	}
	defer done()
	agent, query := "opencode", opencodeSessions
	head := newReading("", path)
	var tables []string
	head.rowsOf(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('part', 'message', 'session', 'messages', 'sessions') ORDER BY name`, nil, func(row []string) error {
		tables = append(tables, row[0])
		return nil
	})
	switch strings.Join(tables, " ") {
	case "message part session":
	case "messages sessions":
		agent, query = "crush", crushSessions
	default:
		head.fault(0, "is no history that is known here")
	}
	var list [][]string
	if len(head.faults) == 0 {
		head.rowsOf(ctx, db, query, nil, func(row []string) error {
			list = append(list, row)
			return nil
		})
	}
	if len(head.faults) > 0 && !yield(Session{File: path}, head.faults) {
		return
	}
	for _, row := range list {
		r := newReading(agent, path)
		r.ID, r.Folder, r.Title = row[0], row[1], row[2]
		if agent == "crush" {
			r.readCrushSession(ctx, db)
		} else {
			r.readOpencodeSession(ctx, db, row[3])
		}
		if !yield(r.end()) {
			return
		}
	}
}

// rows calls take with each row of a query about the session. What take can't read is named and left out.
func (r *reading) rows(ctx context.Context, db *sql.DB, query string, take func(row []string) error) {
	r.rowsOf(ctx, db, query, []any{r.ID}, take)
}

func (r *reading) rowsOf(ctx context.Context, db *sql.DB, query string, args []any, take func(row []string) error) {
	if err := each(ctx, db, query, args, func(n int, row []string) {
		if err := take(row); err != nil {
			r.fault(0, "session %s: row %d is left out: %v", r.ID, n, err)
		}
	}); err != nil {
		r.fault(0, "%v", err)
	}
}

func each(ctx context.Context, db *sql.DB, query string, args []any, take func(n int, row []string)) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for n := 1; rows.Next(); n++ {
		row := make([]string, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		take(n, row)
	}
	return rows.Err()
}

// copyTries is how often a copy is begun anew because the database was written meanwhile.
const copyTries = 5

// openCopy opens a copy of a database and its log. done removes it.
func openCopy(ctx context.Context, path string) (db *sql.DB, done func(), err error) {
	dir, err := os.MkdirTemp("", "jcode-import-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) } // what is left is a copy in a temporary folder
	to := filepath.Join(dir, "copy.db")
	for try := 1; ; try++ {
		whole, err := copyDatabase(path, to)
		switch {
		case err != nil:
			remove()
			return nil, nil, err
		case !whole && try < copyTries:
			continue
		case !whole:
			remove()
			return nil, nil, errors.New("is being written again and again: try it once more when its program is idle")
		}
		break
	}
	db, err = sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(to)}).String())
	if err == nil {
		err = db.PingContext(ctx)
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return db, func() {
		_ = db.Close() // nothing was written
		remove()
	}, nil
}

// copyDatabase copies a database and its log. whole is false if the two may not fit together: the database was written
// while it was copied, or its log begun anew.
func copyDatabase(path, to string) (whole bool, err error) {
	before, err := stateOf(path)
	if err != nil {
		return false, err
	}
	for _, part := range []string{"", "-wal", "-journal"} {
		err := copyFile(path+part, to+part)
		if errors.Is(err, os.ErrNotExist) && part != "" {
			err = os.RemoveAll(to + part) // of the try before
		}
		if err != nil {
			return false, err
		}
	}
	after, err := stateOf(path)
	return err == nil && after == before, err
}

// state is what tells whether a database was written into, and its log begun anew. A log only grows otherwise, and a
// part of its end that was not copied whole doesn't count.
type state struct {
	size    int64
	changed time.Time
	log     string
	journal bool
}

func stateOf(path string) (s state, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	s.size, s.changed = info.Size(), info.ModTime()
	if f, err := paths.Open(path + "-wal"); err == nil {
		head := make([]byte, 32)
		n, _ := io.ReadFull(f, head) // an empty log has no header
		s.log = string(bytes.Clone(head[:n]))
		if err := f.Close(); err != nil {
			return s, err
		}
	}
	_, err = os.Stat(path + "-journal")
	s.journal = err == nil
	return s, nil
}

func copyFile(from, to string) error {
	in, err := paths.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it is only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, io.LimitReader(in, maxFile)); err != nil {
		return errors.Join(fmt.Errorf("copy %s: %w", from, err), out.Close())
	}
	return out.Close()
}

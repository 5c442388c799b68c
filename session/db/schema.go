package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Schema says which tables the database has, as steps that each build on the one before.
type Schema struct {
	// Files holds the steps: NNNN_what.sql, numbered from 0001 without a gap. The number of
	// the last one applied is the file's user_version.
	Files fs.FS
	// Whole makes at once, for a new file, what all steps make one after the other, in less than half the time: each step
	// that alters a table reads the whole schema again. "" means that a new file takes the steps.
	Whole string
	// ApplicationID marks the file as the program's (SQLite's application_id).
	ApplicationID int
}

// steps lists the files of the migrations in order: the first is that to version 1.
func (s Schema) steps() ([]string, error) {
	names, err := fs.Glob(s.Files, "*.sql")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		v, err := strconv.Atoi(number)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("migration %s: numbers must follow each other from 0001", name)
		}
	}
	return names, nil
}

// migrate brings the file up to date in one transaction. The caller holds the lock file.
func (s Schema) migrate(ctx context.Context, conn *sql.Conn, file string) error {
	all, err := s.steps()
	if err != nil {
		return err
	}
	found, err := s.version(ctx, conn, file, len(all))
	if err != nil || found == len(all) {
		return err
	}
	if found > 0 {
		return s.apply(ctx, conn, all, found)
	}
	if err := prepareNew(ctx, conn, file); err != nil {
		return err
	}
	if err := s.create(ctx, conn, all); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return fmt.Errorf("set synchronous mode: %w", err)
	}
	return nil
}

// version returns the schema version of a file. It refuses one of another program or of a newer jcode.
func (s Schema) version(ctx context.Context, conn *sql.Conn, file string, known int) (found int, err error) {
	var app int
	if err := errors.Join(
		conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found),
		conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app),
	); err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case app != s.ApplicationID && (app != 0 || found != 0):
		return 0, foreign(file)
	case found > known:
		return 0, &NewerError{Path: file, Found: found, Known: known}
	}
	return found, nil
}

// present refuses a file that migrate would change.
func (s Schema) present(ctx context.Context, conn *sql.Conn, file string) error {
	all, err := s.steps()
	if err != nil {
		return err
	}
	found, err := s.version(ctx, conn, file, len(all))
	if err == nil && found < len(all) {
		err = fmt.Errorf("%w: %s is of an older jcode and can't be migrated where it is", ErrReadOnly, file)
	}
	return err
}

func foreign(file string) error {
	return fmt.Errorf("%w: %s belongs to another program", ErrForeign, file)
}

// prepareNew sets what can't be set in a transaction.
func prepareNew(ctx context.Context, conn *sql.Conn, file string) error {
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if tables > 0 {
		return foreign(file)
	}
	// A first start doesn't wait for the disk: there is nothing yet that could be lost.
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL"); err != nil {
		return fmt.Errorf("set journal mode: %w", err)
	}
	return nil
}

// create makes the tables of a new file.
func (s Schema) create(ctx context.Context, conn *sql.Conn, steps []string) error {
	if s.Whole == "" {
		return s.apply(ctx, conn, steps, 0)
	}
	return s.inOne(ctx, conn, len(steps), func() error {
		if _, err := conn.ExecContext(ctx, s.Whole); err != nil {
			return fmt.Errorf("make tables: %w", err)
		}
		return nil
	})
}

// apply takes the steps after a version, in one transaction.
func (s Schema) apply(ctx context.Context, conn *sql.Conn, steps []string, version int) error {
	return s.inOne(ctx, conn, len(steps), func() error {
		for _, name := range steps[version:] {
			text, err := fs.ReadFile(s.Files, name)
			if err != nil {
				return err
			}
			if _, err := conn.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("migration %s: %w", name, err)
			}
		}
		return nil
	})
}

// inOne changes the schema and notes its version, in one transaction.
func (s Schema) inOne(ctx context.Context, conn *sql.Conn, version int, change func() error) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin migration: %w", err)
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK") // the first error counts
		}
	}()
	if err := change(); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", version, s.ApplicationID)); err != nil {
		return fmt.Errorf("note schema version: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit migration: %w", err)
	}
	return nil
}

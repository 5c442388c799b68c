package session

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks a SQLite file as jcode's ("jcod").
const applicationID = 0x6a636f64

// migration is one embedded step of the schema.
type migration struct {
	version int
	name    string
}

// migrations lists the embedded files in order: NNNN_what.sql.
func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		v, err := strconv.Atoi(number)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("migration %s: numbers must follow each other from 0001", name)
		}
		all = append(all, migration{version: v, name: name})
	}
	return all, nil
}

// migrate brings the file up to date in one transaction. It runs under the lock file.
func migrate(ctx context.Context, conn *sql.Conn, file string) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	var found, app int
	if err := conn.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id)").Scan(&found, &app); err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	switch {
	case app != applicationID && (app != 0 || found != 0):
		return fmt.Errorf("%w: %s belongs to another program", ErrForeign, file)
	case found > len(all):
		return &NewerError{Path: file, Found: found, Known: len(all)}
	case found == len(all):
		return nil
	}
	if found > 0 {
		return apply(ctx, conn, all[found:])
	}
	if err := prepareNew(ctx, conn, file); err != nil {
		return err
	}
	if err := apply(ctx, conn, all); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL"); err != nil {
		return fmt.Errorf("set synchronous mode: %w", err)
	}
	return nil
}

// prepareNew sets what can't be set in a transaction.
func prepareNew(ctx context.Context, conn *sql.Conn, file string) error {
	var tables int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	if tables > 0 {
		return fmt.Errorf("%w: %s belongs to another program", ErrForeign, file)
	}
	// A first start doesn't wait for the disk: there is nothing yet that could be lost.
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL"); err != nil {
		return fmt.Errorf("set journal mode: %w", err)
	}
	return nil
}

func apply(ctx context.Context, conn *sql.Conn, steps []migration) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin migration: %w", err)
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(ctx, "ROLLBACK") // the first error counts
		}
	}()
	for _, m := range steps {
		text, err := migrationFiles.ReadFile(m.name)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	last := steps[len(steps)-1].version
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", last, applicationID)); err != nil {
		return fmt.Errorf("note schema version: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("commit migration: %w", err)
	}
	return nil
}

package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// writer is the one connection that writes. Whoever holds the token in turn may use it.
type writer struct {
	turn  chan struct{}
	db    *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func newWriter(ctx context.Context, name string) (*writer, error) {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &writer{turn: make(chan struct{}, 1), db: db, conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

func (w *writer) close() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	var errs []error
	for _, st := range w.stmts {
		errs = append(errs, st.Close())
	}
	w.stmts = nil
	errs = append(errs, w.conn.Close(), w.db.Close())
	return errors.Join(errs...)
}

// retire waits for the running write and lets no other begin.
func (w *writer) retire() {
	w.turn <- struct{}{}
	w.stmts = nil
	<-w.turn
}

// tx is a running write transaction. Its statements are prepared once per store.
type tx struct {
	ctx context.Context
	w   *writer
}

// write runs fn in one transaction that begins IMMEDIATE. A context that ends before the
// transaction begins stops it; once begun it is carried through, so that a commit is
// never torn by an interrupt.
func (s *Store) write(ctx context.Context, fn func(t *tx) error) error {
	select {
	case s.writer.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writer.turn }()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.writer.stmts == nil {
		return fmt.Errorf("write database: %w", sql.ErrConnDone)
	}
	t := &tx{ctx: context.WithoutCancel(ctx), w: s.writer}
	if _, err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return explain(s.path, err)
	}
	if err := fn(t); err != nil {
		_, rollErr := t.exec("ROLLBACK")
		if rollErr != nil && code(err) != 0 {
			rollErr = nil // the engine has rolled back by itself
		}
		return errors.Join(explain(s.path, err), rollErr)
	}
	if _, err := t.exec("COMMIT"); err != nil {
		_, _ = t.exec("ROLLBACK") // the commit's error counts
		return explain(s.path, err)
	}
	return nil
}

// emptyLog moves everything from the write-ahead log into the database and cuts the log to
// nothing, as far as no reader holds it.
func (s *Store) emptyLog(ctx context.Context) error {
	select {
	case s.writer.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writer.turn }()
	if s.writer.stmts == nil {
		return fmt.Errorf("write database: %w", sql.ErrConnDone)
	}
	_, err := s.writer.conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA wal_checkpoint(TRUNCATE)")
	return explain(s.path, err)
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if st := t.w.stmts[query]; st != nil {
		return st, nil
	}
	st, err := t.w.conn.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = st
	return st, nil
}

func (t *tx) exec(query string, args ...any) (sql.Result, error) {
	st, err := t.stmt(query) //nolint:sqlclosecheck // closed with the store
	if err != nil {
		return nil, err
	}
	return st.ExecContext(t.ctx, args...)
}

// row reads one row into dest; ErrNotFound when there is none.
func (t *tx) row(query string, args []any, dest ...any) error {
	st, err := t.stmt(query) //nolint:sqlclosecheck // closed with the store
	if err != nil {
		return err
	}
	err = st.QueryRowContext(t.ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// each calls fn for every row of a query.
func (t *tx) each(query string, args []any, fn func(scan func(...any) error) error) error {
	st, err := t.stmt(query) //nolint:sqlclosecheck // closed with the store
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return drain(rows, fn)
}

func drain(rows *sql.Rows, fn func(scan func(...any) error) error) error {
	defer func() { _ = rows.Close() }() // Err says what went wrong
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// read calls fn for every row of a query on a reading connection.
func (s *Store) read(ctx context.Context, query string, args []any, fn func(scan func(...any) error) error) error {
	db, err := s.readers()
	if err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return explain(s.path, err)
	}
	return explain(s.path, drain(rows, fn))
}

// readRow reads one row into dest on a reading connection; ErrNotFound when there is none.
func (s *Store) readRow(ctx context.Context, query string, args []any, dest ...any) error {
	found := false
	err := s.read(ctx, query, args, func(scan func(...any) error) error {
		found = true
		return scan(dest...)
	})
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

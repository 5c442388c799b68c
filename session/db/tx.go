package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// writer is the one connection that writes. Only the goroutine that has put its token into
// turn may use it.
type writer struct {
	turn  chan struct{}
	pool  *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // prepared, by query; nil once closed
}

func newWriter(ctx context.Context, name string) (*writer, error) {
	pool, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &writer{turn: make(chan struct{}, 1), pool: pool, conn: conn, stmts: map[string]*sql.Stmt{}}, nil
}

// take waits for the connection. The caller calls release when it has finished with it.
func (w *writer) take(ctx context.Context) (release func(), err error) {
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { <-w.turn }
	if err = ctx.Err(); err == nil && w.stmts == nil {
		err = fmt.Errorf("write database: %w", sql.ErrConnDone)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// tryTake is take for a connection that is open and idle.
func (w *writer) tryTake() (release func(), ok bool) {
	select {
	case w.turn <- struct{}{}:
	default:
		return nil, false
	}
	release = func() { <-w.turn }
	if w.stmts == nil {
		release()
		return nil, false
	}
	return release, true
}

func (w *writer) close() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	var errs []error
	for _, st := range w.stmts {
		errs = append(errs, st.Close())
	}
	w.stmts = nil
	errs = append(errs, w.conn.Close(), w.pool.Close())
	return errors.Join(errs...)
}

// retire waits for the running write and refuses later ones.
func (w *writer) retire() {
	w.turn <- struct{}{}
	w.stmts = nil
	<-w.turn
}

// Write runs fn in one transaction, which is committed when fn returns nil and rolled back
// otherwise. A context that ends before the transaction begins stops it; once begun it is
// carried through, so that a commit is never torn by an interrupt.
func (d *DB) Write(ctx context.Context, fn func(t *Tx) error) error {
	if d.shown {
		return readOnly(d.path)
	}
	release, err := d.writer.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	t := &Tx{ctx: context.WithoutCancel(ctx), w: d.writer}
	if _, err := t.Exec("BEGIN IMMEDIATE"); err != nil {
		return d.explain(err)
	}
	if err := fn(t); err != nil {
		_, rollErr := t.Exec("ROLLBACK")
		if rollErr != nil && code(err) != 0 {
			rollErr = nil // the engine has rolled back by itself
		}
		return errors.Join(d.explain(err), rollErr)
	}
	if _, err := t.Exec("COMMIT"); err != nil {
		_, _ = t.Exec("ROLLBACK") // the commit's error counts
		return d.explain(err)
	}
	return nil
}

// EmptyLog moves everything from the write-ahead log into the database and truncates the
// log, unless a reader still needs it.
func (d *DB) EmptyLog(ctx context.Context) error {
	return d.explain(d.outside(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"))
}

// WithAttached runs fn while another database is attached to the writing
// connection under a schema name. fn calls Write.
func (d *DB) WithAttached(ctx context.Context, other *DB, schema string, fn func() error) (err error) {
	if err := d.outside(ctx, "ATTACH DATABASE ? AS "+schema, cmp.Or(other.uri, other.path)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.outside(context.WithoutCancel(ctx), "DETACH DATABASE "+schema)) }()
	return fn()
}

// outside executes a statement on the writing connection outside of a transaction.
func (d *DB) outside(ctx context.Context, query string, args ...any) error {
	release, err := d.writer.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = d.writer.conn.ExecContext(context.WithoutCancel(ctx), query, args...)
	return err
}

// Scan copies the columns of a row into dest, as sql.Rows.Scan does.
type Scan = func(dest ...any) error

// Each calls fn for every row of a query, on a reading connection.
func (d *DB) Each(ctx context.Context, query string, args []any, fn func(scan Scan) error) error {
	pool, err := d.readers()
	if err != nil {
		return err
	}
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return d.explain(err)
	}
	return d.explain(drain(rows, fn))
}

// Row reads one row into dest, on a reading connection. It returns ErrNotFound when there is
// none.
func (d *DB) Row(ctx context.Context, query string, args []any, dest ...any) error {
	found := false
	err := d.Each(ctx, query, args, func(scan Scan) error {
		found = true
		return scan(dest...)
	})
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// All returns the rows of a query as read makes them, from a reading connection.
func All[T any](ctx context.Context, d *DB, query string, args []any, read func(scan Scan) (T, error)) ([]T, error) {
	return collect(read, func(add func(Scan) error) error { return d.Each(ctx, query, args, add) })
}

// Few is All for a query with a few rows that a start needs: while no reading connection is open
// and the writing one is idle, it runs there. To open one takes a millisecond, because each reads
// the whole schema. read must only scan.
func Few[T any](ctx context.Context, d *DB, query string, args []any, read func(scan Scan) (T, error)) ([]T, error) {
	release, ok := d.borrow(ctx)
	if !ok {
		return All(ctx, d, query, args, read)
	}
	defer release()
	t := &Tx{ctx: context.WithoutCancel(ctx), w: d.writer}
	all, err := AllOf(t, query, args, read)
	return all, d.explain(err)
}

// borrow takes the writing connection for a short read, unless one for reading is open or it is
// in use.
func (d *DB) borrow(ctx context.Context) (release func(), ok bool) {
	d.readMu.Lock()
	reading := d.reading != nil
	d.readMu.Unlock()
	if reading || ctx.Err() != nil {
		return nil, false
	}
	return d.writer.tryTake()
}

// AllOf is All inside of a transaction.
func AllOf[T any](t *Tx, query string, args []any, read func(scan Scan) (T, error)) ([]T, error) {
	return collect(read, func(add func(Scan) error) error { return t.Each(query, args, add) })
}

// One reads a row of one column, for All.
func One[T any](scan Scan) (v T, err error) {
	err = scan(&v)
	return v, err
}

func collect[T any](read func(scan Scan) (T, error), each func(add func(Scan) error) error) ([]T, error) {
	var all []T
	err := each(func(scan Scan) error {
		row, err := read(scan)
		if err == nil {
			all = append(all, row)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Tx is a running write transaction. Its statements stay prepared until the database is
// closed.
type Tx struct {
	ctx context.Context
	w   *writer
}

func (t *Tx) stmt(query string) (*sql.Stmt, error) {
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

// Exec executes a statement.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	st, err := t.stmt(query) //nolint:sqlclosecheck // closed with the database
	if err != nil {
		return nil, err
	}
	return st.ExecContext(t.ctx, args...)
}

// Row reads one row into dest. It returns ErrNotFound when there is none.
func (t *Tx) Row(query string, args []any, dest ...any) error {
	st, err := t.stmt(query) //nolint:sqlclosecheck // closed with the database
	if err != nil {
		return err
	}
	return one(st.QueryRowContext(t.ctx, args...), dest)
}

// Each calls fn for every row of a query.
func (t *Tx) Each(query string, args []any, fn func(scan Scan) error) error {
	st, err := t.stmt(query) //nolint:sqlclosecheck // closed with the database
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return drain(rows, fn)
}

// ExecOnce is Exec for a statement that must not stay prepared, because it names an attached
// database.
func (t *Tx) ExecOnce(query string, args ...any) error {
	_, err := t.w.conn.ExecContext(t.ctx, query, args...)
	return err
}

// RowOnce is Row for a statement that must not stay prepared.
func (t *Tx) RowOnce(query string, args []any, dest ...any) error {
	return one(t.w.conn.QueryRowContext(t.ctx, query, args...), dest)
}

func one(row *sql.Row, dest []any) error {
	err := row.Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

func drain(rows *sql.Rows, fn func(scan Scan) error) error {
	defer func() { _ = rows.Close() }() // Err says what went wrong
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"
)

// Lost says what of a table could not be copied.
type Lost struct {
	Table string
	Rows  int // at least so many
	// Unsure says that more may be missing, because nothing else in the file lists the table's rows.
	Unsure bool
}

// table is what a copy has to know of one.
type table struct {
	name    string
	keys    []string // of a table without row IDs, which is read by its primary key
	columns []string // that both files have
	indexes []string // that list every row
}

// salvage copies the readable rows of a damaged file to a new one. What is derived from other rows
// (full-text indexes) is left out.
type salvage struct {
	ctx      context.Context //nolint:containedctx // one run
	from, to *sql.Conn
	lost     []Lost
}

// all copies table by table, in one transaction.
func (s *salvage) all() error {
	tables, err := s.tables()
	if err != nil {
		return err
	}
	if err := run(s.ctx, s.to, "PRAGMA foreign_keys = OFF", "PRAGMA synchronous = FULL", "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, t := range tables {
		if err := s.copy(t); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	return run(s.ctx, s.to, "COMMIT", "PRAGMA foreign_keys = ON")
}

func run(ctx context.Context, conn *sql.Conn, statements ...string) error {
	for _, st := range statements {
		if _, err := conn.ExecContext(ctx, st); err != nil {
			return fmt.Errorf("%s: %w", st, err)
		}
	}
	return nil
}

// tables lists the tables of the new file that the old one has, too.
func (s *salvage) tables() ([]table, error) {
	names, err := texts(s.ctx, s.to, "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	all := make([]table, 0, len(names))
	for _, name := range names {
		t := table{name: name}
		there, err := texts(s.ctx, s.from, "SELECT name FROM pragma_table_info(?)", name)
		if err != nil {
			return nil, fmt.Errorf("read the columns of %s: %w", name, err)
		}
		here, err := texts(s.ctx, s.to, "SELECT name FROM pragma_table_info(?)", name)
		if err != nil {
			return nil, err
		}
		for _, c := range here {
			if slices.Contains(there, c) {
				t.columns = append(t.columns, c)
			}
		}
		if len(t.columns) == 0 {
			s.lost = append(s.lost, Lost{Table: name, Unsure: true})
			continue
		}
		if t.keys, err = texts(s.ctx, s.to, `SELECT i.name FROM pragma_table_info(?1) i, pragma_table_list l
			WHERE l.name = ?1 AND l.wr = 1 AND i.pk > 0 ORDER BY i.pk`, name); err != nil {
			return nil, err
		}
		if t.indexes, err = texts(s.ctx, s.from, "SELECT name FROM pragma_index_list(?) WHERE partial = 0", name); err != nil {
			return nil, fmt.Errorf("read the indexes of %s: %w", name, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// texts returns the rows of a query with one column of text.
func texts(ctx context.Context, conn *sql.Conn, query string, args ...any) ([]string, error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var all []string
	err = drain(rows, func(scan Scan) error {
		var one string
		err := scan(&one)
		all = append(all, one)
		return err
	})
	return all, err
}

// copy reads a table from its beginning to the first damage, from its end back to the last, and row
// by row what lies between, as far as an index still names it.
func (s *salvage) copy(t table) error {
	if len(t.keys) > 0 {
		return s.copyByKey(t)
	}
	r := &rowCopy{salvage: s, table: t, last: math.MinInt64, first: math.MaxInt64}
	whole, err := r.forward(math.MinInt64)
	if err != nil || whole {
		return r.end(true, err)
	}
	if whole, err = r.backward(); err != nil || whole {
		return r.end(true, err)
	}
	ids, sure := s.listed(t, r.last, r.first)
	for _, id := range ids {
		if id <= r.last {
			continue
		}
		if _, err := r.forward(id - 1); err != nil {
			return r.end(sure, err)
		}
		if id > r.last {
			r.refused++
		}
	}
	return r.end(sure, nil)
}

// listed returns the row IDs between two that an index names, in order; sure is false where no
// index could be read to its end.
func (s *salvage) listed(t table, low, high int64) (ids []int64, sure bool) {
	found := map[int64]bool{}
	for _, index := range t.indexes {
		rows, err := s.from.QueryContext(s.ctx, fmt.Sprintf("SELECT rowid FROM %s INDEXED BY %s", quote(t.name), quote(index)))
		if err == nil {
			err = drain(rows, func(scan Scan) error {
				var id int64
				if err := scan(&id); err != nil {
					return err
				}
				if id > low && id < high {
					found[id] = true
				}
				return nil
			})
		}
		sure = sure || err == nil
	}
	return slices.Sorted(maps.Keys(found)), sure
}

// rowCopy copies the rows of one table. Those up to last and from first on are done.
type rowCopy struct {
	*salvage
	table       table
	last, first int64
	refused     int
}

func (r *rowCopy) forward(after int64) (whole bool, err error) {
	return r.rows(fmt.Sprintf("SELECT rowid, %s FROM %s WHERE rowid > ? AND rowid < ? ORDER BY rowid", columns(r.table.columns), quote(r.table.name)), &r.last, after, r.first)
}

func (r *rowCopy) backward() (whole bool, err error) {
	return r.rows(fmt.Sprintf("SELECT rowid, %s FROM %s WHERE rowid > ? ORDER BY rowid DESC", columns(r.table.columns), quote(r.table.name)), &r.first, r.last)
}

// rows copies until the end or damage. done is set to each row that was read.
func (r *rowCopy) rows(query string, done *int64, args ...any) (whole bool, err error) {
	return r.each(query, args, len(r.table.columns)+1, func(values []any) error {
		id, ok := values[0].(int64)
		if !ok {
			return fmt.Errorf("row ID %v", values[0])
		}
		*done = id
		kept, err := r.insert(r.table, values[1:])
		if !kept {
			r.refused++
		}
		return err
	})
}

func (r *rowCopy) end(sure bool, err error) error {
	if r.refused > 0 || !sure {
		r.lost = append(r.lost, Lost{Table: r.table.name, Rows: r.refused, Unsure: !sure})
	}
	return err
}

func (s *salvage) copyByKey(t table) error {
	refused := 0
	add := func(values []any) error {
		kept, err := s.insert(t, values)
		if !kept {
			refused++
		}
		return err
	}
	query := fmt.Sprintf("SELECT %s FROM %s ORDER BY ", columns(t.columns), quote(t.name))
	whole, err := s.each(query+columns(t.keys), nil, len(t.columns), add)
	if err == nil && !whole {
		once := refused // rows that both readings reach are refused the second time
		_, err = s.each(query+columns(t.keys)+" DESC", nil, len(t.columns), add)
		refused = once
	}
	if refused > 0 || !whole {
		s.lost = append(s.lost, Lost{Table: t.name, Rows: refused, Unsure: !whole})
	}
	return err
}

// errWrite marks an error of the new file.
type errWrite struct{ error }

func (e errWrite) Unwrap() error { return e.error }

// each calls fn with the values of each row. An error of the damaged file ends it: whole is then false.
func (s *salvage) each(query string, args []any, width int, fn func([]any) error) (whole bool, err error) {
	values, into := make([]any, width), make([]any, width)
	for i := range values {
		into[i] = &values[i]
	}
	rows, err := s.from.QueryContext(s.ctx, query, args...)
	if err == nil {
		err = drain(rows, func(scan Scan) error {
			if err := scan(into...); err != nil {
				return err
			}
			return fn(values)
		})
	}
	if w, ok := errors.AsType[errWrite](err); ok {
		return false, w.error
	}
	if ctxErr := s.ctx.Err(); ctxErr != nil {
		return false, ctxErr
	}
	return err == nil, nil
}

// insert adds a row. The new file refuses one whose values damage has changed: kept is then false.
func (s *salvage) insert(t table, values []any) (kept bool, err error) {
	result, err := s.to.ExecContext(s.ctx, fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", quote(t.name), columns(t.columns),
		strings.TrimSuffix(strings.Repeat("?,", len(t.columns)), ",")), values...)
	switch {
	case err == nil:
		n, err := result.RowsAffected()
		return n > 0, err
	case code(err) == sqlite3.SQLITE_CONSTRAINT:
		return false, nil
	}
	return false, errWrite{err}
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func columns(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}

// DropOrphans deletes the rows whose parent is lost.
func DropOrphans(t *Tx) error {
	type link struct{ table, from, parent, to string }
	links, err := AllOf(t, `SELECT l.name, f."from", f."table", f."to" FROM pragma_table_list l, pragma_foreign_key_list(l.name) f
		WHERE l.schema = 'main' AND l.type = 'table'`, nil, func(scan Scan) (k link, err error) {
		return k, scan(&k.table, &k.from, &k.parent, &k.to)
	})
	if err != nil {
		return err
	}
	// A parent's own parent may be lost: as many rounds as there are links.
	slices.SortFunc(links, func(a, b link) int { return cmp.Compare(a.table, b.table) })
	for range links {
		for _, k := range links {
			if err := t.ExecOnce(fmt.Sprintf("DELETE FROM %s WHERE %s NOT IN (SELECT %s FROM %s)", quote(k.table), quote(k.from), quote(k.to), quote(k.parent))); err != nil {
				return err
			}
		}
	}
	return nil
}

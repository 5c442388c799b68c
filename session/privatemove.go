package session

import (
	"fmt"
	"slices"
	"strings"

	"jcode/session/db"
)

// moveIn copies a session from the attached database `private` to this one, with all columns
// that the schema has. together are the sessions that are moved with it.
func (t *tx) moveIn(id string, together []string) error {
	var n int64
	var parent string
	if err := t.RowOnce("SELECT n, parent_id FROM private.sessions WHERE id = ?", []any{id}, &n, &parent); err != nil {
		return err
	}
	if err := t.copyRows("sessions", map[string]string{"n": "", "used": nextUse}, "id = ?", id); err != nil {
		return err
	}
	var m int64
	if err := t.RowOnce("SELECT n FROM main.sessions WHERE id = ?", []any{id}, &m); err != nil {
		return err
	}
	if parent != "" && !slices.Contains(together, parent) {
		// A fork of a session that stays in memory has no parent in the file.
		if err := t.run("UPDATE sessions SET parent_id = '' WHERE n = ?1 AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = ?2)", m, parent); err != nil {
			return err
		}
	}
	low, high, shift := n<<seqBits, (n+1)<<seqBits, fmt.Sprint((m-n)<<seqBits)
	key := fmt.Sprint(m)
	for _, c := range []struct {
		table   string
		columns map[string]string // expressions in place of columns; "" leaves a column to its default
		where   string
		args    []any
	}{
		{"messages", map[string]string{"id": "id + " + shift, "session": key}, "id >= ? AND id < ?", []any{low, high}},
		{"tool_calls", map[string]string{"id": "", "message": "message + " + shift}, "message >= ? AND message < ? ORDER BY message, idx", []any{low, high}},
		{"todos", map[string]string{"session": key}, "session = ?", []any{n}},
		{"seen", map[string]string{"n": "", "session": key}, "session = ? ORDER BY n", []any{n}},
		{"shown", map[string]string{"id": "", "session": key}, "session = ? ORDER BY id", []any{n}},
		{"blobs", nil, "hash IN (SELECT before_hash FROM private.checkpoints WHERE session = ?1 UNION SELECT after_hash FROM private.checkpoints WHERE session = ?1)", []any{n}},
		{"change_names", map[string]string{"session": key}, "session = ?", []any{n}},
		{"checkpoints", map[string]string{"id": "", "session": key}, "session = ? ORDER BY id", []any{n}},
		{"agents", nil, "session = ?", []any{id}},
		{"edits", nil, "session = ?", []any{id}},
		{"grants", map[string]string{"id": ""}, "scope = 'session' AND session_id = ?", []any{id}},
	} {
		if err := t.copyRows(c.table, c.columns, c.where, c.args...); err != nil {
			return fmt.Errorf("%s: %w", c.table, err)
		}
	}
	var title string
	if err := t.RowOnce("SELECT title FROM main.sessions WHERE n = ?", []any{m}, &title); err != nil {
		return err
	}
	if title != "" {
		if err := t.index(m<<seqBits, title); err != nil {
			return err
		}
	}
	return t.indexCopies(m)
}

// copyRows copies rows of a table from `private`. Existing rows stay.
func (t *tx) copyRows(table string, instead map[string]string, where string, args ...any) error {
	var into, from []string
	err := t.Each("SELECT name FROM pragma_table_info(?)", []any{table}, func(scan db.Scan) error {
		var name string
		if err := scan(&name); err != nil {
			return err
		}
		value, changed := instead[name]
		if !changed {
			value = name
		}
		if value != "" {
			into, from = append(into, name), append(from, value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	query := fmt.Sprintf("INSERT OR IGNORE INTO main.%[1]s (%[2]s) SELECT %[3]s FROM private.%[1]s WHERE %[4]s", table, strings.Join(into, ", "), strings.Join(from, ", "), where)
	return t.ExecOnce(query, args...)
}

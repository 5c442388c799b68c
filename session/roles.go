package session

import (
	"context"
	"errors"
	"fmt"

	"jcode/session/db"
	"jcode/session/role"
)

// Roles keeps role files as rows. It implements role.Rows.
type Roles struct{ s *Store }

// Roles returns the store's roles.
func (s *Store) Roles() Roles { return Roles{s} }

// Save stores the text of a role file as a row, byte for byte, replacing one of the same
// name.
func (rs Roles) Save(ctx context.Context, name, text string) error {
	if err := role.CheckName(name); err != nil {
		return err
	}
	if len(text) > role.MaxBytes {
		return fmt.Errorf("save role %s: it has %d bytes, a role has at most %d", name, len(text), role.MaxBytes)
	}
	return rs.s.change(ctx, "save role "+name, func(t *tx) error {
		return t.run(`INSERT INTO roles (name, text, updated) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET text = excluded.text, updated = excluded.updated`, name, text, toMillis(t.now()))
	})
}

// List returns the roles that are kept as rows, by name.
func (rs Roles) List(ctx context.Context) ([]role.Row, error) {
	all, err := db.Few(ctx, rs.s.db, "SELECT name, text, updated FROM roles ORDER BY name", nil, func(scan db.Scan) (r role.Row, err error) {
		err = scan(&r.Name, &r.Text, millis{&r.Updated})
		return r, err
	})
	return all, wrap("list roles", err)
}

// Delete removes a row. It returns ErrNotFound if there is none of the name; files and
// builtins are not looked at.
func (rs Roles) Delete(ctx context.Context, name string) error {
	err := rs.s.write(ctx, func(t *tx) error { return affected(t.Exec("DELETE FROM roles WHERE name = ?", name)) })
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("role %s is not in the database: %w", name, ErrNotFound)
	}
	return wrap("delete role "+name, err)
}

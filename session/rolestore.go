package session

import (
	"context"
	"errors"
	"fmt"

	"jcode/session/role"
)

// SaveRole keeps the text of a role file as a row, byte for byte, in place of one of the
// same name.
func (s *Store) SaveRole(ctx context.Context, name, text string) error {
	if err := role.CheckName(name); err != nil {
		return err
	}
	if len(text) > role.MaxBytes {
		return fmt.Errorf("save role %s: it has %d bytes, a role has at most %d", name, len(text), role.MaxBytes)
	}
	err := s.write(ctx, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO roles (name, text, updated) VALUES (?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET text = excluded.text, updated = excluded.updated`, name, text, toMillis(s.now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("save role %s: %w", name, err)
	}
	return nil
}

// RoleRows gives the roles that are kept as rows, by name.
func (s *Store) RoleRows(ctx context.Context) ([]role.Row, error) {
	var all []role.Row
	err := s.db.Each(ctx, "SELECT name, text, updated FROM roles ORDER BY name", nil, func(scan func(...any) error) error {
		var r role.Row
		var updated int64
		err := scan(&r.Name, &r.Text, &updated)
		r.Updated = fromMillis(updated)
		all = append(all, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list roles: %w", err)
	}
	return all, nil
}

// DeleteRole removes a row, or gives ErrNotFound. Files and builtins are not its business.
func (s *Store) DeleteRole(ctx context.Context, name string) error {
	err := s.write(ctx, func(t *tx) error { return affected(t.Exec("DELETE FROM roles WHERE name = ?", name)) })
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("role %s is not in the database: %w", name, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("delete role %s: %w", name, err)
	}
	return nil
}

package rolescli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/session/role"
)

// roleFile returns the file in which a role is edited: its own, or for a row, a builtin and a new role a
// copy, which takeRole applies.
func (a Actions) roleFile(r role.Role) (string, error) {
	if r.Path != "" && r.Source != role.Plugin {
		return r.Path, nil
	}
	if r.Source == role.Plugin { // its files stay as they were accepted
		r.Text = role.Format(r)
	}
	dir, err := os.MkdirTemp("", "jcode-role-")
	if err != nil {
		return "", fmt.Errorf("edit role: %w", err)
	}
	path := filepath.Join(dir, r.Name+".md")
	if err := os.WriteFile(path, []byte(r.Text), 0o600); err != nil {
		return "", fmt.Errorf("edit role: %w", err)
	}
	return path, nil
}

// takeRole applies the file that roleFile returned: a changed copy becomes a row. A text that is not usable
// stays in its file, which the error names.
func (a Actions) takeRole(ctx context.Context, r role.Role, path string) (changed bool, err error) {
	text, err := os.ReadFile(path)
	switch {
	case r.Path != "" && r.Source != role.Plugin:
		return string(text) != r.Text, err
	case r.Source == role.Plugin && err == nil && string(text) == role.Format(r):
		return false, os.RemoveAll(filepath.Dir(path))
	case errors.Is(err, fs.ErrNotExist) || err == nil && string(text) == r.Text:
		return false, os.RemoveAll(filepath.Dir(path))
	case err != nil:
		return false, err
	}
	if _, err := a.Layers().Import(ctx, path); err != nil {
		return false, fmt.Errorf("%w (your text is in %s)", err, path)
	}
	return true, os.RemoveAll(filepath.Dir(path))
}

// removeRole deletes the role that a name refers to, if it is the person's own: a row or a file of the
// configuration. It says what the name means from now on.
func (a Actions) removeRole(ctx context.Context, name string) (string, error) {
	r, err := a.Layers().Get(ctx, name)
	switch {
	case err != nil && !errors.Is(err, role.ErrUnknown):
		return "", err
	case err != nil:
		return "", fmt.Errorf("delete %w", err)
	case r.Source.FromProject():
		return "", fmt.Errorf("role %s is the project's file %s: delete that", name, r.Path)
	case r.Source == role.Builtin:
		return "", fmt.Errorf("role %s is built in: a role of yours with that name replaces it (jcode roles edit %s)", name, name)
	case r.Source == role.Plugin:
		return "", fmt.Errorf("role %s belongs to a plugin (%s): jcode plugins remove takes the plugin away", name, r.Path)
	case r.Source == role.UserFile, r.Source == role.UserAgents:
		err = os.Remove(r.Path)
	default:
		err = a.Store.Roles().Delete(ctx, name)
	}
	if err != nil {
		return "", fmt.Errorf("delete role %s: %w", name, err)
	}
	said := "deleted " + name
	if next, err := a.Layers().Get(ctx, name); err == nil {
		said += "; the name means the " + string(next.Source) + " one now"
	}
	return said, nil
}

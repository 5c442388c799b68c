package cli

import (
	"context"
	"path/filepath"

	"jcode/internal/paths"
	"jcode/internal/slicex"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/permission"
)

// trustRows stores a person's trust in the things of one project.
type trustRows struct {
	stored  session.Trusts
	project string
}

// Trusted lists what is trusted.
func (t trustRows) Trusted(ctx context.Context) ([]permission.TrustRow, error) {
	rows, err := t.stored.List(ctx, t.project)
	if err != nil {
		return nil, err
	}
	return slicex.Map(rows, func(r session.Trust) permission.TrustRow {
		return permission.TrustRow{Kind: tools.TrustKind(r.Kind), Name: r.Name, Hash: r.Hash}
	}), nil
}

// AddTrust stores rows, all or none.
func (t trustRows) AddTrust(ctx context.Context, rows ...permission.TrustRow) error {
	return t.stored.Add(ctx, slicex.Map(rows, func(r permission.TrustRow) session.Trust {
		return session.Trust{Project: t.project, Kind: string(r.Kind), Name: r.Name, Hash: r.Hash}
	})...)
}

// RemoveTrust removes the rows of a kind and name, of all versions.
func (t trustRows) RemoveTrust(ctx context.Context, kind tools.TrustKind, name string) (bool, error) {
	n, err := t.stored.Remove(ctx, t.project, string(kind), name)
	return n > 0, err
}

// trustsFolder reports whether the person's configuration names this project's folder.
func trustsFolder(patterns []string, home, root string) bool {
	for _, p := range patterns {
		if rest, ok := paths.CutHome(p); ok {
			p = filepath.Join(home, rest)
		}
		if ok, err := filepath.Match(filepath.Clean(p), root); err == nil && ok {
			return true
		}
	}
	return false
}

// everywhere returns the trust in files of the project and of the person.
func (a *app) everywhere() tools.Trust {
	return bothTrusts{project: a.trust, person: ofPerson(a)}
}

// ofPerson returns the trust in files of the person's own.
func ofPerson(a *app) *permission.Trust {
	return permission.NewTrust("", trustRows{a.store.Trusts(), ""}, a.flags.Trust)
}

// bothTrusts records approvals of the project's files with the project, those of the person's
// own for everywhere. It implements tools.Trust.
type bothTrusts struct{ project, person tools.Trust }

func (t bothTrusts) of(item tools.TrustItem) tools.Trust {
	if item.Personal {
		return t.person
	}
	return t.project
}

// Trusted implements tools.Trust.
func (t bothTrusts) Trusted(ctx context.Context, item tools.TrustItem) (bool, error) {
	return t.of(item).Trusted(ctx, item)
}

// Unconfined implements tools.Trust.
func (t bothTrusts) Unconfined(ctx context.Context, item tools.TrustItem) bool {
	return t.of(item).Unconfined(ctx, item)
}

// Accept implements tools.Trust.
func (t bothTrusts) Accept(ctx context.Context, items []tools.TrustItem, keep bool) error {
	for _, item := range items {
		if err := t.of(item).Accept(ctx, []tools.TrustItem{item}, keep); err != nil {
			return err
		}
	}
	return nil
}

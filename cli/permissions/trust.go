package permissionscli

import (
	"context"
	"path/filepath"

	"jcode/internal/paths"
	"jcode/internal/slicex"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/permission"
)

// TrustRows stores a person's trust in the things of one project.
type TrustRows struct {
	Stored  session.Trusts
	Project string
}

// Trusted lists what is trusted.
func (t TrustRows) Trusted(ctx context.Context) ([]permission.TrustRow, error) {
	rows, err := t.Stored.List(ctx, t.Project)
	if err != nil {
		return nil, err
	}
	return slicex.Map(rows, func(r session.Trust) permission.TrustRow {
		return permission.TrustRow{Kind: tools.TrustKind(r.Kind), Name: r.Name, Hash: r.Hash}
	}), nil
}

// AddTrust stores rows, all or none.
func (t TrustRows) AddTrust(ctx context.Context, rows ...permission.TrustRow) error {
	return t.Stored.Add(ctx, slicex.Map(rows, func(r permission.TrustRow) session.Trust {
		return session.Trust{Project: t.Project, Kind: string(r.Kind), Name: r.Name, Hash: r.Hash}
	})...)
}

// RemoveTrust removes the rows of a kind and name, of all versions.
func (t TrustRows) RemoveTrust(ctx context.Context, kind tools.TrustKind, name string) (bool, error) {
	n, err := t.Stored.Remove(ctx, t.Project, string(kind), name)
	return n > 0, err
}

// NamesFolder reports whether the person's configuration names this project's folder.
func NamesFolder(patterns []string, home, root string) bool {
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

// Trusts records approvals of the project's files with the project, those of the person's
// own for everywhere. It implements tools.Trust.
type Trusts struct{ Project, Person tools.Trust }

func (t Trusts) of(item tools.TrustItem) tools.Trust {
	if item.Personal {
		return t.Person
	}
	return t.Project
}

// Trusted implements tools.Trust.
func (t Trusts) Trusted(ctx context.Context, item tools.TrustItem) (bool, error) {
	return t.of(item).Trusted(ctx, item)
}

// Unconfined implements tools.Trust.
func (t Trusts) Unconfined(ctx context.Context, item tools.TrustItem) bool {
	return t.of(item).Unconfined(ctx, item)
}

// Accept implements tools.Trust.
func (t Trusts) Accept(ctx context.Context, items []tools.TrustItem, keep bool) error {
	for _, item := range items {
		if err := t.of(item).Accept(ctx, []tools.TrustItem{item}, keep); err != nil {
			return err
		}
	}
	return nil
}

package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"jcode/session/db"
)

// Filter selects sessions for List.
type Filter struct {
	ProjectID string // only this project's, unless All
	All       bool
	Query     string // words in titles and text; every word must occur, the last may be a prefix
	Kind      string // "" = ordinary sessions, KindTask, KindAttempt, KindAny
	ParentID  string // only those under this session
	Archived  bool   // archived ones too
	Limit     int    // 0 = all
}

// List returns the sessions that match, the most recently used first. Those in memory come
// before all others.
func (s *Store) List(ctx context.Context, f Filter) ([]Session, error) {
	stored, err := s.list(ctx, f)
	mem := s.Memory().store()
	if err != nil || mem == nil {
		return stored, err
	}
	own, err := mem.list(ctx, f)
	for i := range own {
		own[i].Private = true
	}
	all := append(own, stored...)
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all, err
}

func (s *Store) list(ctx context.Context, f Filter) ([]Session, error) {
	where, args := f.where()
	if strings.TrimSpace(f.Query) != "" {
		hits, err := matchingSessions(ctx, s.db, f.Query)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		return s.listHits(ctx, f, where, args, hits)
	}
	rest := where + " ORDER BY s.used DESC"
	if f.Limit > 0 {
		rest += fmt.Sprintf(" LIMIT %d", f.Limit)
	}
	all, err := s.sessions(ctx, rest, args...)
	return all, wrap("list sessions", err)
}

// listHits returns the newest of the sessions that a search found. It walks the keys and
// reads whole rows only of what is shown, so that each keystroke is cheap.
func (s *Store) listHits(ctx context.Context, f Filter, where string, args []any, hits map[int64]bool) ([]Session, error) {
	var keys []int64
	stop := errors.New("enough")
	err := s.db.Each(ctx, "SELECT s.n FROM sessions s"+where+" ORDER BY s.used DESC", args, func(scan db.Scan) error {
		var n int64
		if err := scan(&n); err != nil {
			return err
		}
		if hits[n] {
			keys = append(keys, n)
		}
		if f.Limit > 0 && len(keys) >= f.Limit {
			return stop
		}
		return nil
	})
	if err != nil && !errors.Is(err, stop) {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	all, err := s.sessions(ctx, "WHERE s.n IN (SELECT value FROM json_each(?)) ORDER BY s.used DESC", list(keys))
	return all, wrap("list sessions", err)
}

func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	add := func(term string, a ...any) { terms, args = append(terms, term), append(args, a...) }
	if !f.All {
		add("s.project_id = ?", f.ProjectID)
	}
	if f.Kind != KindAny {
		add("s.kind = ?", f.Kind)
	}
	if f.ParentID != "" {
		add("s.parent_id = ?", f.ParentID)
	}
	if !f.Archived {
		add("s.archived = 0")
	}
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

// Latest returns the project's most recently used session, or ErrNotFound.
func (s *Store) Latest(ctx context.Context, projectID string) (Session, error) {
	all, err := s.List(ctx, Filter{ProjectID: projectID, Limit: 1})
	if err != nil {
		return Session{}, err
	}
	if len(all) == 0 {
		return Session{}, fmt.Errorf("latest session: %w", ErrNotFound)
	}
	return all[0], nil
}

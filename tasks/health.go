package tasks

import (
	"context"
	"time"
)

// Health says how the tables of the tasks are.
type Health struct {
	// Schema is the version of the tables.
	Schema int
	// Clock is the time by the Postgres; of a file it is that of the newest change, the zero time for none.
	Clock time.Time
	// Faults are what a file is damaged by.
	Faults []string
}

// Health looks at the tables.
func (s *Store) Health(ctx context.Context) (h Health, err error) {
	if h.Schema, err = s.version(ctx, s.db); err != nil {
		return h, s.explain(err)
	}
	query := "SELECT COALESCE(MAX(changed), 0) FROM tasks"
	if s.Shared() {
		query = "SELECT " + clock
	}
	at, err := one(ctx, s, value[int64], query)
	if err != nil {
		return h, err
	}
	h.Clock = instant(at)
	if s.Shared() {
		return h, nil
	}
	found, err := list(ctx, s, value[string], "PRAGMA quick_check(5)")
	if len(found) != 1 || found[0] != "ok" {
		h.Faults = found
	}
	return h, err
}

package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Spent is what the requests of one model in one session on one day used.
type Spent struct {
	Day       string // of the local time zone, YYYY-MM-DD
	Model     string
	Session   string // ID
	Title     string
	ProjectID string
	Cwd       string
	Requests  int
	Usage     Usage
}

// Spending sums what was used since a moment, by day, model and session, oldest day first.
// Requests whose messages were rewound count: they were paid. Messages that a fork took over
// count once. It reads an index of the usage alone, so the cost grows with the number of
// answers and not with their text.
func (s *Store) Spending(ctx context.Context, since time.Time) ([]Spent, error) {
	type owner struct {
		Spent
		forked int64
		model  string
	}
	owners := map[int64]owner{}
	err := s.db.Each(ctx, "SELECT n, id, title, project_id, cwd, model, kind, fork_seq FROM sessions", nil, func(scan func(...any) error) error {
		var n, forked int64
		var o owner
		var kind string
		if err := scan(&n, &o.Session, &o.Title, &o.ProjectID, &o.Cwd, &o.model, &kind, &forked); err != nil {
			return err
		}
		if kind != KindTask {
			o.forked = forked
		}
		owners[n] = o
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sum usage: %w", err)
	}
	type key struct {
		day, model string
		n          int64
	}
	sums := map[key]*Spent{}
	days := dayCache{}
	err = s.db.Each(ctx, "SELECT created, session, seq, usage FROM messages INDEXED BY messages_usage WHERE usage IS NOT NULL AND created >= ?",
		[]any{toMillis(since)}, func(scan func(...any) error) error {
			var created, n, seq int64
			var raw []byte
			if err := scan(&created, &n, &seq, &raw); err != nil {
				return err
			}
			o, known := owners[n]
			var u Usage
			if !known || seq <= o.forked || json.Unmarshal(raw, &u) != nil { // a row that something else spoiled
				return nil
			}
			if u.Model == "" {
				u.Model = o.model
			}
			k := key{days.of(created), u.Model, n}
			sum := sums[k]
			if sum == nil {
				sum = &Spent{Day: k.day, Model: k.model, Session: o.Session, Title: o.Title, ProjectID: o.ProjectID, Cwd: o.Cwd}
				sums[k] = sum
			}
			sum.Requests++
			sum.Usage.Add(u)
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("sum usage: %w", err)
	}
	out := make([]Spent, 0, len(sums))
	for _, sum := range sums {
		out = append(out, *sum)
	}
	slices.SortFunc(out, func(a, b Spent) int {
		return strings.Compare(a.Day+"\x00"+a.Model+"\x00"+a.Session, b.Day+"\x00"+b.Model+"\x00"+b.Session)
	})
	return out, nil
}

// Add adds the tokens and the cost of another usage.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.Cached += o.Cached
	u.Written += o.Written
	u.Searches += o.Searches
	u.Cost += o.Cost
	u.Estimated = u.Estimated || o.Estimated
}

// dayCache names the day of a moment: formatting each would cost more than reading it.
type dayCache struct {
	from, to int64 // milliseconds
	day      string
}

func (d *dayCache) of(millis int64) string {
	if millis < d.from || millis >= d.to {
		t := time.UnixMilli(millis)
		start := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
		d.from, d.to, d.day = start.UnixMilli(), start.AddDate(0, 0, 1).UnixMilli(), start.Format(time.DateOnly)
	}
	return d.day
}

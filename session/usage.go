package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/session/db"
)

// Usage is what one assistant message cost.
type Usage struct {
	Input     int     `json:"input_tokens"`
	Output    int     `json:"output_tokens"`
	Cached    int     `json:"cached_tokens"`                // of Input: read from the provider's cache
	Written   int     `json:"cache_write_tokens,omitempty"` // of Input: written to it
	Searches  int     `json:"web_searches,omitempty"`       // of the web, at the provider
	Estimated bool    `json:"estimated,omitempty"`
	Model     string  `json:"model,omitempty"`
	Cost      float64 `json:"cost,omitempty"`
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

// Spent is what the requests of one model in one session on one day used.
type Spent struct {
	Day       string // of the local time zone, YYYY-MM-DD
	Model     string
	Session   string // ID
	Title     string
	ProjectID string
	Cwd       string
	Requests  int
	// Unpriced are the requests whose price was not known.
	Unpriced int
	Usage    Usage
}

// Spending sums what was used since a moment, by day, model and session, oldest day first.
// Requests whose messages were rewound count, because they were paid for. Messages that a fork
// took over count once. It reads only an index of the usage, so its time grows with the
// number of answers, not with their length.
func (s *Store) Spending(ctx context.Context, since time.Time) ([]Spent, error) {
	known, err := spenders(ctx, s.db)
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
		[]any{toMillis(since)}, func(scan db.Scan) error {
			var created, n, seq int64
			var raw []byte
			if err := scan(&created, &n, &seq, &raw); err != nil {
				return err
			}
			by, found := known[n]
			var u Usage
			if !found || seq <= by.forked || json.Unmarshal(raw, &u) != nil { // a damaged row
				return nil
			}
			if u.Model == "" {
				u.Model = by.model
			}
			k := key{days.of(created), u.Model, n}
			sum := sums[k]
			if sum == nil {
				sum = &Spent{Day: k.day, Model: k.model, Session: by.Session, Title: by.Title, ProjectID: by.ProjectID, Cwd: by.Cwd}
				sums[k] = sum
			}
			sum.Requests++
			if u.Cost == 0 && u.Input+u.Output > 0 {
				sum.Unpriced++
			}
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

// spender is a session as Spending reports it.
type spender struct {
	Spent
	forked int64  // seq of the last message that a fork took over
	model  string // of messages that name none
}

// spenders returns all sessions by their internal key.
func spenders(ctx context.Context, d *db.DB) (map[int64]spender, error) {
	all := map[int64]spender{}
	err := d.Each(ctx, "SELECT n, id, title, project_id, cwd, model, kind, fork_seq FROM sessions", nil, func(scan db.Scan) error {
		var n, forked int64
		var by spender
		var kind string
		if err := scan(&n, &by.Session, &by.Title, &by.ProjectID, &by.Cwd, &by.model, &kind, &forked); err != nil {
			return err
		}
		if kind != KindTask {
			by.forked = forked
		}
		all[n] = by
		return nil
	})
	return all, err
}

// dayCache returns the day of a moment. Formatting each would take longer than reading it.
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

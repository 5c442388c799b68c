package workplacecli

import (
	"context"
	"testing"
	"time"

	"jcode/session"
)

func TestEachDayIsToldOnce(t *testing.T) {
	day := time.Date(2026, 11, 29, 23, 0, 0, 0, time.UTC)
	c := NewDates(func(context.Context, string) ([]session.Message, error) { return nil, nil }, nil)
	c.now = func() time.Time { return day }
	told := func(want string) {
		t.Helper()
		if got := c.before(t.Context(), "s").Text; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	told("Today is 2026-11-29.")
	told("")
	c.compacted(t.Context(), "s")
	told("Today is 2026-11-29.")
	row := session.Message{Role: session.RoleSystem, Parts: []session.Part{{Kind: session.PartText, Text: "Today is 2026-11-29."}}}
	c.loaded("s", []session.Message{row})
	told("")
	day = day.Add(2 * time.Hour)
	told("Today is 2026-11-30.")
	row.Archived = 7
	c.loaded("s", []session.Message{row})
	told("Today is 2026-11-30.")
}

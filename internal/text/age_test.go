package text_test

import (
	"testing"
	"time"

	"jcode/internal/text"
)

func TestAgesHaveOneUnit(t *testing.T) {
	for _, c := range []struct {
		d        time.Duration
		age, ago string
	}{
		{-time.Second, "now", "now"},
		{59 * time.Second, "now", "now"},
		{time.Minute, "1m", "1m ago"},
		{59*time.Minute + 59*time.Second, "59m", "59m ago"},
		{47 * time.Hour, "47h", "47h ago"},
		{48 * time.Hour, "2d", "2d ago"},
	} {
		if age, ago := text.Age(c.d), text.Ago(c.d); age != c.age || ago != c.ago {
			t.Errorf("%v is %q old and %q, want %q and %q", c.d, age, ago, c.age, c.ago)
		}
	}
}

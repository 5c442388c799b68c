package look_test

import (
	"testing"
	"time"

	"jcode/tui/look"
)

func TestDurationsOfSomeMinutesKeepTheirSeconds(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1.5s", 59 * time.Second: "59s", time.Minute: "1m", 61 * time.Second: "1m1s", 70 * time.Second: "1m10s", 10 * time.Minute: "10m", time.Hour: "1h0m",
	} {
		if got := look.Seconds(took); got != want {
			t.Errorf("%v is shown as %q, want %q", took, got, want)
		}
	}
}

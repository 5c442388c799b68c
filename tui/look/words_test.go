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

// A home folder is ~ in what is written for a person, where it is a folder and not a part of another name.
func TestHomeIsWrittenShort(t *testing.T) {
	t.Parallel()
	l := &look.Look{Home: "/home/u"}
	for s, want := range map[string]string{
		"/home/u":                           "~",
		"in /home/u/a, /home/u/b and more":  "in ~/a, ~/b and more",
		"(/home/u): read(/home/u/x)":        "(~): read(~/x)",
		"/home/user/x /mnt/home/u x/home/u": "/home/user/x /mnt/home/u x/home/u",
		"/home/u-old /home/u.bak":           "/home/u-old /home/u.bak",
	} {
		if got := l.Tilde(s); got != want {
			t.Errorf("%q becomes %q, not %q", s, got, want)
		}
	}
	if got := (&look.Look{Home: "/"}).Tilde("/x /"); got != "/x /" {
		t.Errorf("the root is home: %q", got)
	}
}

package cli_test

import (
	"strings"
	"testing"
	"time"

	"jcode/internal/testkit/modeltest"
)

func TestASessionBeginsWithTheSameBytesOnAnotherDay(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	srv := modeltest.New(t, modeltest.Text("One."), modeltest.Text("Two."))
	today := time.Now().Format(time.DateOnly)
	for _, args := range [][]string{{"-p", "first"}, {"-p", "-c", "second"}} {
		if code, _, errs := once(t, home, append(args, "-m", "m", "--base-url", srv.URL())...); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	reqs := srv.Requests()
	told := 0
	for i, m := range reqs[1].Messages {
		if strings.Contains(m.Content, today) {
			told++
			if m.Role == "system" || i == 0 {
				t.Errorf("message %d, of the role %s, names the date", i, m.Role)
			}
		}
	}
	if told != 1 && time.Now().Format(time.DateOnly) == today {
		t.Errorf("the date is told %d times in %+v", told, reqs[1].Messages)
	}
	for i, m := range reqs[0].Messages {
		if again := reqs[1].Messages[i]; again.Content != m.Content {
			t.Errorf("message %d was %q and is %q", i, m.Content, again.Content)
		}
	}
}

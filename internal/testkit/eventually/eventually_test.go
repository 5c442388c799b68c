package eventually_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jcode/internal/testkit/eventually"
)

// failed is a test that notes how it failed.
type failed struct{ said string }

func (f *failed) Helper() {}

func (f *failed) Fatalf(format string, args ...any) { f.said += fmt.Sprintf(format, args...) }

func TestWaitingEndsWhenTheConditionHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		holds := func() bool { return time.Since(began) > 10*time.Second }
		eventually.True(t, "ten seconds", holds)
		if took := time.Since(began); took > 10100*time.Millisecond {
			t.Errorf("it was seen after %s", took)
		}
	})
}

func TestWaitingFailsAtItsLimitAndShowsWhatWasSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f failed
		began := time.Now()
		eventually.Within(&f, 2*time.Second, "the answer", func() bool { return false }, func() string { return "the screen" })
		if took := time.Since(began); took < 2*time.Second || took > 2100*time.Millisecond {
			t.Errorf("it waited for %s", took)
		}
		if !strings.Contains(f.said, "the answer") || !strings.Contains(f.said, "2s") || !strings.HasSuffix(f.said, "\nthe screen") {
			t.Errorf("%q", f.said)
		}
	})
}

func TestWhatMustNeverHappenFailsAsSoonAsItDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f failed
		began := time.Now()
		late := func() bool { return time.Since(began) >= time.Second }
		eventually.Never(&f, 500*time.Millisecond, "a second one", late)
		if took := time.Since(began); f.said != "" || took < 500*time.Millisecond {
			t.Errorf("%q after %s", f.said, took)
		}
		eventually.Never(&f, time.Minute, "a second one", late)
		if took := time.Since(began); !strings.Contains(f.said, "a second one") || took > 1100*time.Millisecond {
			t.Errorf("%q after %s", f.said, took)
		}
	})
}

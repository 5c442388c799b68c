package tools_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"jcode/tools"
)

type limitKey struct{}

// The time that a person needs for an answer belongs to no limit, however deep it is.
func TestALimitStandsWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outer, end := tools.WithLimit(t.Context(), 10*time.Second)
		defer end()
		inner, cancel := tools.WithLimit(context.WithValue(outer, limitKey{}, 1), 5*time.Second)
		defer cancel()
		time.Sleep(4 * time.Second)
		first, second := tools.Asking(inner), tools.Asking(inner)
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		second()
		if outer.Err() != nil || inner.Err() != nil {
			t.Fatalf("over while a person was asked: %v, %v", outer.Err(), inner.Err())
		}
		time.Sleep(999 * time.Millisecond)
		if inner.Err() != nil {
			t.Error("the time before the question was forgotten or counted twice")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if !errors.Is(inner.Err(), context.DeadlineExceeded) || outer.Err() != nil {
			t.Errorf("%v, %v", inner.Err(), outer.Err())
		}
		child, stop := context.WithCancel(outer)
		defer stop()
		time.Sleep(5 * time.Second)
		if <-child.Done(); !errors.Is(child.Err(), context.DeadlineExceeded) {
			t.Errorf("what depends on it ends with %v", child.Err())
		}
		over := tools.Asking(context.Background()) // without a limit
		over()
	})
}

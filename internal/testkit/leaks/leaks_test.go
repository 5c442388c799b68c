package leaks_test

import (
	"testing"
	"time"

	"jcode/internal/testkit/leaks"
)

func TestAGoroutineThatEndsLateIsNoLeak(t *testing.T) {
	go func() { time.Sleep(1500 * time.Millisecond) }() // longer than one look takes
	if err := leaks.Find(); err != nil {
		t.Error(err)
	}
}

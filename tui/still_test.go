package tui

import (
	"testing"
	"testing/synctest"
)

func TestMemoryIsGivenBackOnceNothingMoves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		freed := 0
		s := stillness{free: func() { freed++ }}
		first := s.begin()().(stillMsg)
		second := s.begin()().(stillMsg)
		if s.lasted(first) != nil {
			t.Error("something has moved since")
		}
		s.lasted(second)()
		if freed != 1 {
			t.Errorf("freed %d times", freed)
		}
	})
}

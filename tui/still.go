package tui

import (
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"
)

// stillAfter is how long nothing must have moved before free memory goes back to the system.
const stillAfter = 5 * time.Second

// stillness gives free memory back to the system once nothing moves any more: a terminal is left open for days.
type stillness struct {
	free  func()
	since time.Time
}

// stillMsg says that a while has passed since everything stood still.
type stillMsg time.Time

func newStillness() stillness { return stillness{free: debug.FreeOSMemory} }

// begin notes that nothing moves from now on.
func (s *stillness) begin() tea.Cmd {
	began := time.Now()
	s.since = began
	return tea.Tick(stillAfter, func(time.Time) tea.Msg { return stillMsg(began) })
}

// lasted gives memory back, unless something has moved in the meantime.
func (s *stillness) lasted(m stillMsg) tea.Cmd {
	if !s.since.Equal(time.Time(m)) {
		return nil
	}
	return func() tea.Msg {
		s.free()
		return nil
	}
}

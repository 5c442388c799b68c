//go:build linux || darwin

package terminal

import (
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// frameLimit is how long to wait for a frame whose program has stopped in the middle of it.
const frameLimit = time.Second

// whole reports whether no frame is being drawn: a program that synchronizes its output says
// where a frame begins and ends, and no part of one is shown.
func (t *Terminal) whole() bool {
	return !t.modes[ansi.ModeSynchronizedOutput.Mode()] || time.Since(t.frame) > frameLimit
}

// Screen copies what is shown now.
func (t *Terminal) Screen() Screen {
	s, _ := t.Wait(2*frameLimit, func(Screen) bool { return true })
	return s
}

func (t *Terminal) screen() Screen {
	s := Screen{Cols: t.emu.Width(), Rows: t.emu.Height(), Title: t.title, AltScreen: t.emu.IsAltScreen()}
	pos := t.emu.CursorPosition()
	s.CursorX, s.CursorY, s.CursorVisible = pos.X, pos.Y, !t.emu.CursorHidden()
	s.cells = make([][]Cell, s.Rows)
	for y := range s.cells {
		s.cells[y] = make([]Cell, s.Cols)
		for x := range s.cells[y] {
			s.cells[y][x] = cellOf(t.emu.CellAt(x, y))
		}
	}
	return s
}

// Wait waits until cond holds for the screen and returns that screen. After limit it returns an
// error that shows the last screen.
func (t *Terminal) Wait(limit time.Duration, cond func(Screen) bool) (Screen, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		t.mu.Lock()
		s, changed, whole := t.screen(), t.changed, t.whole()
		t.mu.Unlock()
		if whole && cond(s) {
			return s, nil
		}
		var late <-chan time.Time
		if !whole {
			late = time.After(frameLimit)
		}
		select {
		case <-changed:
		case <-late:
		case <-timer.C:
			return s, fmt.Errorf("the screen is not as expected after %s:\n%s", limit, s.Text())
		}
	}
}

// WaitFor waits until the screen shows all of the texts.
func (t *Terminal) WaitFor(limit time.Duration, texts ...string) (Screen, error) {
	s, err := t.Wait(limit, func(s Screen) bool {
		for _, text := range texts {
			if !s.Contains(text) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return s, fmt.Errorf("waiting for %q: %w", texts, err)
	}
	return s, nil
}

// Settle waits until nothing was written for the duration of quiet, or until limit.
func (t *Terminal) Settle(quiet, limit time.Duration) Screen {
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		still := time.NewTimer(quiet)
		select {
		case <-changed:
			still.Stop()
		case <-still.C:
			return t.Screen()
		case <-end.C:
			still.Stop()
			return t.Screen()
		}
	}
}

package relay

import (
	"time"

	"jcode/internal/ptty"
	"jcode/remote"
)

// shown is the terminal in one window, as the window uses it.
type shown struct {
	terminal *Terminal
	queue    *queue
}

func (s shown) controls() bool { return s.queue.window.Role == remote.Control && !s.queue.ended() }

// Type implements remote.Shown.
func (s shown) Type(keys []byte) error {
	if !s.controls() {
		return nil
	}
	if err := s.terminal.master.SetWriteDeadline(time.Now().Add(typeWithin)); err != nil {
		return err
	}
	_, err := s.terminal.master.Write(keys)
	return err
}

// Resize implements remote.Shown.
func (s shown) Resize(size remote.Size) error {
	if !s.controls() {
		return nil
	}
	return ptty.SetSize(s.terminal.master, size.Cols, size.Rows)
}

// Leave implements remote.Shown.
func (s shown) Leave() { s.terminal.take(s.queue, remote.Left{Why: remote.LeftDetached}) }

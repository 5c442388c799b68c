package terminal

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/ptty"
)

// maxBehind bounds what a window may be behind with, in bytes.
const maxBehind = 1 << 20

// Window shows a terminal in another one, to a person who types there.
type Window struct {
	more   chan struct{}
	send   func(b []byte) error
	resize func(cols, rows int)
	leave  func(w *Window) // takes it away, if it is still there

	mu     sync.Mutex
	behind []byte
	ended  bool
}

// Show opens a window of a size in cells. What it begins with draws the present screen.
func (t *Terminal) Show(cols, rows int) *Window {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &Window{more: make(chan struct{}, 1), send: t.send, resize: t.size, leave: t.drop}
	select {
	case <-t.closed:
		w.ended = true
	default:
		t.windows = append(t.windows, w)
	}
	first := "\x1b[2J\x1b[H" + t.emu.Render()
	if t.emu.IsAltScreen() {
		first = "\x1b[?1049h" + first
	}
	if t.cursor {
		first = "\x1b[?1h" + first
	}
	at := t.emu.CursorPosition()
	w.behind = []byte(strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n").Replace(first) + ansi.CursorPosition(at.X+1, at.Y+1))
	w.signal()
	if !w.ended {
		t.resize(cols, rows)
	}
	return w
}

// Resize sets the size of the terminal while the window is shown.
func (w *Window) Resize(cols, rows int) { w.resize(cols, rows) }

func (t *Terminal) size(cols, rows int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resize(cols, rows)
}

// resize is size. The caller holds the lock.
func (t *Terminal) resize(cols, rows int) {
	if cols < 2 || rows < 2 {
		return
	}
	defer func() {
		if recover() != nil {
			t.silence()
			t.emulate(cols, rows)
		}
	}()
	if cols != t.emu.Width() || rows != t.emu.Height() {
		t.emu.Resize(cols, rows)
	}
	_ = ptty.SetSize(t.master, cols, rows) // a terminal that has ended has no size
}

// Close takes the window away; the terminal gets its own size back.
func (w *Window) Close() {
	w.leave(w)
	w.end()
}

func (t *Terminal) drop(w *Window) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.windows, w); i >= 0 {
		t.windows = slices.Delete(t.windows, i, i+1)
		t.resize(Cols, Rows)
	}
}

// Type sends what the person typed.
func (w *Window) Type(b []byte) error { return w.send(b) }

// Copy writes what the program draws until the terminal ends or the window is closed.
func (w *Window) Copy(out io.Writer) error {
	for range w.more {
		w.mu.Lock()
		b, ended := w.behind, w.ended
		w.behind = nil
		w.mu.Unlock()
		if _, err := out.Write(b); err != nil {
			return err
		}
		if ended {
			return nil
		}
	}
	return nil
}

func (w *Window) draw(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.behind)+len(b) > maxBehind {
		w.behind = nil // what it shows is of no use without what comes next anyway
	}
	w.behind = append(w.behind, b...)
	w.signal()
}

func (w *Window) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.signal()
}

func (w *Window) signal() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

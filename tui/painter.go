package tui

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// painter draws frames the moment they are built. Bubble Tea's own renderer draws on a
// ticker, which alone makes a key wait four milliseconds on average and eight at worst; so
// it is given a blank frame and keeps what it is good at: the modes of the terminal, the
// alternate screen, suspending and restoring.
//
// What is drawn is what differs, line by line: a line that moved is scrolled, of a line
// that grew only its end is written.
//
// The painter is also the program's output, so that it sees what Bubble Tea writes: when
// the alternate screen is entered and left, and when the screen was erased. It is safe for
// concurrent use.
type painter struct {
	tty  term.File
	wake func() // asks the program for a frame

	mu            sync.Mutex
	out           colorprofile.Writer // what is drawn goes through it into buf
	buf           bytes.Buffer
	width, height int
	lines         []string  // as they stand on the screen; nil = unknown
	active        bool      // in the alternate screen
	cursor        place     // where it was left: column and row
	moved         bool      // somebody else wrote: the cursor may be anywhere
	after         time.Time // nothing is drawn before: an erase is about to come
	synced        bool      // the terminal shows an update as a whole
	shown         bool      // the cursor is visible
	shape         int       // its style as DECSCUSR has it, 0 = the terminal's own
	failure       error
}

// eraseWait is how long after a change of size the erase of Bubble Tea's renderer may take:
// a little more than its ticker.
const eraseWait = 25 * time.Millisecond

// newPainter makes a painter for a terminal.
func newPainter(tty term.File, wake func()) *painter {
	p := &painter{tty: tty, wake: wake, width: 80, height: 24}
	p.out = colorprofile.Writer{Forward: &p.buf, Profile: colorprofile.TrueColor}
	return p
}

// Read, Close and Fd make the painter the terminal that Bubble Tea expects.
func (p *painter) Read(b []byte) (int, error) { return p.tty.Read(b) }

// Close leaves the terminal open: it is not the painter's.
func (p *painter) Close() error { return nil }

// Fd is the terminal's.
func (p *painter) Fd() uintptr { return p.tty.Fd() }

// Write takes what Bubble Tea writes.
func (p *painter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.tty.Write(b)
	p.moved = true
	enter := bytes.LastIndex(b, []byte(ansi.SetModeAltScreenSaveCursor))
	leave := bytes.LastIndex(b, []byte(ansi.ResetModeAltScreenSaveCursor))
	switch {
	case leave > enter:
		p.active = false
		if p.shape != 0 && err == nil {
			p.shape = 0
			_, err = p.tty.Write([]byte(ansi.SetCursorStyle(0)))
		}
	case enter >= 0:
		p.active, p.lines, p.shown, p.shape, p.after = true, nil, false, 0, time.Time{}
		p.wake()
	case bytes.Contains(b, []byte(ansi.EraseEntireScreen)) || bytes.Contains(b, []byte(ansi.EraseScreenBelow)):
		p.lines, p.after = nil, time.Time{}
		p.wake()
	}
	return n, err
}

// profile says how many colours there are.
func (p *painter) profile(c colorprofile.Profile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Below this, cursor movements would go as well.
	p.out.Profile, p.lines = max(c, colorprofile.ASCII), nil
}

// sync says that the terminal can show an update as a whole.
func (p *painter) sync() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.synced = true
}

// resize says that the terminal has another size. Bubble Tea erases the screen soon.
func (p *painter) resize(w, h int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.width, p.height, p.lines, p.after = w, h, nil, time.Now().Add(eraseWait)
}

// failed gives what went wrong in writing, nil if nothing did.
func (p *painter) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// ready reports whether a frame can be drawn now; if not, and nobody wakes the program
// by then, how long to wait.
func (p *painter) ready(now time.Time) (ok bool, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active {
		return false, 0
	}
	if d := p.after.Sub(now); d > 0 {
		return false, d
	}
	return true, 0
}

// paint draws a frame: what differs from the one before. The cursor is nil where it is hidden.
// The first region lines may move together.
func (p *painter) paint(frame string, cursor *tea.Cursor, region int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active || p.failure != nil {
		return
	}
	d := differ{old: p.lines, now: frameLines(frame, p.height), width: p.width, region: region}
	drawn := d.draw()
	p.lines = d.now
	// Drawing leaves the cursor anywhere.
	if drawn != "" || p.moved {
		p.cursor = place{-1, -1}
	}
	p.moved = false
	if _, err := io.WriteString(&p.out, drawn); err != nil {
		p.failure = fmt.Errorf("draw: %w", err)
		return
	}
	if cursor != nil && p.cursor != (place{cursor.X, cursor.Y}) {
		p.cursor = place{cursor.X, cursor.Y}
		p.buf.WriteString(ansi.CursorPosition(cursor.X+1, cursor.Y+1))
	}
	out := p.update(cursor)
	if len(out) == 0 {
		return
	}
	if _, err := p.tty.Write(out); err != nil {
		p.failure = fmt.Errorf("write to the terminal: %w", err)
	}
}

// frameLines gives exactly n lines of a frame.
func frameLines(frame string, n int) []string {
	lines := make([]string, n)
	for y := range lines {
		lines[y], frame, _ = strings.Cut(frame, "\n")
	}
	return lines
}

// flicker is how many bytes may be drawn with the cursor in sight: fewer arrive at once.
const flicker = 300

// update puts the bytes of a frame between what keeps it from flickering.
func (p *painter) update(cursor *tea.Cursor) []byte {
	var out bytes.Buffer
	drawn := p.buf.Len() > flicker
	hidden := false
	switch {
	case drawn && p.synced:
		out.WriteString(ansi.SetModeSynchronizedOutput)
	case drawn && p.shown:
		hidden = true
		out.WriteString(ansi.ResetModeTextCursorEnable)
	}
	out.Write(p.buf.Bytes())
	p.buf.Reset()
	if cursor != nil {
		if shape := cursorStyle(cursor); shape != p.shape {
			out.WriteString(ansi.SetCursorStyle(shape))
			p.shape = shape
		}
	}
	visible := cursor != nil
	switch {
	case visible && (!p.shown || hidden):
		out.WriteString(ansi.SetModeTextCursorEnable)
	case !visible && p.shown && !hidden:
		out.WriteString(ansi.ResetModeTextCursorEnable)
	}
	p.shown = visible
	if drawn && p.synced {
		out.WriteString(ansi.ResetModeSynchronizedOutput)
	}
	return out.Bytes()
}

// cursorStyle gives the number of a cursor's shape in DECSCUSR.
func cursorStyle(c *tea.Cursor) int {
	style := int(c.Shape)*2 + 1
	if !c.Blink {
		style++
	}
	return style
}

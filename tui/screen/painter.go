package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// Painter draws frames the moment they are built. Bubble Tea's own renderer draws on a ticker, which alone
// delays a key by four milliseconds on average and eight at worst; so it gets an empty frame and keeps the
// tasks it is good at: the modes of the terminal, the alternate screen, suspending and restoring.
//
// Only differences are drawn, line by line: a line that moved is scrolled, of a line that grew only the end
// is written.
//
// The painter is also the program's output. It enters the alternate screen itself, before anything else
// happens, and keeps Bubble Tea from doing so again and from erasing what was drawn; it notices when Bubble
// Tea leaves it for a suspend or an editor. It sets the modes of the terminal as well (modes.go): they must
// not wait for a tick. It is safe for concurrent use.
type Painter struct {
	tty term.File
	// Wake asks the program for a frame. It is set before Begin.
	Wake func()

	mu            sync.Mutex
	out           colorprofile.Writer // drawing passes through it into buf
	buf           bytes.Buffer
	width, height int
	lines         []string // the content of the screen; nil = unknown
	active        bool     // in the alternate screen
	margins       int      // how many upper lines the terminal scrolls; 0 = unknown
	cursor        point    // where it was left
	saved         point    // the position that the terminal can restore by itself (DECRC)
	moved         bool     // another writer wrote: the cursor may be anywhere
	asks          bool     // the terminal can be asked for its modes
	synced        bool     // the terminal shows an update atomically
	shown         bool     // the cursor is visible
	shape         int      // its style as in DECSCUSR, 0 = the terminal's own
	modes         bool     // the modes that the program needs are on
	told          Report   // what the terminal was told in addition to the picture
	failure       error
}

// New returns a painter for a terminal with an environment.
func New(tty term.File, env []string) *Painter {
	p := &Painter{tty: tty, width: 80, height: 24, asks: asksModes(env), cursor: nowhere, saved: nowhere}
	p.out = colorprofile.Writer{Forward: &p.buf, Profile: max(colorprofile.Detect(tty, env), colorprofile.ASCII)}
	return p
}

// File is the terminal itself, for another program that draws on it; nil if it is none of the system's.
func (p *Painter) File() *os.File {
	f, _ := p.tty.(*os.File)
	return f
}

// Enter switches to the alternate screen, without the cursor that the shell left visible: the first frame may
// have none.
func (p *Painter) Enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active, p.lines, p.moved = true, nil, true
	if _, err := io.WriteString(p.tty, ansi.SetModeAltScreenSaveCursor+ansi.ResetModeTextCursorEnable); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}

// Leave switches back from the alternate screen if Bubble Tea did not.
func (p *Painter) Leave() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active {
		return nil
	}
	p.active = false
	p.turnOff()
	p.write(ansi.ResetModeAltScreenSaveCursor + ansi.SetCursorStyle(0))
	return p.failure
}

// Hide stops drawing: nobody looks at the terminal.
func (p *Painter) Hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active, p.modes, p.told = false, false, Report{}
}

// Show draws anew, on a screen that knows nothing of what was drawn and said before.
func (p *Painter) Show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modes, p.told, p.margins, p.moved, p.cursor = false, Report{}, 0, true, nowhere
	p.write(ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable)
	p.entered()
}

// Read reads the terminal: with Close and Fd the painter is a terminal for Bubble Tea.
func (p *Painter) Read(b []byte) (int, error) { return p.tty.Read(b) }

// Close leaves the terminal open: the painter does not own it.
func (p *Painter) Close() error { return nil }

// Fd returns the terminal's descriptor.
func (p *Painter) Fd() uintptr { return p.tty.Fd() }

// Write accepts Bubble Tea's output. n counts all of b, even if parts of it are dropped.
func (p *Painter) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = len(b)
	p.moved = true
	enter := bytes.LastIndex(b, []byte(ansi.SetModeAltScreenSaveCursor))
	leave := bytes.LastIndex(b, []byte(ansi.ResetModeAltScreenSaveCursor))
	b = withoutModes(b)
	if leave > enter {
		p.turnOff()
	}
	if p.active && leave < 0 {
		// Its frames are empty: it must not erase ours.
		b = without(b, ansi.SetModeAltScreenSaveCursor, ansi.EraseEntireScreen, ansi.EraseScreenBelow, ansi.ResetModeTextCursorEnable)
	}
	if p.active && leave < 0 && len(b) > 0 && p.shown && p.cursor != nowhere {
		// Its output leaves the cursor anywhere, and the next frame may be far off: an input method opens its
		// window there.
		b = append(b, moveTo(p.cursor.col, p.cursor.row)...)
	}
	if _, err := p.tty.Write(b); err != nil {
		return 0, fmt.Errorf("write to the terminal: %w", err)
	}
	switch {
	case leave > enter:
		p.active = false
		if p.shape != 0 {
			p.shape = 0
			_, err = io.WriteString(p.tty, ansi.SetCursorStyle(0))
		}
	case enter >= 0 && !p.active:
		p.entered()
		p.Wake()
	}
	return n, err
}

// Profile sets the number of colours.
func (p *Painter) Profile(c colorprofile.Profile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c = max(c, colorprofile.ASCII) // below this, cursor movements would be dropped as well
	if c != p.out.Profile {
		p.out.Profile, p.lines = c, nil
	}
}

// Sync says that the terminal can show an update atomically.
func (p *Painter) Sync() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.synced = true
}

// Resize says that the terminal has another size.
func (p *Painter) Resize(w, h int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.width, p.height, p.lines, p.saved = w, h, nil, nowhere
}

// Redraw makes the next frame a complete one.
func (p *Painter) Redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = nil
}

// Failed returns the error of a failed write, nil if there was none.
func (p *Painter) Failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// Ready reports whether frames are drawn at all: not while another program has the terminal.
func (p *Painter) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active
}

// Paint draws a frame: what differs from the previous one. The cursor is nil if it is hidden. The first
// region lines may move together. r is what the terminal is told in addition to the picture.
func (p *Painter) Paint(frame string, cursor *tea.Cursor, region int, r Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active || p.failure != nil {
		return
	}
	d := differ{old: p.lines, now: frameLines(frame, p.height), width: p.width, region: region, margins: p.margins}
	drawn := d.draw()
	p.lines, p.margins = d.now, d.margins
	// Drawing leaves the cursor anywhere.
	was := p.cursor
	if drawn != "" || p.moved {
		p.cursor = nowhere
	}
	p.moved = false
	if _, err := io.WriteString(&p.out, drawn); err != nil {
		p.failure = fmt.Errorf("draw: %w", err)
		return
	}
	if cursor != nil && p.cursor != (point{cursor.Y, cursor.X}) {
		p.cursor = point{cursor.Y, cursor.X}
		p.buf.WriteString(p.goTo(was))
	}
	if out := p.tell(r) + string(p.update(cursor)); out != "" {
		p.write(out)
	}
}

// point is a cell: row and column count from 0.
type point struct{ row, col int }

// nowhere is the cursor's position when it is unknown.
var nowhere = point{-1, -1}

// goTo moves the cursor to its position. Once it has returned to the same position, as it does while an
// answer streams, the terminal saves that position: restoring it is shorter.
func (p *Painter) goTo(was point) string {
	switch p.cursor {
	case p.saved:
		return ansi.RestoreCursor
	case was:
		p.saved = p.cursor
		return moveTo(p.cursor.col, p.cursor.row) + ansi.SaveCursor
	}
	return moveTo(p.cursor.col, p.cursor.row)
}

// frameLines returns exactly n lines of a frame.
func frameLines(frame string, n int) []string {
	lines := make([]string, n)
	for y := range lines {
		lines[y], frame, _ = strings.Cut(frame, "\n")
	}
	return lines
}

// flicker is how many bytes may be drawn with the cursor visible: fewer arrive at once.
const flicker = 300

// update wraps the bytes of a frame in what keeps it from flickering.
func (p *Painter) update(cursor *tea.Cursor) []byte {
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

// cursorStyle returns the number of a cursor's shape in DECSCUSR.
func cursorStyle(c *tea.Cursor) int {
	style := int(c.Shape)*2 + 1
	if !c.Blink {
		style++
	}
	return style
}

package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"jcode/internal/proc"
	"jcode/internal/ptty"
	"jcode/internal/text"
)

// The size of a terminal that nobody looks at, in cells.
const (
	Cols = 100
	Rows = 30
)

// typeWithin is how long a program may leave keys unread that fill the terminal's buffer.
const typeWithin = 3 * time.Second

// maxReplies bounds the replies to queries of a program that reads none.
const maxReplies = 16

// Terminal is the terminal of one command. Its methods are safe for concurrent use.
type Terminal struct {
	master  *os.File
	closed  chan struct{}
	replies chan []byte
	pumps   sync.WaitGroup

	typing sync.Mutex // one write at a time

	mu      sync.Mutex
	emu     *vt.Emulator
	written int64
	windows []*Window
	cursor  bool // the program asked for the other sequences of the cursor keys
}

// Open returns a terminal, and its side for the program, which the caller closes once that is started.
func Open() (t *Terminal, slave *os.File, err error) {
	master, slave, err := ptty.Open()
	if err != nil {
		return nil, nil, err
	}
	if err := ptty.SetSize(master, Cols, Rows); err != nil {
		return nil, nil, errors.Join(err, master.Close(), slave.Close())
	}
	t = &Terminal{master: master, closed: make(chan struct{}), replies: make(chan []byte, maxReplies)}
	t.emulate(Cols, Rows)
	t.pumps.Go(t.reply)
	return t, slave, nil
}

// Master is the side of whoever reads the program's output, and passes it to Write.
func (t *Terminal) Master() *os.File { return t.master }

// Close ends the terminal after its output was read to the end; Master is closed by its reader.
func (t *Terminal) Close() {
	t.mu.Lock()
	select {
	case <-t.closed:
	default:
		close(t.closed)
		t.silence()
		for _, w := range t.windows {
			w.end()
		}
		t.windows = nil
	}
	t.mu.Unlock()
	t.pumps.Wait()
}

// emulate begins with an empty screen. The caller holds the lock, or nobody else knows of t.
func (t *Terminal) emulate(cols, rows int) {
	emu := vt.NewEmulator(cols, rows)
	emu.SetScrollbackSize(1)
	t.cursor = false
	keep := func(on bool) func(ansi.Mode) {
		return func(m ansi.Mode) { // within Write, under the lock
			if m == ansi.ModeCursorKeys {
				t.cursor = on
			}
		}
	}
	emu.SetCallbacks(vt.Callbacks{EnableMode: keep(true), DisableMode: keep(false)})
	// A program that does not know of a smaller size yet may set margins below the screen.
	emu.RegisterCsiHandler('r', func(params ansi.Params) bool {
		if len(params) > 1 && params[1].Param(0) > emu.Height() {
			params[1] = ansi.Param(emu.Height())
		}
		return false
	})
	t.emu = emu
	t.pumps.Go(func() {
		b := make([]byte, 4<<10)
		for {
			n, err := emu.Read(b)
			if n > 0 {
				select {
				case t.replies <- slices.Clone(b[:n]):
				default: // the program asks without reading
				}
			}
			if err != nil {
				return
			}
		}
	})
}

// silence ends the emulator's replies. Its own Close would race with who reads them. The caller holds the lock.
func (t *Terminal) silence() {
	if pipe, ok := t.emu.InputPipe().(io.Closer); ok {
		_ = pipe.Close() // in memory
	}
}

// reply sends the emulator's replies to the program.
func (t *Terminal) reply() {
	for {
		select {
		case b := <-t.replies:
			_ = t.send(b) // a program that does not read its replies lives without them
		case <-t.closed:
			return
		}
	}
}

// Write takes what the program wrote. It never fails.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draw(p)
	t.written += int64(len(p))
	for _, w := range t.windows {
		w.draw(p)
	}
	return len(p), nil
}

// draw feeds the emulator. A sequence that it can't take costs the screen, not jcode.
func (t *Terminal) draw(p []byte) {
	defer func() {
		if recover() != nil {
			cols, rows := t.emu.Width(), t.emu.Height()
			t.silence()
			t.emulate(cols, rows)
		}
	}()
	_, _ = t.emu.Write(p) // fails when it is closed
}

// Written returns how many bytes the program wrote so far.
func (t *Terminal) Written() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// Screen is what a person would see.
type Screen struct {
	// Text has no blank lines at the end, and no blanks at the ends of lines.
	Text string
	// Line is the text of the cursor's line up to the cursor, Row and Col its place, from 1.
	Line     string
	Row, Col int
}

// Screen returns what is seen now.
func (t *Terminal) Screen() Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(t.emu.String(), "\n")
	at := t.emu.CursorPosition()
	s := Screen{Row: at.Y + 1, Col: at.X + 1}
	if at.Y >= 0 && at.Y < len(lines) {
		s.Line = strings.TrimRight(text.Clean(lines[at.Y]), " ")
	}
	for i := range lines {
		lines[i] = strings.TrimRight(text.Clean(lines[i]), " \r")
	}
	s.Text = strings.TrimRight(strings.Join(lines, "\n"), "\n")
	return s
}

// Type types a text. Where its lines end, Enter is pressed.
func (t *Terminal) Type(s string) error {
	return t.send([]byte(strings.NewReplacer("\r\n", "\r", "\n", "\r").Replace(s)))
}

// Press presses a key by its name, see Key.
func (t *Terminal) Press(name string) error {
	seq, ok := sequence(name, t.cursorKeys())
	if !ok {
		return fmt.Errorf("there is no key %q", name)
	}
	return t.send([]byte(seq))
}

func (t *Terminal) cursorKeys() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cursor
}

// send writes to the program.
func (t *Terminal) send(b []byte) error {
	t.typing.Lock()
	defer t.typing.Unlock()
	select {
	case <-t.closed:
		return os.ErrClosed
	default:
	}
	_ = t.master.SetWriteDeadline(time.Now().Add(typeWithin)) // without deadlines the write waits
	if _, err := t.master.Write(b); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("the program does not read what is typed")
		}
		return fmt.Errorf("type: %w", err)
	}
	return nil
}

// Secret reports whether the program waits for a line that it does not show: a password.
func (t *Terminal) Secret() bool {
	echo, lines, err := ptty.Mode(t.master)
	return err == nil && lines && !echo
}

// TypeSecret types a password, unless the program has begun to show what is typed.
func (t *Terminal) TypeSecret(secret string) error {
	if !t.Secret() {
		return errors.New("the program waits for no password any more")
	}
	return t.send([]byte(strings.NewReplacer("\r", "", "\n", "").Replace(secret) + "\r"))
}

// Reader is the program that reads what is typed.
type Reader struct {
	// Name is its file's name, "" if that is not known.
	Name string
	// Group is its process group.
	Group int
	// Shell says that it is a shell at its prompt, whose input is command lines, Bash that it is bash. Dir is its working folder.
	Shell, Bash bool
	Dir         string
}

// Reader returns who reads now.
func (t *Terminal) Reader() Reader {
	group, err := ptty.Foreground(t.master)
	if err != nil || group <= 0 {
		return Reader{}
	}
	return readerOf(group, proc.Group(group))
}

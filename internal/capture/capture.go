package capture

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"jcode/internal/text"
)

const (
	keepText   = 64 << 10  // bytes of cleaned text kept at each end
	keepStream = 512 << 10 // bytes of each stream kept at each end, for scripts
	spoolSize  = 48 << 10  // bytes kept before a log is opened
	maxPending = 16 << 10  // bytes of an incomplete line
	maxFresh   = 16 << 10  // bytes shown at once while a command runs
	maxLog     = 1 << 30   // bytes of one log
)

// Capture collects what a command prints. Text is cleaned and folded here, so that it is safe for
// a screen, a request and a log. Its size is limited.
type Capture struct {
	newLog func() (Output, error)

	mu      sync.Mutex
	streams [2]stream
	text    ends // both streams, by lines
	fresh   []byte
	dropped bool // the beginning of fresh was dropped
	spool   []byte
	log     Output
	logged  int64
	logErr  error
	logFull bool
	binary  bool // not text: the log gets the bytes as they come
	done    bool // the output has ended
}

// stream is one of a command's two output streams.
type stream struct {
	raw      ends
	strip    text.Stripper
	pending  string // the incomplete line
	progress bool   // earlier states of it were dropped
	nul      bool   // the last byte was NUL
}

func New(newLog func() (Output, error)) *Capture {
	return &Capture{
		newLog:  newLog,
		text:    ends{room: keepText},
		streams: [2]stream{{raw: ends{room: keepStream}}, {raw: ends{room: keepStream}}},
	}
}

// Consume reads a pipe to its end.
func (c *Capture) Consume(i int, r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			c.take(i, buf[:n])
		}
		if err != nil {
			// EOF, or the deadline that ends reading from a pipe that is never closed.
			return
		}
	}
}

func (c *Capture) take(i int, chunk []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.streams[i]
	s.raw.add(chunk)
	if c.binary { // and so the log is open
		c.write(string(chunk))
		return
	}
	c.clean(s, s.strip.Next(s.showNULs(chunk)))
	if c.log == nil && c.logErr == nil && s.raw.total >= keepText {
		c.open()
	}
}

// clean passes on the complete lines of text without control sequences, and keeps the rest until
// more text comes.
func (c *Capture) clean(s *stream, chunk string) {
	if s.pending != "" {
		chunk = s.pending + chunk
	}
	end := strings.LastIndexByte(chunk, '\n') + 1
	if end > 0 {
		lines := chunk[:end]
		if s.progress {
			first, others, _ := strings.Cut(lines, "\n")
			lines = lastState(first) + "\n" + others
			s.progress = false
		}
		c.emit(text.Fold(lines))
	}
	rest := chunk[end:]
	if states := text.States(rest); len(states) > text.FoldedStates || s.progress && len(states) > 0 {
		// Only the latest state of a progress line is kept.
		present := lastState(rest)
		if strings.HasSuffix(rest, "\r") {
			present += "\r"
		}
		rest, s.progress = present, true
	}
	if len(rest) > maxPending {
		c.emit(text.Fold(rest))
		rest = ""
	}
	s.pending = strings.Clone(rest)
}

// emit adds finished text to the result, to the next report and to the log.
func (c *Capture) emit(s string) {
	c.text.add([]byte(s))
	c.fresh = append(c.fresh, s...)
	if over := len(c.fresh) - maxFresh; over > 0 {
		keep := text.CutTail(string(c.fresh), maxFresh)
		c.fresh = append(c.fresh[:0], keep...)
		c.dropped = true
	}
	switch {
	case c.binary: // the log has the raw bytes
	case c.log != nil:
		c.write(s)
	case c.spool == nil && c.logErr != nil:
	case len(c.spool)+len(s) <= spoolSize:
		c.spool = append(c.spool, s...)
	default:
		c.open()
		if c.log != nil && !c.binary {
			c.write(s)
		}
	}
}

// open opens the log and writes what was captured before.
func (c *Capture) open() {
	if c.log == nil && c.logErr == nil {
		if c.log, c.logErr = c.newLog(); c.logErr == nil {
			if raw := c.streams[0].raw; isBinary(raw.head) && raw.Missing() == 0 {
				c.binary = true
				c.write(raw.Kept())
			} else {
				c.write(string(c.spool))
			}
		}
	}
	c.spool = nil
}

func (c *Capture) write(s string) {
	if c.logErr != nil {
		return
	}
	limit := int64(maxLog)
	if c.log.Name() == "" {
		limit = maxMemory
	}
	if c.logged+int64(len(s)) > limit {
		c.logFull = true
		return
	}
	n, err := io.WriteString(c.log, s)
	c.logged += int64(n)
	c.logErr = err
}

// OpenLog opens the log at once.
func (c *Capture) OpenLog() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open()
	if c.done {
		c.closeLog()
	}
}

func (c *Capture) closeLog() {
	if c.log == nil {
		return
	}
	if err := c.log.Close(); err != nil && !errors.Is(err, os.ErrClosed) && c.logErr == nil {
		c.logErr = err
	}
}

// Finish adds the incomplete lines and closes the log.
func (c *Capture) Finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.streams {
		s := &c.streams[i]
		c.clean(s, s.strip.Flush())
		if s.pending != "" {
			c.emit(s.last())
			s.pending = ""
		}
	}
	c.done = true
	c.closeLog()
}

// lastState returns the final state of a line that is overwritten with carriage returns.
func lastState(line string) string {
	if states := text.States(line); len(states) > 0 {
		return states[len(states)-1]
	}
	return ""
}

// last returns the incomplete line, as text.
func (s *stream) last() string {
	if s.progress {
		return lastState(s.pending)
	}
	return text.Fold(s.pending)
}

// KeepBinary opens the log for output that turned out not to be text, if all of it is still in
// memory. It is called when the command ends.
func (c *Capture) KeepBinary() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw := c.streams[0].raw; c.log == nil && raw.total > hexBytes && raw.Missing() == 0 {
		c.open()
		c.closeLog()
	}
}

// Count returns the number of bytes so far.
func (c *Capture) Count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams[0].raw.total + c.streams[1].raw.total
}

// Report returns what was added since the last report, and the line that is being written.
func (c *Capture) Report() (added, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	added = string(c.fresh)
	if c.dropped {
		added = "[…]\n" + added
	}
	c.fresh, c.dropped = c.fresh[:0], false
	for i := range c.streams {
		if last := lastState(c.streams[i].pending); last != "" {
			line = text.Cut(last, 200)
		}
	}
	return added, line
}

// Logged returns how much is in the log.
func (c *Capture) Logged() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logged
}

// Snapshot is a copy of what was captured so far.
type Snapshot struct {
	text           ends
	Stdout, Stderr ends
	Log            string
	memory         *Memory // instead of a log
	LogErr         error
	logFull        bool
	Lines          [2]string // incomplete
	binary         bool      // the log contains the raw bytes
}

func (c *Capture) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Snapshot{
		text: c.text.copy(), Stdout: c.streams[0].raw.copy(), Stderr: c.streams[1].raw.copy(),
		LogErr: c.logErr, logFull: c.logFull, Lines: [2]string{c.streams[0].last(), c.streams[1].last()}, binary: c.binary,
	}
	if c.log != nil {
		s.Log = c.log.Name()
		s.memory, _ = c.log.(*Memory)
	}
	return s
}

// Tail returns the last part of the text, to see why something failed.
func (s Snapshot) Tail() string {
	return text.CutTail(s.text.Kept()+s.Lines[0]+s.Lines[1], 8<<10)
}

// ends stores the first and the last bytes of what is added.
type ends struct {
	room  int // bytes at each end
	head  []byte
	tail  []byte // grows to twice the room, then is cut to the room
	total int64
}

func (e *ends) add(b []byte) {
	e.total += int64(len(b))
	if n := min(e.room-len(e.head), len(b)); n > 0 {
		e.head = append(e.head, b[:n]...)
		b = b[n:]
	}
	if len(b) == 0 {
		return
	}
	if len(b) >= e.room {
		e.tail = append(e.tail[:0], b[len(b)-e.room:]...)
		return
	}
	if len(e.tail)+len(b) > 2*e.room {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-e.room+min(len(b), e.room):]...)
	}
	e.tail = append(e.tail, b...)
}

// last returns the tail, at most room bytes.
func (e *ends) last() []byte {
	if len(e.tail) > e.room {
		return e.tail[len(e.tail)-e.room:]
	}
	return e.tail
}

// Kept returns the head and the tail.
func (e *ends) Kept() string { return string(e.head) + string(e.last()) }

// Missing is the number of bytes between head and tail.
func (e *ends) Missing() int64 { return e.total - int64(len(e.head)) - int64(len(e.last())) }

func (e *ends) copy() ends {
	return ends{room: e.room, head: bytes.Clone(e.head), tail: bytes.Clone(e.last()), total: e.total}
}

package keyboard

import (
	"bytes"
	"io"
	"slices"
	"time"
)

// File is a terminal to read from.
type File interface {
	io.ReadWriteCloser
	Fd() uintptr
	Name() string
}

// Reader is a terminal whose reads return whole sequences. It can be used wherever the terminal can; only its
// Read differs. It is not safe for concurrent use.
type Reader struct {
	File
	// ready waits until there is something to read, at most d.
	ready func(fd uintptr, d time.Duration) bool
	now   func() time.Time

	rest  []byte // read but not returned yet
	paste bool   // inside a paste
	ended bool   // a paste was ended here: its own end may still arrive

	given up // what was given up
}

// up is a report or a reply whose rest did not arrive in time.
type up struct {
	what  kind
	half  bool // it ended in the middle of its end mark
	until time.Time
}

// NewReader returns a Reader of a terminal. If the system cannot say whether there is something to read,
// bytes pass as they arrive.
func NewReader(tty File) *Reader { return &Reader{File: tty, ready: readable, now: time.Now} }

// reserve is what Read keeps free for the end of a paste.
const reserve = 16

// Read waits for bytes and returns them up to the end of the sequence that they begin. What a terminal sends
// unasked and does not end in time is dropped, so n may be 0.
func (r *Reader) Read(b []byte) (n int, err error) {
	if len(b) <= 4*reserve {
		return r.File.Read(b)
	}
	room := len(b) - reserve
	n = copy(b, r.rest)
	fresh := n
	r.rest = nil
	m, err := r.File.Read(b[n:room])
	n += m
	if err != nil || m == 0 {
		return n, err
	}
	n = r.begin(b, n, fresh)
	var deadline time.Time
	for {
		what, from, pasting := scan(b[:n], r.paste)
		if what == whole {
			r.paste = pasting
			return copy(b, broken(b[:n], false)), nil
		}
		wait := r.patience(what, b[:n], &deadline)
		if n >= room || !r.ready(r.Fd(), wait) {
			return r.giveUp(b, n, what, from, n >= room && r.ready(r.Fd(), wait)), nil
		}
		m, err := r.File.Read(b[n:room])
		if what == inPaste && isCancel(b[n:n+m]) { // no paste ends like this
			key := slices.Clone(b[n : n+m])
			r.paste, r.ended = false, true
			return n + copy(b[n:], pasteEnd+string(key)), err
		}
		n += m
		if err != nil {
			return n, err
		}
	}
}

// begin handles what arrived first: the rest of what was given up, or of a paste that was ended here. It
// returns the new number of bytes.
func (r *Reader) begin(b []byte, n, fresh int) int {
	switch {
	case fresh > 0:
		return n
	case r.paste && isCancel(b[:n]):
		r.paste, r.ended = false, true
		return copy(b, pasteEnd+string(b[:n]))
	case r.given.what != whole && r.now().Before(r.given.until):
		if k := late(b[:n], r.given.what, r.given.half); k > 0 {
			n = copy(b, b[k:n])
		}
		r.given = up{}
	case r.ended && !r.paste:
		end, start := bytes.Index(b[:n], []byte(pasteEnd)), bytes.Index(b[:n], []byte(pasteStart))
		switch {
		case end == 0:
			n = copy(b, b[len(pasteEnd):n])
		case end > 0 && (start < 0 || start > end) && n+len(pasteStart) <= len(b):
			n = copy(b, pasteStart+string(b[:n]))
		}
		r.ended = r.ended && end < 0
	}
	return n
}

// patience returns how long the rest of what b begins may still take. Only a paste gets its full time again
// with each piece.
func (r *Reader) patience(what kind, b []byte, deadline *time.Time) time.Duration {
	wait := reportWait
	switch what {
	case inPaste:
		if cancelAt(b) < len(b) {
			return cancelWait
		}
		return pasteWait
	case inAlt:
		wait = shiftWait
	case inText, inCSI, inReport, inAnswer, whole:
	}
	now := r.now()
	if deadline.IsZero() {
		*deadline = now
	}
	return max(deadline.Add(wait).Sub(now), 0)
}

// giveUp ends what did not end by itself. more says that b is full and more bytes are waiting.
func (r *Reader) giveUp(b []byte, n int, what kind, from int, more bool) int {
	if more { // the rest arrives with the next read
		keep := from
		if what == inPaste {
			r.paste = true
			keep = n - partOf(b[:n], pasteEnd)
		}
		r.rest = slices.Clone(b[keep:n])
		return keep
	}
	switch what {
	case inPaste:
		r.paste, r.ended = false, true
		end := cancelAt(b[:n]) // a Ctrl+C that was read together with text of the paste
		return end + copy(b[end:], pasteEnd+string(b[end:n]))
	case inReport, inAnswer:
		r.given = up{what, b[n-1] == esc, r.now().Add(lateWait)}
		return copy(b, broken(b[:from], false))
	case inAlt:
		r.given = up{inAnswer, false, r.now().Add(lateWait)}
	case inText, inCSI, whole:
	}
	return n
}

// partOf returns how much of the start of mark b ends with.
func partOf(b []byte, mark string) int {
	for n := min(len(mark)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}

// cancels returns the ways in which terminals encode Ctrl+C.
func cancels() []string {
	return []string{"\x03", "\x1b[99;5u", "\x1b[27;5;99~", "\x1b[1089;5u", "\x1b[1089::99;5u"}
}

// isCancel reports whether b is a Ctrl+C by itself.
func isCancel(b []byte) bool { return slices.Contains(cancels(), string(b)) }

// cancelAt returns where the Ctrl+C begins that b ends with, len(b) if there is none.
func cancelAt(b []byte) int {
	for _, key := range cancels() {
		if bytes.HasSuffix(b, []byte(key)) {
			return len(b) - len(key)
		}
	}
	return len(b)
}

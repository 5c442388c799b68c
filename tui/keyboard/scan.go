package keyboard

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// How long the rest of something may take. A lone ESC is not waited for: it is a key, and the decoder of keys
// waits for it.
const (
	reportWait = time.Second            // of a report, a reply or a character
	pasteWait  = 2 * time.Second        // of a paste, between two pieces
	cancelWait = 200 * time.Millisecond // of a paste, after a Ctrl+C: a pasted one is followed by text
	shiftWait  = 200 * time.Millisecond // of what may be a key with Alt
	lateWait   = 3 * time.Second        // for the rest of a reply that was given up
)

const (
	esc        = 0x1b
	bel        = 0x07
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// kind says what is unfinished at the end of some bytes.
type kind int

const (
	whole    kind = iota
	inPaste       // the end of a paste is missing
	inText        // a character is cut
	inCSI         // a control sequence that may be a key
	inReport      // a control sequence that only a terminal sends
	inAnswer      // a string that only a terminal sends
	inAlt         // ESC and a letter that may begin a reply, or be a key with Alt
)

// scan finds what is unfinished at the end of b. paste says that b begins inside a paste; pasting, that its
// end is inside one. from is where the unfinished part begins.
func scan(b []byte, paste bool) (what kind, from int, pasting bool) {
	for i := 0; i < len(b); {
		if paste {
			end := bytes.Index(b[i:], []byte(pasteEnd))
			if end < 0 {
				return inPaste, i, true
			}
			i, paste = i+end+len(pasteEnd), false
			continue
		}
		switch {
		case b[i] == esc:
			n, what := sequence(b[i:])
			if what != whole {
				return what, i, false
			}
			paste = string(b[i:i+n]) == pasteStart
			i += n
		case b[i] >= utf8.RuneSelf && !utf8.FullRune(b[i:]):
			return inText, i, false
		default:
			i++
		}
	}
	return whole, len(b), paste
}

// sequence measures the sequence at the start of b, which begins with ESC. A broken sequence ends before the
// byte that breaks it.
func sequence(b []byte) (n int, what kind) {
	if len(b) == 1 {
		return 1, whole
	}
	switch b[1] {
	case '[':
		return controlSequence(b)
	case ']', 'P':
		return answer(b)
	case 'O':
		if len(b) == 2 {
			return 2, inAlt
		}
		return 3, whole
	}
	return 1, whole
}

// controlSequence measures ESC [, parameters and a final byte.
func controlSequence(b []byte) (n int, what kind) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0x20 && c <= 0x3f:
		case c >= 0x40 && c <= 0x7e:
			return i + 1, whole
		default:
			return i, whole
		}
	}
	if len(b) > 2 && (b[2] == '<' || b[2] == '?') {
		return len(b), inReport
	}
	return len(b), inCSI
}

// answer measures ESC ] or ESC P and a text up to BEL or ESC \.
func answer(b []byte) (n int, what kind) {
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c == bel:
			return i + 1, whole
		case c == esc && i+1 < len(b) && b[i+1] == '\\':
			return i + 2, whole
		case c == esc && i+1 < len(b):
			return i, whole
		case c < 0x20 && c != esc:
			return i, whole
		}
	}
	if len(b) == 2 {
		return len(b), inAlt
	}
	return len(b), inAnswer
}

// broken returns b without reports and replies that were cut off by something else: a key that was pressed in
// between.
func broken(b []byte, paste bool) []byte {
	var out []byte
	kept := 0
	for i := 0; i < len(b); {
		if paste {
			end := bytes.Index(b[i:], []byte(pasteEnd))
			if end < 0 {
				break
			}
			i, paste = i+end+len(pasteEnd), false
			continue
		}
		if b[i] != esc {
			i++
			continue
		}
		n, what := sequence(b[i:])
		seq := b[i : i+n]
		paste = string(seq) == pasteStart
		if what == whole && n > 2 && i+n < len(b) && cutOff(seq) {
			out, kept = append(out, b[kept:i]...), i+n
		}
		i += n
	}
	if kept == 0 {
		return b
	}
	return append(out, b[kept:]...)
}

// cutOff reports whether a report or a reply has no end.
func cutOff(seq []byte) bool {
	last := seq[len(seq)-1]
	switch seq[1] {
	case '[':
		return (seq[2] == '<' || seq[2] == '?') && last < 0x40
	case ']', 'P':
		return last != bel && !bytes.HasSuffix(seq, []byte{esc, '\\'})
	}
	return false
}

// late measures the rest of a report or a reply at the start of b, 0 if b is something else. half says that
// the part before ended in the middle of the end mark.
func late(b []byte, what kind, half bool) int {
	if half && b[0] == '\\' {
		return 1
	}
	for i, c := range b[:min(len(b), 512)] {
		switch {
		case what == inAnswer && c == bel:
			return i + 1
		case what == inAnswer && c == esc && i+1 < len(b) && b[i+1] == '\\':
			return i + 2
		case what == inReport && c >= 0x40 && c <= 0x7e:
			return i + 1
		case what == inReport && (c < 0x20 || c > 0x3f), c < 0x20, c > 0x7e:
			return 0
		}
	}
	return 0
}

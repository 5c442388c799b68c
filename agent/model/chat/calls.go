package chat

import (
	"bytes"
)

// slots assigns an index to every tool call of a stream, whatever the server counts by. The rules, in this
// order:
//
//   - an index that was seen before: that call, unless the piece has a name and a different
//     id than that call, or a name and no id although that call's arguments are complete:
//     then a new call (some servers reuse index 0);
//   - no index, an id that was seen before: that call;
//   - no index and an unknown id: a new call if it has a name, otherwise the last one (some
//     servers make up an id for each piece);
//   - neither: the last call, unless the piece has a name although that call already has
//     arguments (or repeats its type): then a new call.
type slots struct {
	list    []slot
	byIndex map[int]int
}

type slot struct {
	id      []byte
	name    []byte
	hasArgs bool
	args    argsBalance
}

// of returns the position of the call that a piece belongs to.
func (s *slots) of(d *callDelta) int {
	switch {
	case d.hasIndex:
		at, seen := s.byIndex[d.index]
		if !seen || len(d.name) > 0 && s.another(at, d) {
			at = s.open()
			if s.byIndex == nil {
				s.byIndex = map[int]int{}
			}
			s.byIndex[d.index] = at
		}
		return s.note(at, d)
	case len(d.id) > 0:
		for at := range s.list {
			if bytes.Equal(s.list[at].id, d.id) {
				return s.note(at, d)
			}
		}
		if len(d.name) > 0 || len(s.list) == 0 {
			return s.note(s.open(), d)
		}
		return s.note(len(s.list)-1, d)
	}
	last := len(s.list) - 1
	if last < 0 || len(d.name) > 0 && len(s.list[last].name) > 0 && (s.list[last].hasArgs || d.hasType) {
		last = s.open()
	}
	return s.note(last, d)
}

// another reports whether a piece with a name begins a new call.
func (s *slots) another(at int, d *callDelta) bool {
	c := &s.list[at]
	if len(d.id) == 0 {
		return len(d.args) > 0 && c.args.complete()
	}
	return len(c.id) > 0 && !bytes.Equal(c.id, d.id)
}

func (s *slots) open() int {
	s.list = append(s.list, slot{})
	return len(s.list) - 1
}

// note records what the piece says, and removes what was said before: an id or a whole name that is repeated
// with every piece.
func (s *slots) note(at int, d *callDelta) int {
	c := &s.list[at]
	if len(c.id) > 0 {
		d.id = nil
	} else {
		c.id = append(c.id, d.id...)
	}
	switch {
	case bytes.Equal(c.name, d.name), c.hasArgs && len(c.name) > 0:
		d.name = nil
	default:
		c.name = append(c.name, d.name...)
	}
	if len(d.args) > 0 {
		c.hasArgs = true
		c.args.feed(d.args)
	}
	return at
}

// argsBalance tracks the brackets of arguments that arrive as JSON text with the escapes of the surrounding
// string.
type argsBalance struct {
	balance
	begun   bool
	escaped bool // a backslash of the outer string ended the last piece
}

func (a *argsBalance) feed(raw []byte) {
	for _, c := range raw {
		switch {
		case a.escaped:
			a.escaped = false
			if c != '"' && c != '\\' {
				c = ' ' // a line break or any other character: not a bracket
			}
		case c == '\\':
			a.escaped = true
			continue
		}
		a.begun = a.begun || c == '{'
		a.balance.feedByte(c)
	}
}

// complete reports whether a whole object has arrived.
func (a *argsBalance) complete() bool { return a.begun && a.depth <= 0 && !a.inString }

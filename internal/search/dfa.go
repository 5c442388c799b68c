package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// dfa decides whether lines match a pattern, with one table look-up per byte. Its states are created on
// demand. It is for one goroutine.
//
// A state is the set of program positions that may be next, and what precedes them: the start of the line or
// not, a word character or not. Between two characters it follows the assertions (^, $, \b) that hold there;
// a line's end is treated as a character of its own.
type dfa struct {
	prog  *syntax.Prog
	table []int32 // rows of 128: by state and ASCII byte a state, or one of the special values

	states []dfaState
	known  map[string]int32
	start  int32
	spent  int // states created, including those before the table was cleared
	// scratch space of step
	queue, set []uint32
	seen       []uint32 // generation in which a position was reached
	generation uint32
	key        []byte
}

// A state is the offset of its row in the table; row 0 is unused.
const rowBits = 7

type dfaState struct {
	runes map[rune]int32
	insts []uint32
	word  bool // a word character precedes
	begin bool // the line begins here
}

const (
	stateUnknown int32 = 0  // not created yet
	stateMatch   int32 = -1 // the line matches
	stateSlow    int32 = -2 // depends on the next byte: a carriage return
)

const (
	maxDFAStates = 1000
	maxDFASpent  = 20_000 // states after which a pattern is too complex for a table
	maxDFAInsts  = 2000
	endOfLine    = -1
)

// newDFA returns a table for a pattern; nil for a pattern that is too large.
func newDFA(prog *syntax.Prog) *dfa {
	if len(prog.Inst) > maxDFAInsts {
		return nil
	}
	d := &dfa{prog: prog, seen: make([]uint32, len(prog.Inst))}
	d.clear()
	return d
}

// clear empties the table. State 0 means "unknown" and is never entered.
func (d *dfa) clear() {
	d.states = append(d.states[:0], dfaState{})
	d.table = append(d.table[:0], make([]int32, utf8.RuneSelf)...)
	d.known = map[string]int32{}
	d.start = d.state([]uint32{uint32(d.prog.Start)}, false, true)
}

// exhausted reports whether the pattern produces too many states.
func (d *dfa) exhausted() bool { return d.spent > maxDFASpent }

// state finds or creates the state for a set of positions.
func (d *dfa) state(insts []uint32, word, begin bool) int32 {
	key := d.key[:0]
	for _, i := range insts {
		key = binary.LittleEndian.AppendUint32(key, i)
	}
	flags := byte(0)
	if word {
		flags |= 1
	}
	if begin {
		flags |= 2
	}
	key = append(key, flags)
	d.key = key
	if s, ok := d.known[string(key)]; ok {
		return s
	}
	d.spent++
	s := int32(len(d.states)) << rowBits
	d.states = append(d.states, dfaState{insts: slices.Clone(insts), word: word, begin: begin})
	d.table = append(d.table, make([]int32, utf8.RuneSelf)...)
	d.table[int(s)|'\r'] = stateSlow
	d.known[string(key)] = s
	return s
}

// step returns the state after a character (or endOfLine), or stateMatch.
func (d *dfa) step(from int32, r rune) int32 {
	st := &d.states[from>>rowBits]
	var flags syntax.EmptyOp
	if st.begin {
		flags |= syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	word := r >= 0 && syntax.IsWordChar(r)
	if r == endOfLine {
		flags |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	if word != st.word {
		flags |= syntax.EmptyWordBoundary
	} else {
		flags |= syntax.EmptyNoWordBoundary
	}
	d.generation++
	d.queue = append(d.queue[:0], st.insts...)
	d.set = d.set[:0]
	for len(d.queue) > 0 {
		at := d.queue[len(d.queue)-1]
		d.queue = d.queue[:len(d.queue)-1]
		if d.seen[at] == d.generation {
			continue
		}
		d.seen[at] = d.generation
		inst := &d.prog.Inst[at]
		switch inst.Op {
		case syntax.InstFail:
		case syntax.InstMatch:
			return stateMatch
		case syntax.InstAlt, syntax.InstAltMatch:
			d.queue = append(d.queue, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.queue = append(d.queue, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				d.queue = append(d.queue, inst.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && inst.MatchRune(r) {
				d.set = append(d.set, inst.Out)
			}
		}
	}
	if r == endOfLine {
		return d.start
	}
	// A match may begin after every character.
	d.set = append(d.set, uint32(d.prog.Start))
	slices.Sort(d.set)
	d.set = slices.Compact(d.set)
	if len(d.states) >= maxDFAStates {
		set := slices.Clone(d.set)
		d.clear()
		return d.state(set, word, false)
	}
	return d.state(d.set, word, false)
}

// ascii is step with the table for an ASCII byte.
func (d *dfa) ascii(from int32, c byte) int32 {
	if to := d.table[int(from)|int(c)]; to != stateUnknown {
		return to
	}
	r := rune(c)
	if c == '\n' {
		r = endOfLine
	}
	n := len(d.states)
	to := d.step(from, r)
	if len(d.states) >= n { // otherwise the table was cleared, including from
		d.table[int(from)|int(c)] = to
	}
	return to
}

// rune is step for a character that is not ASCII.
func (d *dfa) rune(from int32, r rune) int32 {
	if to, ok := d.states[from>>rowBits].runes[r]; ok {
		return to
	}
	n := len(d.states)
	to := d.step(from, r)
	if len(d.states) >= n {
		st := &d.states[from>>rowBits]
		if st.runes == nil || len(st.runes) > 256 {
			st.runes = map[rune]int32{}
		}
		st.runes[r] = to
	}
	return to
}

// next returns the first offset in buf[from:], which begins a line, at which it is certain that the line
// matches, or -1. A last line without a line break ends with buf.
func (d *dfa) next(buf []byte, from int) int {
	state := d.start
	for i := from; i < len(buf); {
		table := d.table
		for i < len(buf) && buf[i] < utf8.RuneSelf {
			to := table[int(state)|int(buf[i])]
			if to <= 0 {
				break
			}
			state = to
			i++
		}
		if i == len(buf) {
			break
		}
		c, n := buf[i], 1
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRune(buf[i:])
			state = d.rune(state, r)
		case c == '\r' && (i+1 == len(buf) || buf[i+1] == '\n'):
			// It belongs to the line break.
		case c == '\r':
			state = d.step(state, '\r')
		default:
			state = d.ascii(state, c)
		}
		if state == stateMatch {
			return i
		}
		i += n
	}
	if n := len(buf); n > from && buf[n-1] != '\n' && d.step(state, endOfLine) == stateMatch {
		return n
	}
	return -1
}

// matches reports whether a line without its line feed matches.
func (d *dfa) matches(line []byte) bool {
	if len(line) == 0 {
		return d.step(d.start, endOfLine) == stateMatch
	}
	return d.next(line, 0) >= 0
}

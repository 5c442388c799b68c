package search

import (
	"bytes"
	"slices"
)

const (
	// goodNeed is the length from which a literal filters better than a table, however common its bytes are. A
	// shorter one must contain a byte rarer than those in rareByte.
	goodNeed = 3
	rareByte = 64
	// tuneBytes are examined to learn which bytes are rare in these files.
	tuneBytes = 16 << 10
	tuneLeast = 2 << 10
)

// matcher applies a Pattern in one goroutine.
type matcher struct {
	p       *Pattern
	literal finder   // tuned to the files, as need is
	need    *finders // nil if lines are not filtered by literals
	table   *dfa     // nil if lines are matched by the regular expression
	tuned   bool
	next    []int // the next position of each literal of need in the buffer
	whole   bool  // this buffer is not filtered
}

func newMatcher(p *Pattern) *matcher {
	m := &matcher{p: p, literal: p.literal}
	if p.re == nil {
		return m
	}
	m.table = newDFA(p.prog)
	if p.need != nil {
		m.need = &finders{list: slices.Clone(p.need.list), shortest: p.need.shortest, kelvin: p.need.kelvin}
	}
	return m
}

// reset prepares for another buffer.
func (m *matcher) reset(buf []byte) {
	if !m.tuned && len(buf) >= tuneLeast {
		m.tune(buf[:min(len(buf), tuneBytes)])
	}
	if m.need == nil {
		return
	}
	m.next = m.next[:0]
	for range m.need.list {
		m.next = append(m.next, -1)
	}
	m.whole = m.need.kelvin && (bytes.Contains(buf, []byte("\u212a")) || bytes.Contains(buf, []byte("\u017f")))
}

// tune chooses the bytes to search for by how common they are in a sample.
func (m *matcher) tune(sample []byte) {
	m.tuned = true
	var counts [256]int
	for _, c := range sample {
		counts[c]++
	}
	common := func(c byte) int { return counts[c]*256 + commonness(c) }
	if m.p.re == nil {
		m.literal.choose(common)
	}
	if m.need == nil {
		return
	}
	hits := 0
	for i := range m.need.list {
		f := &m.need.list[i]
		f.choose(common)
		hits += counts[f.a]
		if f.b != f.a {
			hits += counts[f.b]
		}
	}
	if m.table != nil && m.need.shortest < goodNeed && hits > len(sample)/rareByte {
		m.need = nil
	}
}

// find returns the first matching line in buf[from:], which begins a line: buf[line:end]
// without its line break. A last line may lack one.
func (m *matcher) find(buf []byte, from int) (line, end int, ok bool) {
	for from < len(buf) {
		at := m.candidate(buf, from)
		if at < 0 {
			return 0, 0, false
		}
		line = from + bytes.LastIndexByte(buf[from:at], '\n') + 1
		end = len(buf)
		if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
			end = at + i
		}
		if m.holds(buf[line:end]) {
			return line, end, true
		}
		from = end + 1
	}
	return 0, 0, false
}

// candidate returns a position in the first line of buf[from:] that may match, or -1.
func (m *matcher) candidate(buf []byte, from int) int {
	switch {
	case m.p.re == nil:
		if i := m.literal.index(buf[from:]); i >= 0 {
			return from + i
		}
		return -1
	case m.need != nil && !m.whole:
		return m.needed(buf, from)
	case m.table != nil && !m.table.exhausted():
		return m.table.next(buf, from)
	}
	return from
}

// holds reports whether a candidate's line matches. A carriage return at its end belongs to the line break.
func (m *matcher) holds(line []byte) bool {
	if m.p.re == nil {
		return !bytes.HasSuffix(m.literal.text, []byte{'\r'}) || m.literal.index(cutReturn(line)) >= 0
	}
	if m.table == nil || m.table.exhausted() {
		return m.p.re.Match(cutReturn(line))
	}
	if m.need == nil || m.whole {
		return true // the table found it
	}
	return m.table.matches(line)
}

// needed returns the first position in buf[from:] of one of the literals, or -1.
func (m *matcher) needed(buf []byte, from int) int {
	best := len(buf)
	for i := range m.need.list {
		if m.next[i] < from {
			m.next[i] = len(buf)
			if n := m.need.list[i].index(buf[from:]); n >= 0 {
				m.next[i] = from + n
			}
		}
		best = min(best, m.next[i])
	}
	if best == len(buf) {
		return -1
	}
	return best
}

// place returns the position of the match in a matching line.
func (m *matcher) place(line []byte) (start, end int) {
	if m.p.re == nil {
		i := max(0, m.literal.index(line))
		return i, i + len(m.literal.text)
	}
	if loc := m.p.re.FindIndex(cutReturn(line)); loc != nil {
		return loc[0], loc[1]
	}
	return 0, 0
}

func cutReturn(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

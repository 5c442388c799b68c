package pdftext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// cmap maps codes of a font to text, and knows how many bytes a code has.
type cmap struct {
	spaces []span
	chars  map[uint32]string
	ranges []span
}

// span is a range of codes. In ranges, text belongs to the first.
type span struct {
	size   int // bytes of a code
	lo, hi uint32
	text   string
}

const (
	maxChars  = 1 << 18
	maxRanges = 256 // that are too long to be written out
)

// readCMap reads a mapping, and skips what it does not understand.
func (f *file) readCMap(s *stream) *cmap {
	m := &cmap{chars: map[uint32]string{}}
	l := &lexer{b: f.decode(s)}
	var args []any
	for f.work.spend(1) && len(m.chars) < maxChars {
		v, ok := l.next(0)
		if !ok {
			break
		}
		op, is := v.(operator)
		if !is {
			args = append(args, v)
			continue
		}
		switch op {
		case "endcodespacerange":
			m.addSpaces(args)
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				if code, ok := args[i].(string); ok {
					m.chars[codeOf(code)] = target(args[i+1])
				}
			}
		case "endbfrange":
			m.addRanges(args)
		}
		args = args[:0]
	}
	return m
}

func (m *cmap) addSpaces(args []any) {
	for i := 0; i+1 < len(args); i += 2 {
		lo, ok := args[i].(string)
		hi, ok2 := args[i+1].(string)
		if ok && ok2 && len(lo) == len(hi) && len(lo) >= 1 && len(lo) <= 4 && len(m.spaces) < 256 {
			m.spaces = append(m.spaces, span{size: len(lo), lo: codeOf(lo), hi: codeOf(hi)})
		}
	}
}

func (m *cmap) addRanges(args []any) {
	for i := 0; i+2 < len(args); i += 3 {
		lo, ok := args[i].(string)
		hi, ok2 := args[i+1].(string)
		if !ok || !ok2 {
			continue
		}
		s := span{size: len(lo), lo: codeOf(lo), hi: codeOf(hi)}
		if list, ok := args[i+2].(array); ok {
			for k, v := range list {
				m.chars[s.lo+uint32(k)] = target(v) //nolint:gosec // a short list
			}
			continue
		}
		s.text = target(args[i+2])
		if s.hi-s.lo < 256 && s.hi >= s.lo {
			for code := s.lo; ; code++ {
				m.chars[code] = s.at(code)
				if code == s.hi {
					break
				}
			}
		} else if len(m.ranges) < maxRanges {
			m.ranges = append(m.ranges, s)
		}
	}
}

func codeOf(s string) uint32 {
	n := uint32(0)
	for i := range len(s) {
		n = n<<8 | uint32(s[i])
	}
	return n
}

// target decodes the text that a code maps to: UTF-16, or the name of a glyph.
func target(v any) string {
	switch v := v.(type) {
	case string:
		return utf16Text(v)
	case name:
		return glyph(v)
	}
	return ""
}

// utf16Text decodes UTF-16, big-endian.
func utf16Text(s string) string {
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}

// text returns the text of a code.
func (m *cmap) text(code uint32) (string, bool) {
	if s, ok := m.chars[code]; ok {
		return s, true
	}
	for _, r := range m.ranges {
		if code >= r.lo && code <= r.hi {
			return r.at(code), true
		}
	}
	return "", false
}

// at returns the text of a code in the range: the text of the first code, with its last character incremented.
func (r span) at(code uint32) string {
	last, size := utf8.DecodeLastRuneInString(r.text)
	if size == 0 {
		return ""
	}
	return r.text[:len(r.text)-size] + string(last+rune(code-r.lo)) //nolint:gosec // an invalid character becomes U+FFFD
}

// size returns the number of bytes of the first code in s, 0 if the map does not say.
func (m *cmap) size(s string) int {
	for n := 1; n <= min(4, len(s)); n++ {
		code := codeOf(s[:n])
		for _, r := range m.spaces {
			if r.size == n && code >= r.lo && code <= r.hi {
				return n
			}
		}
	}
	if len(m.spaces) > 0 {
		return m.spaces[0].size
	}
	return 0
}

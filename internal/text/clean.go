package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxString bounds the payload of an OSC, DCS, APC, PM or SOS sequence. A longer one, or one without an end,
// loses only its introducer, so that a stray byte can't swallow text.
const maxString = 1 << 20

// Clean makes external text safe to show and send: valid UTF-8, without escape sequences and control
// characters other than line feed and tab, with progress lines folded to their last state and direction
// overrides made visible.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	return Fold(Strip(s))
}

// plain reports whether s is ASCII without controls other than line feed and tab.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Strip is Clean without the folding: carriage returns stay.
func Strip(s string) string {
	out, _ := strip(make([]byte, 0, len(s)), s, true)
	return string(out)
}

// Stripper is Strip for text that arrives in pieces: a sequence or a rune that is split over two pieces is
// recognised. The zero value is ready to use. It is not safe for concurrent use.
type Stripper struct{ rest string }

// Next returns the clean text that has arrived so far and was not returned yet.
func (t *Stripper) Next(chunk []byte) string {
	in := t.rest + string(chunk)
	out, rest := strip(make([]byte, 0, len(in)), in, false)
	t.rest = strings.Clone(rest)
	return string(out)
}

// Held returns how many bytes are held back.
func (t *Stripper) Held() int { return len(t.rest) }

// Flush returns what was held back, at the end of the text.
func (t *Stripper) Flush() string {
	out, _ := strip(nil, t.rest, true)
	t.rest = ""
	return string(out)
}

// strip appends the clean form of s to dst. Unless final, an incomplete sequence or rune
// at the end is returned as rest.
func strip(dst []byte, s string, final bool) (out []byte, rest string) {
	base := len(dst)
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			if !final && !utf8.FullRuneInString(s[i:]) {
				return dst, s[i:]
			}
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == 0x1b || r >= 0x80 && r <= 0x9f:
			n, whole := sequence(s[i:], r, size)
			if !whole && !final && len(s)-i <= maxString {
				return dst, s[i:]
			}
			i += n
			continue
		case r == '\b':
			dst = dropRune(dst, base)
		case r < 0x20 || r == 0x7f:
		case r == utf8.RuneError && size == 1:
			begin := i
			for i+1 < len(s) && invalidAt(s[i+1:], final) {
				i++
			}
			if !final && len(s)-begin <= maxString && mayBeInvalid(s[i+1:]) {
				return dst, s[begin:] // one mark replaces all of them, wherever the pieces end
			}
			dst = append(dst, "\uFFFD"...)
		case overrides(r):
			dst = appendCode(dst, r)
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst, ""
}

// mayBeInvalid reports whether what follows the end of s may continue with bytes that are not text.
func mayBeInvalid(s string) bool {
	return s == "" || s[0] >= utf8.RuneSelf && !utf8.FullRuneInString(s)
}

// invalidAt reports whether s begins with a byte that can't begin a rune.
func invalidAt(s string, final bool) bool {
	if s[0] < utf8.RuneSelf || !final && !utf8.FullRuneInString(s) {
		return false
	}
	r, size := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && size == 1
}

// dropRune removes the last rune of dst's current line, as a backspace does.
func dropRune(dst []byte, base int) []byte {
	if len(dst) == base || dst[len(dst)-1] == '\n' || dst[len(dst)-1] == '\r' {
		return dst
	}
	_, n := utf8.DecodeLastRune(dst[base:])
	return dst[:len(dst)-n]
}

// sequence returns the length of the control sequence at the start of s, whose first rune
// is r of the given size (ESC or a C1 control). whole is false when s ends inside it.
func sequence(s string, r rune, size int) (n int, whole bool) {
	kind, n := r, size
	if r == 0x1b {
		if len(s) == 1 {
			return 1, false
		}
		if s[1] < 0x40 || s[1] > 0x5f {
			return escape(s)
		}
		kind, n = rune(s[1])+0x40, 2
	}
	switch kind {
	case 0x9b: // CSI
		return csi(s, n)
	case 0x9d, 0x90, 0x98, 0x9e, 0x9f: // OSC, DCS, SOS, PM, APC
		return controlString(s, n, kind == 0x9d)
	}
	return n, true
}

// escape measures ESC, intermediate bytes and a final byte.
func escape(s string) (int, bool) {
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i == len(s) {
		return i, false
	}
	if s[i] >= 0x30 && s[i] <= 0x7e {
		i++
	}
	return i, true
}

// csi measures parameters, intermediates and the final byte of a CSI that begins at i.
func csi(s string, i int) (int, bool) {
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i == len(s) {
		return i, false
	}
	if s[i] >= 0x40 && s[i] <= 0x7e {
		i++
	}
	return i, true
}

// controlString measures the payload that begins at i, up to BEL or ST. An OSC also ends
// at a line break, without it, as no known one has a line break inside.
func controlString(s string, i int, osc bool) (int, bool) {
	start := i
	for ; i < len(s) && i-start <= maxString; i++ {
		switch c := s[i]; {
		case c == 0x07:
			return i + 1, true
		case c == 0x18 || c == 0x1a: // CAN, SUB
			return i + 1, true
		case c == 0x1b:
			if i+1 == len(s) {
				return start, false
			}
			if s[i+1] == '\\' {
				return i + 2, true
			}
			return i, true
		case c == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2, true
		case c == '\n' && osc:
			return start, true
		}
	}
	return start, i-start > maxString
}

// overrides reports whether r changes the direction of what follows it.
func overrides(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// FoldedStates is how many states of a line that is overwritten are kept as text. A line with more shows
// progress.
const FoldedStates = 4

// Fold turns what carriage returns overwrite into lines. Of a line that shows progress, with more than
// FoldedStates states or with states that differ only in figures, the last state is kept; otherwise each
// state becomes a line. CR LF becomes LF.
func Fold(s string) string {
	if strings.IndexByte(s, '\r') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		body, end := strings.CutSuffix(line, "\n")
		if states := States(body); len(states) > FoldedStates || progress(states) {
			b.WriteString(states[len(states)-1])
		} else {
			b.WriteString(strings.Join(states, "\n"))
		}
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// progress reports whether the states of a line differ only in figures and bars.
func progress(states []string) bool {
	var first string
	for i, state := range states {
		words := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || strings.ContainsRune(" .,:/#=<>-*_|\\[]()█▉▊▋▌▍▎▏░▒▓━╸╺", r) {
				return -1
			}
			return r
		}, state)
		if i == 0 {
			first = words
		} else if words != first {
			return false
		}
	}
	return len(states) > 1
}

// States splits a line at the carriage returns that overwrite it. Empty states are left out.
func States(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == '\r' })
}

// Visible shows everything in s, for a person who decides on it: control characters as their pictures (␛),
// characters that reorder or hide text as <U+202E>, invalid bytes as <E9>. Line feeds and tabs stay.
func Visible(s string) string {
	if plain(s) {
		return s
	}
	dst := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = fmt.Appendf(dst, "<%02X>", s[i])
		case r == '\n' || r == '\t':
			dst = append(dst, byte(r))
		case r < 0x20:
			dst = utf8.AppendRune(dst, 0x2400+r)
		case r == 0x7f:
			dst = utf8.AppendRune(dst, 0x2421)
		case r >= 0x80 && r <= 0x9f, overrides(r), hides(r), joins(r) && amongPlain(s[:i], s[i+size:]):
			dst = appendCode(dst, r)
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return string(dst)
}

// joins reports whether r is a blank that no shell takes for one, or is drawn as nothing, and yet has a place in
// other scripts, in typography or in emoji.
func joins(r rune) bool { return r == 0xa0 || r == 0x200c || r == 0x200d || r == 0x3000 || r == 0xfe0f }

// amongPlain reports whether the next characters on both sides are ASCII, where a joiner has no place. Other
// joiners between don't count.
func amongPlain(before, after string) bool {
	before, after = strings.TrimRightFunc(before, joins), strings.TrimLeftFunc(after, joins)
	return (before == "" || before[len(before)-1] < utf8.RuneSelf) && (after == "" || after[0] < utf8.RuneSelf)
}

// hides reports whether r is invisible and has no place in a command or a path. The joiners U+200C and U+200D
// are not among them: scripts and emoji need them (joins).
func hides(r rune) bool {
	switch r {
	case 0x00ad, 0x061c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x2060, 0xfeff:
		return true
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0: // letters and signs that are drawn as nothing
		return true
	case 0x1680, 0x202f, 0x205f: // spaces that no shell treats as one; those of typography and of CJK text stay
		return true
	}
	switch { // old format characters, selectors of a glyph's form, marks of music and shorthand, reserved ones
	case r >= 0x206a && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0e, r >= 0x1d173 && r <= 0x1d17a, r >= 0x180b && r <= 0x180f, r >= 0x1bca0 && r <= 0x1bca3:
		return true
	case r >= 0xfff0 && r <= 0xfff8, r >= 0xe0000 && r <= 0xe0fff, r == 0x2065, r >= 0x13430 && r <= 0x1343f, r == 0x16fe4:
		return true
	}
	return r >= 0x2000 && r <= 0x200a || r >= 0x2061 && r <= 0x2064 || r >= 0xfff9 && r <= 0xfffb || r >= 0xe0000 && r <= 0xe01ef
}

func appendCode(dst []byte, r rune) []byte { return fmt.Appendf(dst, "<U+%04X>", r) }

// OneLine returns the text as one line without anything that a terminal would obey: each run of white space
// becomes one space.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

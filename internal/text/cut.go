package text

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Valid returns s with each run of invalid UTF-8 replaced by one U+FFFD.
func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Cut returns the longest prefix of s that has at most n bytes and ends at a grapheme border. If the first
// grapheme alone is longer than n, it ends at a rune border.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	start := safeBefore(s, n)
	end := start
	for g := graphemes.FromString(s[start:]); g.Next(); {
		if start+g.End() > n {
			break
		}
		end = start + g.End()
	}
	if end == 0 {
		for end = n; end > 0 && !utf8.RuneStart(s[end]); {
			end--
		}
	}
	return s[:end]
}

// CutTail returns the longest suffix of s that has at most n bytes and begins at a grapheme border. If the
// last grapheme alone is longer than n, it begins at a rune border.
func CutTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	want := len(s) - n
	start := safeBefore(s, want)
	begin := start
	for g := graphemes.FromString(s[start:]); begin < want && g.Next(); {
		begin = start + g.End()
	}
	if begin == len(s) {
		for begin = want; begin < len(s) && !utf8.RuneStart(s[begin]); {
			begin++
		}
	}
	return s[begin:]
}

// safeBefore returns the last position at or before n that is a grapheme border whatever precedes it: between
// two ASCII bytes that are not a CR LF pair.
func safeBefore(s string, n int) int {
	for i := min(n, len(s)-1); i > 0; i-- {
		if s[i] < utf8.RuneSelf && s[i-1] < utf8.RuneSelf && (s[i-1] != '\r' || s[i] != '\n') {
			return i
		}
	}
	return 0
}

// CutMark returns s if it has at most n bytes, otherwise a prefix of it followed by mark, at most n bytes
// together. cut reports which.
func CutMark(s string, n int, mark string) (out string, cut bool) {
	if len(s) <= n {
		return s, false
	}
	if n <= len(mark) {
		return Cut(s, n), true
	}
	return Cut(s, n-len(mark)) + mark, true
}

// HeadTail keeps the first and the last part of a text that has more than n bytes. The result has at most n
// bytes. Parts end at line borders if those are near. mark returns the text for the gap, given the bytes and
// the line breaks left out.
func HeadTail(s string, n int, mark func(bytes, lines int) string) (out string, cut bool) {
	if len(s) <= n {
		return s, false
	}
	room := n - len(mark(len(s), len(s)))
	if room < 2 {
		return Cut(s, n), true
	}
	head := lineEnd(Cut(s, room/2))
	tail := lineStart(CutTail(s, room-room/2))
	gap := s[len(head) : len(s)-len(tail)]
	return head + mark(len(gap), strings.Count(gap, "\n")) + tail, true
}

// lineEnd cuts s after its last line break if that costs less than a quarter of it.
func lineEnd(s string) string {
	if i := strings.LastIndexByte(s, '\n') + 1; i > len(s)-len(s)/4 {
		return s[:i]
	}
	return s
}

// lineStart cuts s before its first whole line if that costs less than a quarter of it.
func lineStart(s string) string {
	if i := strings.IndexByte(s, '\n') + 1; i > 0 && i < len(s)/4 {
		return s[i:]
	}
	return s
}

package lsp

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/tools/lsp/protocol"
)

// lineAt returns a line of a text, from 0, without its line break.
func lineAt(content string, n int) string {
	for l := range strings.Lines(content) {
		if n == 0 {
			return strings.TrimRight(l, "\r\n")
		}
		n--
	}
	return ""
}

// encoding is how a server counts the characters of a line: "utf-8", "utf-16" or "utf-32".
type encoding string

// units returns the length of s in the server's units.
func (e encoding) units(s string) (n int) {
	for _, r := range s {
		n += e.width(r)
	}
	return n
}

// width returns the length of a character in the server's units.
func (e encoding) width(r rune) int {
	switch {
	case e == "utf-8":
		return utf8.RuneLen(r)
	case e == "utf-16" && r >= 0x10000:
		return 2
	}
	return 1
}

// offset returns the byte in line at which a character of the server begins.
func (e encoding) offset(line string, character int) int {
	n := 0
	for i, r := range line {
		if n >= character {
			return i
		}
		n += e.width(r)
	}
	return len(line)
}

// place returns the byte offset of a position in a text.
func (e encoding) place(content string, p protocol.Position) int {
	at := 0
	for range p.Line {
		i := strings.IndexByte(content[at:], '\n')
		if i < 0 {
			return len(content)
		}
		at += i + 1
	}
	end := strings.IndexByte(content[at:], '\n')
	if end < 0 {
		end = len(content) - at
	}
	return at + e.offset(content[at:at+end], p.Character)
}

// applied applies the edits of one document, which must not overlap.
func (e encoding) applied(content string, edits []protocol.TextEdit) (string, bool) {
	type cut struct {
		from, to int
		text     string
	}
	cuts := make([]cut, len(edits))
	for i, one := range edits {
		cuts[i] = cut{e.place(content, one.Range.Start), e.place(content, one.Range.End), one.NewText}
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		if c.from < at || c.to < c.from {
			return "", false
		}
		b.WriteString(content[at:c.from] + c.text)
		at = c.to
	}
	b.WriteString(content[at:])
	return b.String(), true
}

// occurrences finds where a name occurs in a text as a whole word.
func occurrences(content, name string) (at []int) {
	for from := 0; ; {
		i := strings.Index(content[from:], name)
		if i < 0 {
			return at
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(content[:i])
		after, _ := utf8.DecodeRuneInString(content[i+len(name):])
		if !wordRune(before) && !wordRune(after) {
			at = append(at, i)
		}
		from = i + len(name)
	}
}

// positionAt returns the server's position of a byte offset.
func (e encoding) positionAt(content string, at int) protocol.Position {
	start := strings.LastIndexByte(content[:at], '\n') + 1
	return protocol.Position{Line: strings.Count(content[:at], "\n"), Character: e.units(content[start:at])}
}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

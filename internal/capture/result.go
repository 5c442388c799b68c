package capture

import (
	"fmt"
	"strings"

	"jcode/internal/text"
)

// Text returns the text for the model: the whole output, or its head and tail with the size and
// the place of the rest, in at most limit bytes.
func (s Snapshot) Text(limit int) string {
	head, tail, missing := string(s.text.head), string(s.text.last())+s.Lines[0]+s.Lines[1], s.text.Missing()
	mark := func(n int64) string {
		return fmt.Sprintf("\n[… %d of %d bytes left out here; %s …]\n", n, s.text.total, s.whole())
	}
	if missing == 0 {
		out, _ := text.HeadTail(head+tail, limit, func(n, _ int) string { return mark(int64(n)) })
		return out
	}
	first, last := text.Cut(head, limit/2), text.CutTail(tail, limit/2)
	return text.Valid(first + mark(s.text.total-int64(len(first)+len(last))) + last)
}

// OfBinary is output for bytes that are not text: what they are, where they are, and what was
// written to standard error.
func (s Snapshot) OfBinary(what string) string {
	out := "[the output is not text: " + what + "]"
	if s.binary {
		out = "[the output is not text: " + what + "; " + s.whole() + "]"
	}
	if err := text.CutTail(text.Clean(s.Stderr.Kept()), 4<<10); strings.TrimSpace(err) != "" {
		out += "\nstderr: " + err
	}
	return out
}

// whole says where the whole output is.
func (s Snapshot) whole() string {
	switch {
	case s.LogErr != nil:
		return "the whole was not kept: " + s.LogErr.Error()
	case s.Log == "":
		return "the whole was not kept"
	case s.logFull:
		return "its first part is in " + s.Log
	}
	return "the whole is in " + s.Log
}

// Join returns a stream's text, with a mark in place of the missing middle.
func (e ends) Join() string {
	if n := e.Missing(); n > 0 {
		return text.Valid(string(e.head)) + fmt.Sprintf("\n[… %d bytes left out …]\n", n) + text.Valid(string(e.last()))
	}
	return text.Valid(e.Kept())
}

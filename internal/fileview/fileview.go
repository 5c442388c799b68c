// Package fileview owns what somebody who works on a file was shown of it: the text as they believe it
// to be, and which of its lines they have never seen.
//
// It must not know who that is, nor where files are.
package fileview

import (
	"slices"
	"strings"

	"jcode/internal/diff"
)

// Span is a range of lines, counted from 0; End is exclusive.
type Span struct{ Start, End int }

// View is what was shown of a file. The zero View is an empty file that was seen.
type View struct {
	// Text is the file as it is believed to be. What others changed since is not in it.
	Text string
	// Hidden are the lines of Text that were never shown, in order.
	Hidden []Span
}

// All is the view of somebody who was shown, or wrote, the whole text.
func All(text string) View { return View{Text: text} }

// None is the view of somebody who was shown nothing of a text.
func None(text string) View { return fromFlags(text, flags(lines(text), true)) }

// Complete reports whether no line is hidden.
func (v View) Complete() bool { return len(v.Hidden) == 0 }

// Show returns the view after some lines of the file's present text were shown. What others changed
// elsewhere is not known by that.
func (v View) Show(now string, shown ...Span) View {
	old, hidden := diff.Lines(v.Text), v.flags()
	next := diff.Lines(now)
	var text strings.Builder
	var out []bool
	keep := func(from, to, at int) { // lines that both texts have, or that are still believed in
		for i := from; i < to; i++ {
			text.WriteString(old[i])
			out = append(out, hidden[i] && (at < 0 || !within(shown, at+i-from)))
		}
	}
	done, same := 0, 0
	for _, h := range diff.Hunks(v.Text, now) {
		keep(done, h.From, same)
		done, same = h.FromEnd, h.ToEnd
		if !touches(shown, h, len(next)) {
			keep(h.From, h.FromEnd, -1)
			continue
		}
		for i := h.To; i < h.ToEnd; i++ {
			text.WriteString(next[i])
			out = append(out, !within(shown, i))
		}
	}
	keep(done, len(old), same)
	return fromFlags(text.String(), out)
}

// touches reports whether a difference can be seen in the shown lines: one of its new lines, or the place
// where lines are gone.
func touches(shown []Span, h diff.Hunk, total int) bool {
	return slices.ContainsFunc(shown, func(s Span) bool {
		switch {
		case h.To < h.ToEnd:
			return s.Start < h.ToEnd && h.To < s.End
		case s.Start == s.End:
			return s.Start == h.To
		}
		return (s.Start < h.To || s.Start == 0 && h.To == 0) && (h.To < s.End || s.End == total && h.To == total)
	})
}

func within(spans []Span, line int) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return s.Start <= line && line < s.End })
}

// Change returns the view after its owner changed the file from one text to another. They know their own
// changes, not what others had changed before.
func (v View) Change(before, after string) View {
	if merged, ok := diff.Merge(before, after, v.Text); ok {
		return v.with(merged)
	}
	return v.Show(after, Changes(after, before)...)
}

// with replaces the text; lines that it had not were written by the view's owner.
func (v View) with(text string) View {
	if v.Complete() {
		return All(text)
	}
	hidden := v.flags()
	out := make([]bool, len(diff.Lines(text)))
	from, to := 0, 0
	for _, h := range diff.Hunks(v.Text, text) {
		copy(out[to:h.To], hidden[from:h.From])
		from, to = h.FromEnd, h.ToEnd
	}
	copy(out[to:], hidden[from:])
	return fromFlags(text, out)
}

// Lost returns the hidden lines that would be gone if the text became another one.
func (v View) Lost(next string) []Span {
	var out []Span
	if v.Complete() {
		return nil
	}
	for _, h := range diff.Hunks(v.Text, next) {
		for _, s := range v.Hidden {
			if start, end := max(s.Start, h.From), min(s.End, h.FromEnd); start < end {
				out = append(out, Span{start, end})
			}
		}
	}
	return out
}

// Map returns where lines of one text are in another; lines that are not in it are left out.
func Map(spans []Span, from, to string) []Span {
	set := spread(spans, len(diff.Lines(from)))
	out := make([]bool, len(diff.Lines(to)))
	a, b := 0, 0
	for _, h := range diff.Hunks(from, to) {
		copy(out[b:h.To], set[a:h.From])
		a, b = h.FromEnd, h.ToEnd
	}
	copy(out[b:], set[a:])
	return collect(out)
}

// Changes returns where a text differs from another one, in its own lines; a span is empty where lines are
// gone.
func Changes(text, other string) []Span {
	var out []Span
	for _, h := range diff.Hunks(other, text) {
		out = append(out, Span{h.To, h.ToEnd})
	}
	return out
}

// New returns the lines of a text that another text has not.
func New(text, other string) []Span {
	return slices.DeleteFunc(Changes(text, other), func(s Span) bool { return s.Start == s.End })
}

// Count returns the number of lines in the spans.
func Count(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += s.End - s.Start
	}
	return n
}

func (v View) flags() []bool { return spread(v.Hidden, lines(v.Text)) }

func lines(text string) int { return len(diff.Lines(text)) }

func flags(n int, value bool) []bool { return slices.Repeat([]bool{value}, n) }

func spread(spans []Span, n int) []bool {
	out := make([]bool, n)
	for _, s := range spans {
		for i := max(s.Start, 0); i < min(s.End, n); i++ {
			out[i] = true
		}
	}
	return out
}

func collect(set []bool) []Span {
	var out []Span
	for i, is := range set {
		switch n := len(out) - 1; {
		case !is:
		case n >= 0 && out[n].End == i:
			out[n].End++
		default:
			out = append(out, Span{i, i + 1})
		}
	}
	return out
}

func fromFlags(text string, hidden []bool) View { return View{Text: text, Hidden: collect(hidden)} }

package dialog

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// review is a text that a person approves, and the window on it. Every dialog that asks for a yes draws
// through it, so that all of them show everything: control characters, carriage returns and characters that
// hide or reorder text are visible, long lines fold with a mark, and nothing is cut.
type review struct {
	Parts  []ReviewPart
	Notes  []string // what must be known in addition
	scroll int      // first row shown
	page   int      // rows of the window that was drawn last
	last   int      // the furthest scroll position of the last drawing
	Fits   bool     // all of it is visible

	rows, noted []string
	stamp       int
	width       int
}

// ReviewPart is a piece of what is approved: a title, and a text or a diff.
type ReviewPart struct {
	Title string
	Text  string // unchanged
	diff  string
	prose bool // text is prose: it breaks between words
	words bool // text is exact, and breaks between words where it can
}

// move scrolls by rows, down when n is positive.
func (r *review) move(n int) { r.scroll = min(max(r.scroll+n, 0), r.last) }

// scrollKey scrolls if the action asks for it and reports whether it did.
func (r *review) scrollKey(act look.Action) bool {
	page := max(r.page-1, 1)
	switch act {
	case look.PageUp:
		r.move(-page)
	case look.PageDown:
		r.move(page)
	case look.LineUp:
		r.move(-1)
	case look.LineDown:
		r.move(1)
	case look.Top:
		r.scroll = 0
	case look.Bottom:
		r.scroll = r.last
	default:
		return false
	}
	return true
}

// layout draws all of it for a width.
func (r *review) layout(l *look.Look, width int) {
	if r.rows != nil && r.stamp == l.Stamp && r.width == width {
		return
	}
	r.stamp, r.width, r.noted = l.Stamp, width, nil
	r.rows = []string{}
	for _, part := range r.Parts {
		if part.Title != "" {
			r.rows = append(r.rows, exactRows(l, part.Title, l.Theme.Strong, "  ", width, true)...)
		}
		switch {
		case part.diff != "":
			r.rows = append(r.rows, look.Indent(transcript.DrawDiff(part.diff, l, max(width-2, 1), unlimited), "  ")...)
		case part.words:
			r.rows = append(r.rows, brokenRows(l, part.Text, "", "    ", width, false, foldWords)...)
		case part.Title != "":
			r.rows = append(r.rows, exactRows(l, part.Text, "", "    ", width, part.prose)...)
		default:
			style := l.Theme.Strong
			if part.prose {
				style = ""
			}
			r.rows = append(r.rows, exactRows(l, part.Text, style, "  ", width, part.prose)...)
		}
	}
	for _, n := range r.Notes {
		r.noted = append(r.noted, exactRows(l, l.Tilde(n), l.Theme.Faint, "  ", width, true)...)
	}
}

// unlimited is more lines than any text that is approved has.
const unlimited = 1 << 30

// exactRows draws the lines of an external text, folded to width after an indent. A row that only continues
// the one above is marked: otherwise it would look like a line of its own. With wraps it is prose, which breaks
// between words.
func exactRows(l *look.Look, s string, style cells.Style, indent string, width int, wraps bool) []string {
	if wraps {
		return brokenRows(l, s, style, indent, look.Prose(width), true, cells.Wrap)
	}
	return brokenRows(l, s, style, indent, width, false, cells.Fold)
}

// foldWords is Fold for one span, broken between words where possible. Every blank stays, at the end of its row.
func foldWords(spans []cells.Span, width int) (lines [][]cells.Span) {
	style, row, used := spans[0].Style, "", 0
	end := func() {
		lines = append(lines, []cells.Span{{Text: row, Style: style}})
		row, used = "", 0
	}
	for word := range strings.SplitAfterSeq(spans[0].Text, " ") {
		w := cells.Width(word)
		if used > 0 && used+cells.Width(strings.TrimSuffix(word, " ")) > width { // one cell beyond the width is free for a blank
			end()
		}
		if used == 0 && w > width {
			parts := cells.Fold([]cells.Span{{Text: word, Style: style}}, width)
			lines = append(lines, parts[:len(parts)-1]...)
			for _, last := range parts[len(parts)-1] {
				row += last.Text
			}
			used = cells.Width(row)
			continue
		}
		row, used = row+word, used+w
	}
	if row != "" || lines == nil {
		end()
	}
	return lines
}

// brokenRows is exactRows with its way of breaking lines.
func brokenRows(l *look.Look, s string, style cells.Style, indent string, width int, wraps bool, fold func([]cells.Span, int) [][]cells.Span) []string {
	if s == "" {
		return nil
	}
	mark := indent[:max(len(indent)-2, 0)] + cells.Paint(l.Theme.Faint, look.Folded)
	if width < 12 {
		indent, mark = "", ""
	}
	var out []string
	for line := range strings.SplitSeq(strings.TrimSuffix(look.Exact(s), "\n"), "\n") {
		lead := ""
		if wraps { // breaking between words would lose the indent
			lead = line[:len(line)-len(strings.TrimLeft(line, " "))]
			lead, line = lead[:min(len(lead), width/4)], line[len(lead):]
		}
		for i, spans := range fold([]cells.Span{{Text: line, Style: style}}, max(width-len(indent)-len(lead)-1, 1)) {
			before := indent
			if i > 0 && !wraps {
				before = mark
			}
			out = append(out, before+lead+cells.Render(spans))
		}
	}
	return out
}

// draw returns at most height rows. Notes stay visible below what is approved if both have room; keep is the
// minimum number of rows for what is approved.
func (r *review) draw(l *look.Look, width, height, keep int) []string {
	r.layout(l, width)
	rows, pinned := r.rows, r.noted
	if len(rows)+len(pinned) <= height || height-len(pinned) < keep || len(rows) == 0 {
		rows, pinned = append(rows[:len(rows):len(rows)], pinned...), nil
	}
	room := max(height-len(pinned), 1)
	r.page = room
	r.last = max(len(rows)-room, 0)
	r.scroll = min(r.scroll, r.last)
	r.Fits = len(rows) <= room
	shown := append([]string(nil), rows[r.scroll:min(r.scroll+room, len(rows))]...)
	if !r.Fits && room > 2 { // a row for each side if there is more
		if r.scroll > 0 {
			shown[0] = r.mark(l, "↑ ", r.scroll+1, " above", width)
		}
		if below := len(rows) - r.scroll - room; below > 0 {
			shown[len(shown)-1] = r.mark(l, "↓ ", below+1, " (pgdown)", width)
		}
	}
	return append(shown, pinned...)
}

func (r *review) mark(l *look.Look, arrow string, n int, tail string, width int) string {
	return cells.Paint(l.Theme.Warn, cells.Fit("  "+arrow+text.Count(n, "more line")+tail, width))
}

// measure says how much there is to read, unless that is obvious: "41 lines".
func (r *review) measure(th *look.Theme, style cells.Style, width int) []cells.Span {
	added, removed, files, lines, longest := 0, 0, 0, 0, 0
	for _, part := range r.Parts {
		switch {
		case part.diff != "":
			d := transcript.ParseDiff(part.diff)
			added, removed, files = added+d.Added, removed+d.Removed, files+d.Files
		case !part.prose:
			for line := range strings.SplitSeq(strings.TrimSuffix(part.Text, "\n"), "\n") {
				lines++
				longest = max(longest, len([]rune(line)))
			}
		}
	}
	var out []cells.Span
	say := func(what string) {
		if out != nil {
			what = " · " + what
		}
		out = append(out, cells.Span{Text: what, Style: style})
	}
	if files > 0 {
		out = look.Changed(th, added, removed)
	}
	if files > 1 {
		say(text.Count(files, "file"))
	}
	switch {
	case lines > 1:
		say(text.Count(lines, "line"))
	case longest > 2*width:
		say(strconv.Itoa(longest) + " characters")
	}
	return out
}

// Plain renders the piece without a screen, each line indented.
func (part ReviewPart) Plain() string {
	if part.diff != "" {
		return strings.TrimSuffix(text.Visible(part.diff), "\n")
	}
	out, by := "", "  "
	if part.Title != "" {
		out, by = "  "+look.Exact(part.Title)+":\n", "    "
	}
	return out + by + strings.ReplaceAll(strings.TrimSuffix(look.Exact(part.Text), "\n"), "\n", "\n"+by)
}

// argumentParts shows the arguments of a call, each under its name.
func argumentParts(raw json.RawMessage) []ReviewPart {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		if s := strings.TrimSpace(string(raw)); s != "" && s != "null" {
			return []ReviewPart{{Title: "arguments", Text: s}}
		}
		return nil
	}
	var out []ReviewPart
	for _, k := range slices.Sorted(maps.Keys(m)) {
		value := string(m[k])
		var s string
		if json.Unmarshal(m[k], &s) == nil {
			value = s
		}
		if value == "" {
			value = `""`
		}
		out = append(out, ReviewPart{Title: k, Text: value})
	}
	return out
}

// need returns the number of rows that it would take.
func (r *review) need(l *look.Look, width int) int {
	r.layout(l, width)
	return len(r.rows) + len(r.noted)
}

// halves divides the rows of a dialog: its title, what is approved, and its answers. What is approved gets
// the rows that it needs, or at least half of them at any size; before it loses a row, the title is dropped.
func halves(height, need, answers int) (title bool, foot int) {
	body := min((height+1)/2, max(need, 1))
	foot = max(min(answers, height-body-1), 1)
	return body+foot+1 <= height, foot
}

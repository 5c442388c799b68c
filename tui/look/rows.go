package look

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/editor"
)

// Clip cuts spans to a width.
func Clip(spans []cells.Span, width int) []cells.Span {
	if cells.SpansWidth(spans) <= width {
		return spans
	}
	return cells.Fold(spans, width)[0]
}

// Filled pads a row to a width, in the style that marks it.
func Filled(row []cells.Span, style cells.Style, width int) []cells.Span {
	return append(row, cells.Span{Text: cells.Blank(width - cells.SpansWidth(row)), Style: style})
}

// TitleRule returns the first line of a dialog: its title in a rule.
func TitleRule(l *Look, title string, width int, style cells.Style) string {
	return TitleRow(l, []cells.Span{{Text: cells.Fit(OneLine(title), max(width-6, 0)), Style: style}}, width)
}

// TitleRow is TitleRule for a title in several styles.
func TitleRow(l *Look, title []cells.Span, width int) string {
	title = Clip(title, max(width-6, 0))
	line := max(width-cells.SpansWidth(title)-4, 0)
	row := append([]cells.Span{{Text: "─ ", Style: l.Theme.Border}}, title...)
	return cells.Render(append(row, cells.Span{Text: " " + strings.Repeat("─", line) + "─", Style: l.Theme.Border}))
}

// Changed shows how many lines were added and removed.
func Changed(th *Theme, added, removed int) []cells.Span {
	style := func(n int, s cells.Style) cells.Style {
		if n == 0 {
			return th.Faint
		}
		return s
	}
	return []cells.Span{{Text: "+" + strconv.Itoa(added), Style: style(added, th.Good)}, {Text: " "}, {Text: "-" + strconv.Itoa(removed), Style: style(removed, th.Bad)}}
}

// Hints shows keys and what they do; those that do not fit are left out.
func Hints(l *Look, width int, pairs ...string) string { return HintRows(l, width, 1, pairs...)[0] }

// HintsFit reports whether Hints shows all of them.
func HintsFit(width int, pairs ...string) bool {
	used := -2
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] != "" {
			used += 3 + cells.Width(pairs[i]) + 1 + cells.Width(pairs[i+1])
		}
	}
	return used <= width
}

// HintRows is hints on up to most rows.
func HintRows(l *Look, width, most int, pairs ...string) []string {
	var rows []string
	spans, used := []cells.Span{{Text: " "}}, 1
	for i := 0; i+1 < len(pairs); i += 2 {
		key, what := pairs[i], pairs[i+1]
		if key == "" {
			continue
		}
		w := cells.Width(key) + 1 + cells.Width(what)
		if used > 1 && used+3+w > width && len(rows) < most-1 {
			rows = append(rows, cells.Render(Clip(spans, width)))
			spans, used = []cells.Span{{Text: " "}}, 1
		}
		if used > 1 {
			w += 3
		}
		if used+w > width {
			continue
		}
		if used > 1 {
			spans = append(spans, cells.Span{Text: " · ", Style: l.Theme.Faint})
		}
		spans = append(spans, cells.Span{Text: key, Style: l.Theme.Strong}, cells.Span{Text: " " + what, Style: l.Theme.Faint})
		used += w
	}
	return append(rows, cells.Render(Clip(spans, width)))
}

// Prefixed renders wrapped spans after a mark.
func Prefixed(body [][]cells.Span, first, rest string) []string {
	lines := make([]string, len(body))
	for i, spans := range body {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		lines[i] = prefix + cells.Render(spans)
	}
	return lines
}

// Indent puts a blank or a mark before each line.
func Indent(lines []string, by string) []string {
	for i := range lines {
		lines[i] = by + lines[i]
	}
	return lines
}

// Wrapped breaks a text to a width, indented after a mark.
func Wrapped(s string, style cells.Style, mark string, width int) []string {
	indent := cells.Width(mark)
	body := cells.Wrap([]cells.Span{{Text: cells.ExpandTabs(text.Clean(s), 4), Style: style}}, max(Prose(width)-indent-1, 1))
	return Prefixed(body, cells.Paint(style, mark), cells.Blank(indent))
}

// Prose returns the width of text that is read line by line, out of the width that there is.
func Prose(width int) int { return min(width, ProseCells) }

// LastLines returns the last n lines of a text.
func LastLines(s string, n int) []string {
	at := len(s)
	for range n {
		i := strings.LastIndexByte(s[:at], '\n')
		if i < 0 {
			return strings.Split(s, "\n")
		}
		at = i
	}
	return strings.Split(s[at+1:], "\n")
}

// spinner shows that something is running.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// PartSpans shows a row of the input, with chips and marks set apart.
func PartSpans(th *Theme, r editor.Row) []cells.Span {
	var out []cells.Span
	for _, part := range r.Parts() {
		span := cells.Span{Text: part.Text}
		switch {
		case part.Marked:
			span.Style = th.Mark
		case part.Chip:
			span.Style = th.Selected
		}
		out = append(out, span)
	}
	return out
}

// BarCursor returns a cursor between two letters.
func BarCursor(x, y int) *tea.Cursor {
	cursor := tea.NewCursor(x, y)
	cursor.Shape = tea.CursorBar
	return cursor
}

// Folded marks a row that continues the line above it.
const Folded = "↪ "

package dialog

import (
	"cmp"
	"strconv"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// title says what is asked, and how much there is to read.
func (a *Approval) title(l *look.Look, width int) string {
	title := look.OneLine(text.Visible(a.Asked.Heading()))
	if much := a.Text.measure(width); much != "" {
		title = cells.Fit(title, max(width-6-3-cells.Width(much), 8)) + " · " + much
	}
	if l.Asks > 1 {
		title += " · 1 of " + strconv.Itoa(l.Asks)
	}
	return title
}

func (a *Approval) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	a.width = width
	titled, limit := halves(height, a.Text.need(l, width), len(a.Asked.Options)+1)
	if titled {
		lines = append(lines, look.TitleRule(l, a.title(l, width), width, l.Theme.Warn))
	}
	foot := a.foot(l, width, limit)
	half := (height + 1) / 2
	room := max(height-len(lines)-len(foot), 1)
	switch {
	case a.Edit != nil:
		rows, y, x, _, _ := a.Edit.Window(max(width-4, 1), room)
		cursor = &Pos{len(lines) + y, x + 2}
		for _, r := range rows {
			lines = append(lines, "  "+cells.Render(look.PartSpans(l.Theme, r)))
		}
	case a.Rule != nil:
		lines = append(lines, a.Rule.draw(l, width, room, half)...)
	case a.Word != nil:
		lines = append(lines, a.Text.draw(l, width, max(room-1, 1), half)...)
		line, x := a.Word.draw(l, " tell it why not: ", width)
		cursor = &Pos{len(lines), x}
		lines = append(lines, line)
	default:
		lines = append(lines, a.Text.draw(l, width, room, half)...)
	}
	return append(lines, foot...), cursor
}

// foot lists the answers in at most limit rows; until keys are accepted it says so instead.
func (a *Approval) foot(l *look.Look, width, limit int) []string {
	a.terse = false
	switch {
	case !a.Open:
		return untilArmed(l, width)
	case a.Word != nil:
		return []string{look.Hints(l, width, "enter", "refuse", "esc", "back")}
	case a.Edit != nil:
		return []string{look.Hints(l, width, "enter", "take the change", "ctrl+j", "new line", "esc", "back")}
	case a.Rule != nil:
		return []string{look.Hints(l, width, "enter", "take this answer", "esc", "back")}
	case len(a.Asked.Options) > limit:
		a.terse = true
		return a.chips(l, width, limit)
	}
	var out []string
	cut := false
	for i, o := range a.Asked.Options {
		label := look.OneLine(text.Visible(o.Label))
		row, whole := answerLine(l, i == a.at, a.keyFor(i), label, width)
		out = append(out, row)
		cut = cut || !whole
	}
	if len(out) < limit && l.Beside {
		out = append(out, asideHints(l, width))
	} else if len(out) < limit {
		edit, rule, turn := "", "", ""
		if a.Asked.Editable != "" {
			edit = "e"
		}
		if cut {
			rule = "r"
		}
		if a.Asked.Diff != "" && width > look.SplitWidth {
			turn = "t"
		}
		out = append(out, look.Hints(l, width, "↑↓ enter", "choose", edit, "edit", rule, "whole answer", "w", "no, because …", "esc", "aside", turn, "columns"))
	}
	return out
}

// keyFor returns the key of option i: its letter, otherwise its number.
func (a *Approval) keyFor(i int) string { return cmp.Or(a.keyOf(i), strconv.Itoa(i+1)) }

// chips lists the answers in few words, side by side, when there is no room for more: at worst only their
// keys, with the label of the chosen one.
func (a *Approval) chips(l *look.Look, width, limit int) []string {
	rows := a.chipRows(l, width, true)
	if len(rows) > limit {
		rows = a.chipRows(l, width, false)
	}
	var out []string
	for _, r := range rows[:min(len(rows), max(limit, 1))] {
		out = append(out, cells.Render(look.Clip(r, width)))
	}
	return out
}

func (a *Approval) chipRows(l *look.Look, width int, words bool) [][]cells.Span {
	var rows [][]cells.Span
	used := width
	for i, o := range a.Asked.Options {
		mark, style := " ", cells.Style("")
		if i == a.at {
			mark, style = "›", l.Theme.Selected
		}
		chip := []cells.Span{{Text: mark + a.keyFor(i), Style: style.With(l.Theme.Strong)}}
		if words || i == max(a.at, 0) {
			chip = append(chip, cells.Span{Text: " " + scopeWord(o.Scope), Style: style})
		}
		chip = append(chip, cells.Span{Text: " ", Style: style})
		w := cells.SpansWidth(chip)
		if used+w > width {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], chip...)
		used += w
	}
	return rows
}

// scopeWord returns an answer as one word; a lasting one grants more than the word says.
func scopeWord(scope tools.AnswerScope) string {
	switch scope {
	case tools.AnswerSession:
		return "session …"
	case tools.AnswerProject:
		return "always …"
	case tools.AnswerOnce, tools.AnswerNo:
	}
	return string(scope)
}

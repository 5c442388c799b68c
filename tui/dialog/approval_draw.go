package dialog

import (
	"cmp"
	"strconv"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tui/look"
)

// title says what is asked, and how much there is to read.
func (a *Approval) title(l *look.Look, width int) []cells.Span {
	style := l.Theme.Warn
	var more []cells.Span
	if much := a.Text.measure(l.Theme, style, width); much != nil {
		more = append(append(more, cells.Span{Text: " · ", Style: style}), much...)
	}
	if l.Asks > 1 {
		more = append(more, cells.Span{Text: " · 1 of " + strconv.Itoa(l.Asks), Style: style})
	}
	title := cells.Fit(look.OneLine(l.Tilde(text.Visible(a.Asked.Heading()))), max(width-6-cells.SpansWidth(more), 8))
	return append([]cells.Span{{Text: title, Style: style}}, more...)
}

func (a *Approval) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	a.width = width
	titled, limit := halves(height, a.Text.need(l, width), a.footRows(l, width))
	if titled {
		lines = append(lines, look.TitleRow(l, a.title(l, width), width))
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
	case a.hunks != nil:
		lines = append(lines, a.hunks.draw(l, width, room)...)
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
	case a.hunks != nil:
		return []string{look.Hints(l, width, "enter", "take "+strconv.Itoa(a.hunks.count())+" of "+text.Count(len(a.hunks.parts), "hunk"), "space y n", "take or leave one", "↑↓", "move", "esc", "back")}
	}
	if rows := a.besideRows(l, width); rows != nil && limit > 1 {
		return rows[max(len(rows)-limit, 0):]
	}
	if len(a.Asked.Options) > limit {
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
		out = append(out, a.otherKeys(l, width, "", "", cut, "w"))
	}
	if len(out) < limit {
		out = append([]string{""}, out...)
	}
	return out
}

// because is what w does.
const because = "no, because …"

// otherKeys shows the keys that are no answers, after what an answer covers and word, the key of a refusal with words.
// Without room for all, the least important are left out.
func (a *Approval) otherKeys(l *look.Look, width int, answers, covers string, cut bool, word string) string {
	edit, hunks, rule, turn, rows := "", "", "", "", "↑↓ enter"
	if a.Asked.Editable != "" && a.Hunks == nil {
		edit = "e"
	}
	if !a.edited && a.Asked.Hunks() != nil {
		hunks = "h"
	}
	if cut {
		rule = "r"
	}
	if a.Asked.Diff != "" && width > look.SplitWidth {
		turn = "t"
	}
	if answers != "" || covers != "" {
		rows = "" // the answers are in one row
	}
	keys := []string{answers, covers, word, because, rule, "whole answer", edit, "edit", hunks, "hunks", turn, "columns", "esc", "aside", rows, "choose"}
	for _, i := range []int{14, 10, 8, 6} {
		if look.HintsFit(width, keys...) {
			break
		}
		keys[i] = ""
	}
	return look.Hints(l, width, keys...)
}

// besideRows shows the answers side by side, an empty row above and the other keys below; nil if they need a list:
// each lasting answer must be one of its kind, and what it covers must be said in full.
func (a *Approval) besideRows(l *look.Look, width int) []string {
	var lasting []string // their keys
	covers := ""
	var row []cells.Span
	chip := func(chosen bool, key, word string) {
		style := cells.Style("")
		if chosen {
			style = l.Theme.Selected
		}
		row = append(row, cells.Span{Text: " " + key, Style: style.With(l.Theme.Strong)}, cells.Span{Text: " " + word + " ", Style: style}, cells.Span{Text: " "})
	}
	for i, o := range a.Asked.Options {
		key := a.keyOf(i)
		if key == "" || !usual(o) {
			return nil
		}
		if a.lasting(i) {
			if o.Words == "" || covers != "" && covers != o.Words {
				return nil
			}
			covers, lasting = o.Words, append(lasting, key)
		}
		chip(i == a.at, key, map[tools.AnswerScope]string{tools.AnswerOnce: "once", tools.AnswerSession: "until I leave", tools.AnswerProject: "always here", tools.AnswerNo: "no"}[o.Scope])
	}
	word := "w"
	if cells.SpansWidth(row)+cells.Width(because)+3 <= width {
		chip(false, word, because)
		word = ""
	}
	if cells.SpansWidth(row) > width+1 {
		return nil
	}
	keys, covers := strings.Join(lasting, " and "), look.OneLine(text.Visible(covers))
	if keys != "" {
		keys += ":"
	}
	if cells.Width(keys+covers)+30 > width {
		return nil
	}
	foot := a.otherKeys(l, width, keys, covers, false, word)
	if l.Beside {
		foot = asideHints(l, width)
	}
	return []string{"", cells.Render(look.Clip(row, width)), foot}
}

// usual reports whether an answer says no more than its kind: "once", "no", or what a lasting one covers.
func usual(o tools.AnswerOption) bool {
	switch o.Scope {
	case tools.AnswerOnce:
		return o.Label == "once" || o.Label == "yes, once"
	case tools.AnswerNo:
		return o.Label == "no"
	case tools.AnswerSession, tools.AnswerProject:
	}
	return o.Words != ""
}

// footRows is how many rows the answers would take.
func (a *Approval) footRows(l *look.Look, width int) int {
	if rows := a.besideRows(l, width); rows != nil {
		return len(rows)
	}
	return len(a.Asked.Options) + 2
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

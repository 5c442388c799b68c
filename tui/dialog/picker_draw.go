package dialog

import (
	"cmp"
	"slices"
	"strings"

	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

func (pk *Picker) Draw(l *look.Look, width, height int) (lines []string, cursor *Pos) {
	lines = append(lines, look.TitleRule(l, pk.Title, width, l.Theme.Accent))
	if w := pk.writing; w != nil {
		line, x := w.draw(l, " "+w.action.Label+": ", width)
		cursor = &Pos{1, x}
		lines = append(lines, line)
	} else if !pk.NoSearch && height >= 5 {
		line, x := pk.Search.draw(l, " search: ", width)
		cursor = &Pos{1, x}
		lines = append(lines, line)
	}
	foot := pk.foot(l, width, height)
	room := max(height-len(lines)-len(foot), 1)
	detail := pk.detail(l, width, room)
	if detail == nil {
		detail = pk.whole(l, width, room)
	}
	room -= len(detail)
	lines = append(lines, pk.list(l, width, room)...)
	lines = append(lines, detail...)
	return append(lines, foot...), cursor
}

// list draws the rows around the cursor.
func (pk *Picker) list(l *look.Look, width, room int) []string {
	var out []string
	switch {
	case pk.Loading:
		out = append(out, cells.Paint(l.Theme.Faint, cells.Fit(" "+l.Spinner()+" reading …", width)))
	case pk.Failed != "":
		out = look.Wrapped(pk.Failed, l.Theme.Bad, " ✗ ", width)
	case len(pk.Rows) == 0:
		out = look.Wrapped(cmp.Or(pk.Empty, "nothing here"), l.Theme.Faint, " ", width)
	case len(pk.shown) == 0:
		out = append(out, cells.Paint(l.Theme.Faint, cells.Fit(" nothing matches", width)))
	case pk.infoFirst:
		out = pk.wrapped(l, width, room)
	default:
		pk.from = min(max(pk.from, pk.at-room+1), pk.at)
		pk.from = max(min(pk.from, len(pk.shown)-room), 0)
		nameW := pk.nameWidth(width)
		for i := pk.from; i < min(pk.from+room, len(pk.shown)); i++ {
			out = append(out, pk.row(l, width, nameW, i))
		}
		pk.visible = len(out)
	}
	return out[:min(len(out), room)]
}

// wrapped draws the rows around the cursor, each on as many lines as its words take: of a list that is read, nothing is
// cut.
func (pk *Picker) wrapped(l *look.Look, width, room int) (out []string) {
	nameW := pk.nameWidth(width)
	rows := map[int][]string{}
	row := func(i int) []string {
		if rows[i] == nil {
			rows[i] = pk.lines(l, width, nameW, i)
		}
		return rows[i]
	}
	pk.from = min(pk.from, pk.at)
	for used, i := 0, pk.at; i >= pk.from; i-- {
		if used += len(row(i)); used > room && i < pk.at {
			pk.from = i + 1
		}
	}
	for left := room; pk.from > 0; pk.from-- { // at the end of the list no line stays empty
		for i := pk.from - 1; i < len(pk.shown) && left >= 0; i++ {
			left -= len(row(i))
		}
		if left < 0 {
			break
		}
	}
	pk.visible = 0
	for i := pk.from; i < len(pk.shown) && len(out) < room; i++ {
		out = append(out, row(i)...)
		pk.visible++
	}
	return out
}

// lines draws a row with its words wrapped in their columns.
func (pk *Picker) lines(l *look.Look, width, nameW, i int) []string {
	r := pk.Rows[pk.shown[i]]
	_, _, state := pk.columns(l, &r, width, nameW)
	room := width - rowMark - nameW - 2
	if state != "" {
		room -= cells.Width(state) + 3
	}
	if room <= 6 {
		return []string{pk.row(l, width, nameW, i)}
	}
	words := func(s string, width int) (out []string) {
		for _, spans := range cells.Wrap([]cells.Span{{Text: look.OneLine(text.Clean(s))}}, width) {
			line := ""
			for _, sp := range spans {
				line += sp.Text
			}
			out = append(out, strings.TrimRight(line, " "))
		}
		return out
	}
	names, infos := words(r.Name, nameW), words(l.Tilde(r.Info), room)
	at := func(list []string, n int) string {
		if n < len(list) {
			return list[n]
		}
		return ""
	}
	var out []string
	for n := range max(len(names), len(infos), 1) {
		line := command.Row{Name: at(names, n), Info: at(infos, n)}
		if n == 0 {
			line.State, line.Current, line.Bad, line.Mark = r.State, r.Current, r.Bad, r.Mark
		}
		out = append(out, pk.drawn(l, width, nameW, &line, i == pk.at, n == 0))
	}
	return out
}

// nameWidth returns the width of the name column: the same wherever the list is scrolled to and whatever is searched
// for, as long as it is not very long.
func (pk *Picker) nameWidth(width int) int {
	w := 0
	if len(pk.Rows) <= look.NamesMeasured {
		for i := range pk.Rows {
			w = max(w, cells.Width(look.OneLine(pk.Rows[i].Name)))
		}
	} else {
		for i := pk.from; i < min(pk.from+60, len(pk.shown)); i++ {
			w = max(w, cells.Width(look.OneLine(pk.Rows[pk.shown[i]].Name)))
		}
	}
	if pk.infoFirst {
		return min(w, max(width*3/8, 10))
	}
	return min(w, max(width*3/5, 10))
}

func (pk *Picker) row(l *look.Look, width, nameW, i int) string {
	return pk.drawn(l, width, nameW, &pk.Rows[pk.shown[i]], i == pk.at, true)
}

// drawn draws a row, or a further line of one, which has no mark.
func (pk *Picker) drawn(l *look.Look, width, nameW int, r *command.Row, chosen, first bool) string {
	style := cells.Style("")
	mark := "   "
	if chosen {
		style = l.Theme.Selected
	}
	if chosen && first {
		mark = " › "
	}
	dot, dotStyle := Mark(l, r.Mark)
	if r.Current && r.Mark == "" {
		dot, dotStyle = "●", l.Theme.Good
	}
	if !first {
		dot = " "
	}
	name, info, state := pk.columns(l, r, width, nameW)
	spans := []cells.Span{{Text: mark, Style: style}, {Text: dot + " ", Style: style.With(dotStyle)}, {Text: name, Style: style}}
	pad := nameW - cells.Width(name) + 2
	if info != "" || state != "" {
		spans = append(spans, cells.Span{Text: cells.Blank(pad) + info, Style: style.With(l.Theme.Faint)})
	}
	if state != "" {
		used := cells.SpansWidth(spans)
		stateStyle := l.Theme.Faint
		if r.Bad {
			stateStyle = l.Theme.Bad
		}
		spans = append(spans, cells.Span{Text: cells.Blank(max(width-used-cells.Width(state)-1, 1)), Style: style})
		said := []cells.Span{{Text: state, Style: stateStyle}}
		if pk.painted != nil && state == r.State {
			said = pk.painted(l.Theme, r)
		}
		for _, s := range said {
			spans = append(spans, cells.Span{Text: s.Text, Style: style.With(s.Style)})
		}
	}
	if chosen {
		spans = look.Filled(spans, style, width)
	}
	return cells.Render(look.Clip(spans, width))
}

// Mark shows the state of something that works on its own, such as an agent, in a cell.
func Mark(l *look.Look, state string) (mark string, style cells.Style) {
	switch state {
	case "":
		return " ", l.Theme.Good
	case "working":
		return l.Spinner(), l.Theme.Accent
	case "waiting":
		return "?", l.Theme.Warn
	case "done":
		return "●", l.Theme.Good
	}
	return "●", l.Theme.Bad
}

// rowMark is how many cells of a row are before its name.
const rowMark = 5

// columns returns the parts of a row, each cut to its space.
func (pk *Picker) columns(l *look.Look, r *command.Row, width, nameW int) (name, info, state string) {
	name = cells.Fit(look.OneLine(text.Clean(r.Name)), nameW)
	info, state = look.OneLine(l.Tilde(text.Clean(r.Info))), look.OneLine(text.Clean(r.State))
	room := width - rowMark - nameW
	if pk.infoFirst && room < 60 {
		state = ""
	}
	if state != "" && room > 6 {
		state = cells.Fit(state, room-3)
		room -= cells.Width(state) + 3
	} else {
		state = ""
	}
	if room > 6 {
		return name, cells.Fit(info, room-2), state
	}
	return name, "", state
}

// whole shows the row under the cursor in full, if rows are cut and there is room.
func (pk *Picker) whole(l *look.Look, width, room int) []string {
	if len(pk.Rows) > look.NamesMeasured || room < 4 {
		return nil
	}
	nameW, some := pk.nameWidth(width), false
	for _, i := range pk.shown {
		if some = pk.cut(l, &pk.Rows[i], width, nameW) != ""; some {
			break
		}
	}
	r, ok := pk.Current()
	if !ok || !some {
		return nil
	}
	rows := look.Wrapped(pk.cut(l, &r, width, nameW), l.Theme.Faint, cells.Blank(rowMark), width)
	return rows[:min(len(rows), max(room/3, 1))]
}

// cut returns in full what of a row has no space in its columns.
func (pk *Picker) cut(l *look.Look, r *command.Row, width, nameW int) string {
	name, info, state := pk.columns(l, r, width, nameW)
	if pk.infoFirst { // its words are wrapped, and the state is a mere heading
		return ""
	}
	var out []string
	for _, part := range [][2]string{{r.Name, name}, {l.Tilde(r.Info), info}, {r.State, state}} {
		if full := look.OneLine(text.Clean(part[0])); full != part[1] {
			out = append(out, full)
		}
	}
	return strings.Join(out, "  ")
}

// detail shows more of the row under the cursor if there is room.
func (pk *Picker) detail(l *look.Look, width, room int) []string {
	r, ok := pk.Current()
	shown := r.Detail
	if s := pk.seen[r.ID]; s != "" {
		shown = s
	}
	if !ok || shown == "" || room < 8 {
		return nil
	}
	body := cells.Wrap([]cells.Span{{Text: cells.ExpandTabs(l.Tilde(text.Clean(strings.TrimRight(shown, "\n"))), 4), Style: l.Theme.Faint}}, max(width-2, 1))
	limit := min(max(room/3, 3), room-4)
	if r.Tail {
		limit = min(max(room/2, 3), room-4)
	}
	head := look.Wrapped(l.Tilde(r.Head), l.Theme.Faint, " ", width)
	if r.Head == "" {
		head = nil
	}
	head = head[:min(len(head), 2)]
	limit = max(limit-len(head), 1)
	most := max(len(body)-limit, 0)
	pk.detailFrom = min(pk.detailFrom, most)
	from := pk.detailFrom
	if r.Tail { // counted from the end
		from = most - pk.detailFrom
	}
	end := min(from+limit, len(body))
	out := []string{cells.Paint(l.Theme.Border, " "+strings.Repeat("╌", max(width-2, 0)))}
	found := transcript.Finder{Term: strings.ToLower(strings.TrimSpace(pk.Search.Editor.Text()))}
	out = append(out, head...)
	for i, spans := range body[from:end] {
		line := " " + cells.Render(spans)
		switch {
		case limit > 2 && i == 0 && from > 0:
			line = cells.Paint(l.Theme.Info, cells.Fit(" ↑ "+text.Count(from+1, "more line")+" (shift+up)", width))
		case limit > 2 && from+i == end-1 && end < len(body):
			line = cells.Paint(l.Theme.Info, cells.Fit(" ↓ "+text.Count(len(body)-end+1, "more line")+" (shift+down)", width))
		}
		if found.Active() {
			line = found.Highlight(line, l.Theme.Match)
		}
		out = append(out, line)
	}
	return out
}

func (pk *Picker) foot(l *look.Look, width, height int) []string {
	if pk.writing != nil {
		return []string{look.Hints(l, width, "enter", pk.writing.action.Label, "esc", "back")}
	}
	var out []string
	if pk.confirm != nil {
		out = append(out, cells.Paint(l.Theme.Warn, cells.Fit(" press "+pk.confirm.Key+" again to "+pk.confirm.Label, width)))
	} else if pk.Note != "" {
		out = append(out, cells.Paint(l.Theme.Info, cells.Fit(" "+look.OneLine(pk.Note), width)))
	}
	pairs := []string{}
	row, has := pk.Current()
	names := func(label string) bool { return has && (row.Keys == nil || slices.Contains(row.Keys, label)) }
	if pk.Choose != nil && names(pk.Enter) {
		pairs = append(pairs, "enter", cmp.Or(pk.Enter, "choose"))
	}
	pairs = append(pairs, "esc", cmp.Or(pk.Leave, "close")) // always visible
	for _, a := range pk.Actions {
		if names(a.Label) {
			pairs = append(pairs, a.Key, a.Label)
		}
	}
	if pk.Toggle != nil {
		pairs = append(pairs, "tab", pk.TabHint)
	}
	return append(out, look.HintRows(l, width, min(max(height/5, 1), 3), pairs...)...)
}

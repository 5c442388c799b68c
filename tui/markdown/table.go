package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"jcode/internal/cells"
)

// minColumn is the minimum width of a column of a table; a table with less room folds.
const minColumn = 6

// table renders a table with lines between its columns. If it is too wide, cells wrap; if even that leaves no
// room, each row becomes a short list of "head: value".
func (r *renderer) table(t *east.Table) {
	rows := r.tableRows(t)
	if len(rows) == 0 {
		return
	}
	natural := make([]int, len(rows[0]))
	for _, row := range rows {
		for c := range natural {
			if c < len(row) {
				natural[c] = max(natural[c], cells.SpansWidth(row[c]))
			}
		}
	}
	widths, ok := fitColumns(natural, r.room())
	if !ok {
		r.foldTable(rows)
		return
	}
	for i, row := range rows {
		r.tableRow(row, widths, t.Alignments)
		if i == 0 {
			r.tableRule(widths)
		}
	}
}

// tableRows returns the spans of each cell, the header first.
func (r *renderer) tableRows(t *east.Table) [][][]cells.Span {
	var rows [][][]cells.Span
	for n := t.FirstChild(); n != nil; n = n.NextSibling() {
		style := r.textStyle()
		if n.Kind() == east.KindTableHeader {
			style = style.With(r.opts.Styles.TableHead)
		}
		var row [][]cells.Span
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, r.inline(c, style))
		}
		rows = append(rows, row)
	}
	return rows
}

// fitColumns divides the width among columns with two spaces and a line between them: narrow ones keep their
// width, wide ones share the rest.
func fitColumns(natural []int, room int) (widths []int, ok bool) {
	widths = make([]int, len(natural))
	left, open := room-3*(len(natural)-1), len(natural)
	for changed := true; changed && open > 0; {
		changed = false
		share := left / open
		for i, w := range natural {
			if widths[i] == 0 && max(w, 1) <= share {
				widths[i] = max(w, 1)
				left -= widths[i]
				open--
				changed = true
			}
		}
	}
	for i := range widths {
		if widths[i] == 0 {
			widths[i] = left / open
			left -= widths[i]
			open--
			if widths[i] < minColumn {
				return nil, false
			}
		}
	}
	return widths, true
}

func (r *renderer) tableRow(row [][]cells.Span, widths []int, align []east.Alignment) {
	wrapped := make([][][]cells.Span, len(widths))
	height := 1
	for c := range widths {
		if c < len(row) {
			wrapped[c] = cells.Wrap(row[c], widths[c])
			height = max(height, len(wrapped[c]))
		}
	}
	bar := cells.Span{Text: " │ ", Style: r.opts.Styles.Border}
	for y := range height {
		var line []cells.Span
		for c, w := range widths {
			if c > 0 {
				line = append(line, bar)
			}
			var content []cells.Span
			if y < len(wrapped[c]) {
				content = wrapped[c][y]
			}
			a := east.AlignNone
			if c < len(align) {
				a = align[c]
			}
			line = append(line, alignCell(content, w, a, c == len(widths)-1)...)
		}
		r.emit(cells.Render(line))
	}
}

// alignCell pads a cell to its column; the last column needs no padding on its right.
func alignCell(content []cells.Span, width int, a east.Alignment, last bool) []cells.Span {
	pad := max(width-cells.SpansWidth(content), 0)
	left := 0
	switch a {
	case east.AlignRight:
		left = pad
	case east.AlignCenter:
		left = pad / 2
	}
	out := append([]cells.Span{{Text: cells.Blank(left)}}, content...)
	if last {
		return out
	}
	return append(out, cells.Span{Text: cells.Blank(pad - left)})
}

func (r *renderer) tableRule(widths []int) {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	r.emit(cells.Paint(r.opts.Styles.Border, strings.Join(parts, "─┼─")))
}

// foldTable shows each row as lines of "head: value".
func (r *renderer) foldTable(rows [][][]cells.Span) {
	head := rows[0]
	for i, row := range rows[1:] {
		if i > 0 {
			r.emit("")
		}
		for c, cell := range row {
			var spans []cells.Span
			if c < len(head) && len(head[c]) > 0 {
				spans = append(spans, head[c]...)
				spans = append(spans, cells.Span{Text: ": ", Style: r.opts.Styles.TableHead})
			}
			r.emitSpans(cells.Wrap(append(spans, cell...), r.prose()))
		}
	}
	if len(rows) == 1 {
		for _, cell := range head {
			r.emitSpans(cells.Wrap(cell, r.prose()))
		}
	}
}

// lineStart returns the offset at which a node's first line begins, or -1.
func lineStart(n ast.Node, src []byte) int {
	pos := n.Pos()
	if n.Kind() == east.KindTable {
		pos = firstText(n) // its own position may be that of a paragraph above
	}
	if pos < 0 || pos > len(src) {
		return -1
	}
	for pos > 0 && src[pos-1] != '\n' {
		pos--
	}
	return pos
}

// firstText returns the offset of the first text in a table's head, or -1.
func firstText(table ast.Node) int {
	if row := table.FirstChild(); row != nil {
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if cell.Lines().Len() > 0 {
				return cell.Lines().At(0).Start
			}
		}
	}
	return -1
}

package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"jcode/internal/cells"
)

// level is one nesting level of quotes and lists: the prefix of each line.
type level struct {
	first, rest string // escape sequences included
	width       int
	used        bool // first was written
}

// renderer turns a tree into lines.
type renderer struct {
	src    []byte
	opts   Options
	levels []level
	lines  []string
	indent int // cells taken by the levels
	quote  int // nesting of quotes
	depth  int // nesting of lists
	// next, when above 0, is the number of the first list's first item: the list continues items that were
	// rendered before.
	next int
}

func newRenderer(src []byte, opts Options) *renderer {
	opts.Width = max(opts.Width, 1)
	return &renderer{src: src, opts: opts}
}

func (r *renderer) room() int { return max(r.opts.Width-r.indent, 1) }

// prose is room for text that is read line by line.
func (r *renderer) prose() int {
	if r.opts.Prose == 0 {
		return r.room()
	}
	return max(min(r.opts.Width, r.opts.Prose)-r.indent, 1)
}

// emit writes one line after the prefixes of the open levels.
func (r *renderer) emit(line string) {
	if len(r.levels) == 0 {
		r.lines = append(r.lines, line)
		return
	}
	var b strings.Builder
	for i := range r.levels {
		l := &r.levels[i]
		if l.used {
			b.WriteString(l.rest)
		} else {
			b.WriteString(l.first)
			l.used = true
		}
	}
	if line == "" {
		r.lines = append(r.lines, strings.TrimRight(b.String(), " "))
		return
	}
	b.WriteString(line)
	r.lines = append(r.lines, b.String())
}

func (r *renderer) emitSpans(lines [][]cells.Span) {
	for _, l := range lines {
		r.emit(cells.Render(l))
	}
}

func (r *renderer) push(first, rest string, width int) {
	if r.indent+width+2 > r.opts.Width { // no room for a wide character: deeper nesting is not shown
		first, rest, width = "", "", 0
	}
	r.levels = append(r.levels, level{first: first, rest: rest, width: width})
	r.indent += width
}

func (r *renderer) pop() {
	last := len(r.levels) - 1
	r.indent -= r.levels[last].width
	r.levels = r.levels[:last]
}

// blocks renders the children of a container with an empty line between them.
func (r *renderer) blocks(parent ast.Node) { r.blocksUntil(parent, nil) }

// blocksUntil renders the children before end.
func (r *renderer) blocksUntil(parent, end ast.Node) {
	first := true
	for n := parent.FirstChild(); n != nil && n != end; n = n.NextSibling() {
		if n.Kind() == ast.KindLinkReferenceDefinition {
			continue
		}
		before := len(r.lines)
		if !first {
			r.emit("")
		}
		start := len(r.lines)
		r.block(n)
		if len(r.lines) == start { // an empty quote: nothing to separate
			r.lines = r.lines[:before]
			continue
		}
		first = false
	}
}

func (r *renderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Paragraph, *ast.TextBlock:
		r.emitSpans(cells.Wrap(r.inline(n, r.textStyle()), r.prose()))
	case *ast.FencedCodeBlock:
		r.code(n, string(n.Language(r.src)))
	case *ast.CodeBlock:
		r.code(n, "")
	case *ast.Blockquote:
		bar := cells.Paint(r.opts.Styles.Border, "│") + " "
		r.push(bar, bar, 2)
		r.quote++
		r.blocks(n)
		r.quote--
		r.pop()
	case *ast.List:
		r.items(n, nil)
	case *ast.ThematicBreak:
		r.emit(cells.Paint(r.opts.Styles.Border, strings.Repeat("─", r.room())))
	case *ast.HTMLBlock:
		r.html(n)
	case *east.Table:
		r.table(n)
	default:
		r.emitSpans(cells.Wrap(r.inline(n, r.textStyle()), r.prose()))
	}
}

func (r *renderer) textStyle() cells.Style {
	if r.quote > 0 {
		return r.opts.Styles.Text.With(r.opts.Styles.Quote)
	}
	return r.opts.Styles.Text
}

func (r *renderer) heading(n *ast.Heading) {
	style := r.opts.Styles.Heading[min(max(n.Level, 1), 6)-1]
	spans := r.inline(n, style)
	if len(spans) == 0 {
		spans = []cells.Span{{Text: strings.Repeat("#", n.Level), Style: style}}
	}
	r.emitSpans(cells.Wrap(spans, r.prose()))
}

// code renders a code block, indented by two cells.
func (r *renderer) code(n ast.Node, lang string) {
	r.push("  ", "  ", 2)
	h := NewHighlighter(lang, r.opts.Styles.Syntax)
	lines := n.Lines()
	for i := range lines.Len() {
		seg := lines.At(i)
		line := strings.TrimSuffix(string(seg.Value(r.src)), "\n")
		r.emitSpans(codeLine(h, line, r.room()))
	}
	if lines.Len() == 0 {
		r.emit("")
	}
	r.pop()
}

// codeLine returns the screen lines of one line of code.
func codeLine(h *Highlighter, line string, width int) [][]cells.Span {
	return cells.Fold(h.Line(cells.ExpandTabs(line, 4)), width)
}

func (r *renderer) html(n *ast.HTMLBlock) {
	html := n.Lines().Value(r.src)
	if n.HasClosure() {
		html = append(html, n.ClosureLine.Value(r.src)...)
	}
	raw := cells.ExpandTabs(strings.TrimRight(string(html), "\n"), 4)
	r.emitSpans(cells.Fold([]cells.Span{{Text: raw, Style: r.opts.Styles.HTML}}, r.room()))
}

// items renders the items of a list before end and returns the number of the next item. Empty lines between
// items are kept as they were written.
func (r *renderer) items(list *ast.List, end ast.Node) (next int) {
	number := list.Start
	if r.next > 0 {
		number, r.next = r.next, 0
	}
	r.depth++
	for item := list.FirstChild(); item != nil && item != end; item = item.NextSibling() {
		if item != list.FirstChild() && item.HasBlankPreviousLines() {
			r.emit("")
		}
		r.item(item, r.marker(list, item, number))
		number++
	}
	r.depth--
	return number
}

// marker returns the prefix of an item.
func (r *renderer) marker(list *ast.List, item ast.Node, number int) string {
	if box := taskBox(item); box != nil {
		if box.IsChecked {
			return "[x] "
		}
		return "[ ] "
	}
	if list.IsOrdered() {
		return strconv.Itoa(number) + string(rune(list.Marker)) + " "
	}
	return [...]string{"• ", "◦ ", "▪ "}[(r.depth-1)%3]
}

// taskBox returns the check box that an item begins with, or nil.
func taskBox(item ast.Node) *east.TaskCheckBox {
	if item.FirstChild() == nil {
		return nil
	}
	box, _ := item.FirstChild().FirstChild().(*east.TaskCheckBox)
	return box
}

func (r *renderer) item(item ast.Node, marker string) {
	width := cells.Width(marker)
	r.push(cells.Paint(r.opts.Styles.Marker, marker), cells.Blank(width), width)
	before := len(r.lines)
	first := true
	for n := item.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindLinkReferenceDefinition {
			continue
		}
		if !first && n.HasBlankPreviousLines() {
			r.emit("")
		}
		r.block(n)
		first = false
	}
	if len(r.lines) == before {
		r.emit("")
	}
	r.pop()
}

package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
)

// finder is a search in the transcript.
type finder struct {
	term string // lower case; "" = none
	said string // as it was typed
	hits []place
	at   int
}

func (f *finder) active() bool { return f.term != "" }

// search finds all lines that hold a text, whatever its case, and shows the last one. It
// draws every item once.
func (t *transcript) search(l *look, term string) int {
	t.find = finder{term: strings.ToLower(term), said: term}
	if term == "" {
		return 0
	}
	for i, it := range t.items {
		for n := range it.height(l) {
			if strings.Contains(strings.ToLower(ansi.Strip(it.line(l, n))), t.find.term) {
				t.find.hits = append(t.find.hits, place{i, n})
			}
		}
	}
	t.find.at = len(t.find.hits)
	t.searchStep(l, -1)
	return len(t.find.hits)
}

// searchStep goes to the next hit below or above.
func (t *transcript) searchStep(l *look, delta int) {
	n := len(t.find.hits)
	if n == 0 {
		return
	}
	t.find.at = ((t.find.at+delta)%n + n) % n
	t.show(l, t.find.hits[t.find.at])
}

// highlight marks what was found in a line.
func (f *finder) highlight(line string, style cells.Style) string {
	plain := ansi.Strip(line)
	low := strings.ToLower(plain)
	if len(low) != len(plain) || !strings.Contains(low, f.term) {
		return line // a letter whose lower case has another length: better unmarked than wrong
	}
	type hit struct{ from, to int }
	var hits []hit
	for at := 0; ; {
		i := strings.Index(low[at:], f.term)
		if i < 0 {
			break
		}
		i += at
		end := i + len(f.term)
		if utf8.RuneStart(low[i]) {
			hits = append(hits, hit{cells.Width(plain[:i]), cells.Width(plain[:end])})
		}
		at = end
	}
	for i := len(hits) - 1; i >= 0; i-- {
		line = restyle(line, hits[i].from, hits[i].to, style)
	}
	return line
}

// marking is a selection by mouse: from where the button went down to where it is now.
type marking struct {
	on, dragged bool
	from, to    place
	fromX, toX  int
}

// ordered gives the selection from top to bottom.
func (m marking) ordered() (from, to place, fromX, toX int) {
	if m.to.before(m.from) || m.to == m.from && m.toX < m.fromX {
		return m.to, m.from, m.toX, m.fromX
	}
	return m.from, m.to, m.fromX, m.toX
}

// cells gives the selected cells of a line.
func (m marking) cells(p place) (from, to int, ok bool) {
	if !m.dragged {
		return 0, 0, false
	}
	a, b, x, y := m.ordered()
	if p.before(a) || b.before(p) {
		return 0, 0, false
	}
	to = 1 << 20
	if p == a {
		from = x
	}
	if p == b {
		to = y + 1
	}
	return from, to, true
}

// selected gives the text of the selection.
func (t *transcript) selected(l *look) string {
	if !t.marked.dragged || len(t.items) == 0 {
		return ""
	}
	a, b, _, _ := t.marked.ordered()
	var out []string
	for p := a; ; {
		from, to, _ := t.marked.cells(p)
		s := ""
		if p.line >= 0 && p.item < len(t.items) && p.line < t.items[p.item].height(l) {
			line := t.items[p.item].line(l, p.line)
			s = strings.TrimRight(ansi.Strip(ansi.Cut(line, from, min(to, ansi.StringWidth(line)))), " ")
		}
		out = append(out, s)
		if p == b {
			break
		}
		q, ok := t.next(l, p)
		if !ok {
			break
		}
		p = q
	}
	return strings.Join(out, "\n")
}

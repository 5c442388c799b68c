package tui

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
)

// finder is a search in the transcript. It proceeds from the end to the beginning, a little at a time, and
// keeps no drawing of items that it only examined.
type finder struct {
	term string  // lower case; "" = none
	bare string  // its letters and digits
	said string  // as it was typed
	hits []place // the newest first
	at   int
	left int // items that were not examined yet: the first ones
}

func (f *finder) active() bool { return f.term != "" }

// searchSlice is how long a search may block the screen at once.
const searchSlice = 8 * time.Millisecond

// search finds all lines that contain a text, ignoring case, and shows the last one.
func (t *transcript) search(l *look, term string) {
	t.beginSearch(term)
	t.searchOn(l, func() bool { return false })
	t.showHit(l)
}

// beginSearch prepares a search; searchOn performs it.
func (t *transcript) beginSearch(term string) {
	low := strings.ToLower(term)
	t.find = finder{term: low, bare: string(bareText(nil, low)), said: term, left: len(t.items)}
	t.searches++
}

// searchOn examines items until all are done or enough returns true.
func (t *transcript) searchOn(l *look, enough func() bool) {
	f := &t.find
	f.left = min(f.left, len(t.items)) // some may have been removed meanwhile
	var buf []byte
	for f.left > 0 && !enough() {
		f.left--
		it := t.items[f.left]
		var may bool
		if may, buf = f.may(it, buf); !may {
			continue
		}
		before := it.cached()
		for n := it.height(l) - 1; n >= 0; n-- {
			if strings.Contains(strings.ToLower(ansi.Strip(it.line(l, n))), f.term) {
				f.hits = append(f.hits, place{f.left, n})
			}
		}
		if !before {
			it.drop()
		}
	}
}

// may reports whether an item can contain the text when it is drawn. Markup and line ends may separate the
// letters of its source, so only letters and digits are compared.
func (f *finder) may(it item, buf []byte) (bool, []byte) {
	source := it.text()
	if g, ok := it.(*groupItem); ok && g.open {
		return true, buf
	}
	if c, ok := it.(*callItem); ok {
		if c.open || c.nested != nil || c.running() {
			return true, buf
		}
		source += "\n" + c.result.Display.Diff + "\n" + c.result.Display.Summary
	}
	buf = bareText(buf[:0], source)
	return bytes.Contains(buf, []byte(f.bare)), buf
}

// bareText appends the letters and digits of a text in lower case.
func bareText(out []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out = append(out, byte(r))
		case r >= 'A' && r <= 'Z':
			out = append(out, byte(r)+'a'-'A')
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			out = utf8.AppendRune(out, unicode.ToLower(r))
		}
	}
	return out
}

// searchStep moves to the next hit below (1) or above (-1).
func (t *transcript) searchStep(l *look, delta int) {
	f := &t.find
	f.at -= delta
	if f.at >= len(f.hits) || f.at < 0 { // wrapping around: search further first
		above, n := f.at > 0, len(f.hits)
		t.searchOn(l, func() bool { return above && len(f.hits) > n })
	}
	if n := len(f.hits); n > 0 {
		f.at = (f.at%n + n) % n
	}
	t.showHit(l)
}

// showHit moves the window to the chosen hit.
func (t *transcript) showHit(l *look) {
	if t.find.at < len(t.find.hits) {
		t.show(l, t.find.hits[t.find.at])
	}
}

// findText searches the transcript: the first hit is shown at once, the others are counted while the person
// reads.
func (p searching) findText(term string) tea.Cmd {
	if term == "" {
		p.flash("usage: /find <text>; n and N go on, esc ends")
		return nil
	}
	p.tr.beginSearch(term)
	return p.search.searchOn()
}

// searchOn performs one slice of a search and schedules the next.
func (p searching) searchOn() tea.Cmd {
	f, until := &p.tr.find, time.Now().Add(searchSlice)
	none := len(f.hits) == 0
	p.tr.searchOn(&p.look, func() bool { return !time.Now().Before(until) || none && len(f.hits) > 0 })
	if none {
		p.tr.showHit(&p.look)
	}
	if f.left == 0 {
		return nil
	}
	search := p.tr.searches
	return p.background(func(context.Context) do {
		return func() tea.Cmd {
			if p.tr.searches != search || !p.tr.find.active() {
				return nil
			}
			return p.search.searchOn()
		}
	})
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

// marking is a selection by mouse: from where the button went down to the current position.
type marking struct {
	on, dragged bool
	from, to    place
	fromX, toX  int
}

// ordered returns the selection from top to bottom.
func (m marking) ordered() (from, to place, fromX, toX int) {
	if m.to.before(m.from) || m.to == m.from && m.toX < m.fromX {
		return m.to, m.from, m.toX, m.fromX
	}
	return m.from, m.to, m.fromX, m.toX
}

// cells returns the selected cells of a line.
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

// selected returns the text of the selection.
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

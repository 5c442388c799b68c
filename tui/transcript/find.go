package transcript

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
	"jcode/tui/look"
)

// Finder is a search in the transcript. It proceeds from the end to the beginning, a little at a time, and
// keeps no drawing of items that it only examined.
type Finder struct {
	Term string  // lower case; "" = none
	bare string  // its letters and digits
	Said string  // as it was typed
	Hits []Place // the newest first
	At   int
	Left int // items that were not examined yet: the first ones
}

func (f *Finder) Active() bool { return f.Term != "" }

// Found reports whether there is something to go to, or may still be.
func (f *Finder) Found() bool { return f.Active() && (len(f.Hits) > 0 || f.Left > 0) }

// current reports whether a place is the hit to which the search has gone.
func (f *Finder) current(p Place) bool { return f.At < len(f.Hits) && f.Hits[f.At] == p }

// SearchSlice is how long a search may block the screen at once.
const SearchSlice = 8 * time.Millisecond

// Search finds all lines that contain a text, ignoring case, and shows the last one.
func (t *View) Search(l *look.Look, term string) {
	t.BeginSearch(term)
	t.SearchOn(l, func() bool { return false })
	t.ShowHit(l)
}

// BeginSearch prepares a search; searchOn performs it.
func (t *View) BeginSearch(term string) {
	low := strings.ToLower(term)
	t.Find = Finder{Term: low, bare: string(bareText(nil, low)), Said: term, Left: len(t.Items)}
	t.Searches++
}

// SearchOn examines items until all are done or enough returns true.
func (t *View) SearchOn(l *look.Look, enough func() bool) {
	f := &t.Find
	f.Left = min(f.Left, len(t.Items)) // some may have been removed meanwhile
	var buf []byte
	for f.Left > 0 && !enough() {
		f.Left--
		it := t.Items[f.Left]
		var may bool
		if may, buf = f.may(it, buf); !may {
			continue
		}
		before := it.Cached()
		for n := it.Height(l) - 1; n >= 0; n-- {
			if strings.Contains(strings.ToLower(ansi.Strip(it.Line(l, n))), f.Term) {
				f.Hits = append(f.Hits, Place{f.Left, n})
			}
		}
		if !before {
			it.Drop()
		}
	}
}

// may reports whether an item can contain the text when it is drawn. Markup and line ends may separate the
// letters of its source, so only letters and digits are compared.
func (f *Finder) may(it Item, buf []byte) (bool, []byte) {
	source := it.Text()
	if g, ok := it.(*Group); ok && g.Open {
		return true, buf
	}
	if c, ok := it.(*Call); ok {
		if c.Open || c.Nested != nil || c.running() {
			return true, buf
		}
		source += "\n" + c.Result.Display.Diff + "\n" + c.Result.Display.Summary
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

// SearchStep moves to the next hit below (1) or above (-1).
func (t *View) SearchStep(l *look.Look, delta int) {
	f := &t.Find
	f.At -= delta
	if f.At >= len(f.Hits) || f.At < 0 { // wrapping around: search further first
		above, n := f.At > 0, len(f.Hits)
		t.SearchOn(l, func() bool { return above && len(f.Hits) > n })
	}
	if n := len(f.Hits); n > 0 {
		f.At = (f.At%n + n) % n
	}
	t.ShowHit(l)
}

// ShowHit moves the window to the chosen hit.
func (t *View) ShowHit(l *look.Look) {
	if t.Find.At < len(t.Find.Hits) {
		t.show(l, t.Find.Hits[t.Find.At])
	}
}

// Highlight marks what was found in a line.
func (f *Finder) Highlight(line string, style cells.Style) string {
	plain := ansi.Strip(line)
	low := strings.ToLower(plain)
	if len(low) != len(plain) || !strings.Contains(low, f.Term) {
		return line // a letter whose lower case has another length: better unmarked than wrong
	}
	type hit struct{ from, to int }
	var hits []hit
	for at := 0; ; {
		i := strings.Index(low[at:], f.Term)
		if i < 0 {
			break
		}
		i += at
		end := i + len(f.Term)
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

// Marking is a selection by mouse: from where the button went down to the current position.
type Marking struct {
	On, Dragged bool
	From, To    Place
	FromX, ToX  int
}

// ordered returns the selection from top to bottom.
func (m Marking) ordered() (from, to Place, fromX, toX int) {
	if m.To.before(m.From) || m.To == m.From && m.ToX < m.FromX {
		return m.To, m.From, m.ToX, m.FromX
	}
	return m.From, m.To, m.FromX, m.ToX
}

// cells returns the selected cells of a line.
func (m Marking) cells(p Place) (from, to int, ok bool) {
	if !m.Dragged {
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

// Selected returns the text of the selection.
func (t *View) Selected(l *look.Look) string {
	if !t.Marked.Dragged || len(t.Items) == 0 {
		return ""
	}
	a, b, _, _ := t.Marked.ordered()
	var out []string
	for p := a; ; {
		from, to, _ := t.Marked.cells(p)
		s := ""
		if p.Line >= 0 && p.Item < len(t.Items) && p.Line < t.Items[p.Item].Height(l) {
			line := t.Items[p.Item].Line(l, p.Line)
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

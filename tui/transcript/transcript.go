package transcript

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
	"jcode/tui/look"
)

// Place is a line of the transcript: a line of an item, or with line -1 the empty line above it.
type Place struct{ Item, Line int }

func (p Place) before(q Place) bool { return p.Item < q.Item || p.Item == q.Item && p.Line < q.Line }

// View is the list of what happened and the window on it. The cost of drawing depends on the visible
// lines only.
type View struct {
	Items  []Item
	Follow bool  // the window stays at the end
	top    Place // first line of the window unless it follows
	Height int   // lines of the window
	Unseen int   // items that arrived while it did not follow
	Chosen int   // index of the chosen item, -1 = none

	Find     Finder
	Searches int // how many were started
	Marked   Marking
}

func New() *View { return &View{Follow: true, Chosen: -1} }

func (t *View) Add(it Item) {
	t.Items = append(t.Items, it)
	if !t.Follow {
		t.Unseen++
	}
}

// Remove removes an item, if it is still there.
func (t *View) Remove(it Item) {
	i := slices.Index(t.Items, it)
	if i < 0 {
		return
	}
	t.Items = slices.Delete(t.Items, i, i+1)
	if t.top.Item > i {
		t.top.Item--
	}
	if t.Chosen >= len(t.Items) {
		t.Chosen = -1
	}
}

func (t *View) Last() Item {
	if len(t.Items) == 0 {
		return nil
	}
	return t.Items[len(t.Items)-1]
}

// gap reports whether an empty line separates an item from the one above.
func (t *View) gap(i int) bool {
	if i == 0 {
		return false
	}
	if _, line := t.Items[i].(*turnLine); line {
		_, answer := t.Items[i-1].(*Answer)
		return !answer
	}
	return !isCall(t.Items[i]) || !isCall(t.Items[i-1])
}

// isCall reports whether an item is a call or a row of calls.
func isCall(it Item) bool {
	switch it.(type) {
	case *Call, *Group:
		return true
	}
	return false
}

// first returns the first place of an item.
func (t *View) first(i int) Place {
	if t.gap(i) {
		return Place{i, -1}
	}
	return Place{i, 0}
}

// next moves a place down by one line; false at the end.
func (t *View) next(l *look.Look, p Place) (Place, bool) {
	if p.Line+1 < t.Items[p.Item].Height(l) {
		return Place{p.Item, p.Line + 1}, true
	}
	for i := p.Item + 1; i < len(t.Items); i++ {
		f := t.first(i)
		if f.Line < 0 || t.Items[i].Height(l) > 0 {
			return f, true
		}
	}
	return p, false
}

// prev moves a place up by one line; false at the start.
func (t *View) prev(l *look.Look, p Place) (Place, bool) {
	if p.Line > t.first(p.Item).Line {
		return Place{p.Item, p.Line - 1}, true
	}
	for i := p.Item - 1; i >= 0; i-- {
		if n := t.Items[i].Height(l); n > 0 {
			return Place{i, n - 1}, true
		}
		if t.gap(i) {
			return Place{i, -1}, true
		}
	}
	return p, false
}

// walk moves a place by n lines with next or prev; false if the transcript ends before.
func walk(l *look.Look, p Place, n int, move func(*look.Look, Place) (Place, bool)) (Place, bool) {
	for range n {
		q, ok := move(l, p)
		if !ok {
			return p, false
		}
		p = q
	}
	return p, true
}

// bottom returns the first line of the window that ends with the last line.
func (t *View) bottom(l *look.Look) Place {
	if len(t.Items) == 0 {
		return Place{}
	}
	last := len(t.Items) - 1
	p, _ := walk(l, Place{last, t.Items[last].Height(l) - 1}, t.Height-1, t.prev)
	return p
}

// clamp keeps the window inside the transcript; an item may have shrunk.
func (t *View) clamp(l *look.Look) {
	if len(t.Items) == 0 {
		t.top, t.Follow = Place{}, true
		return
	}
	t.top.Item = min(max(t.top.Item, 0), len(t.Items)-1)
	t.top.Line = min(t.top.Line, max(t.Items[t.top.Item].Height(l)-1, 0))
	if b := t.bottom(l); t.Follow || !t.top.before(b) {
		t.top, t.Follow, t.Unseen = b, true, 0
	}
}

// Scroll moves the window by lines, down when n is positive.
func (t *View) Scroll(l *look.Look, n int) {
	if len(t.Items) == 0 {
		return
	}
	t.clamp(l)
	t.Follow = false
	move := t.next
	if n < 0 {
		move, n = t.prev, -n
	}
	t.top, _ = walk(l, t.top, n, move)
	t.clamp(l)
}

func (t *View) ToTop() { t.top, t.Follow = Place{}, false }

func (t *View) ToBottom() { t.Follow, t.Unseen = true, 0 }

// show moves the window so that a place is visible, about a third from its top.
func (t *View) show(l *look.Look, p Place) {
	t.Follow = false
	t.top, _ = walk(l, p, t.Height/3, t.prev)
	t.clamp(l)
}

// Reveal scrolls to an item, which is then at the top of the window, and chooses it.
func (t *View) Reveal(l *look.Look, it Item) {
	if i := slices.Index(t.Items, it); i >= 0 {
		t.Follow, t.top, t.Chosen = false, Place{i, 0}, i
		t.clamp(l)
	}
}

// visible reports whether a place is in the window.
func (t *View) visible(l *look.Look, p Place) bool {
	at := t.top
	for range t.Height {
		if at == p {
			return true
		}
		q, ok := t.next(l, at)
		if !ok {
			return false
		}
		at = q
	}
	return false
}

// Draw returns the lines of the window, height of them.
func (t *View) Draw(l *look.Look, height int) []string {
	t.Height = height
	out := make([]string, 0, height)
	t.clamp(l)
	if len(t.Items) > 0 {
		at := t.top
		for len(out) < height {
			out = append(out, t.lineAt(l, at))
			p, ok := t.next(l, at)
			if !ok {
				break
			}
			at = p
		}
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

// lineAt returns one line with the marks of search, selection and choice.
func (t *View) lineAt(l *look.Look, p Place) string {
	if p.Line < 0 {
		return ""
	}
	it := t.Items[p.Item]
	if p.Line >= it.Height(l) {
		return ""
	}
	s := it.Line(l, p.Line)
	if t.Find.Active() {
		style := l.Theme.Match
		if t.Find.current(p) {
			style = l.Theme.Mark // the one of those that the line above the input counts
		}
		s = t.Find.Highlight(s, style)
	}
	if from, to, ok := t.Marked.cells(p); ok {
		s = restyle(s, from, to, l.Theme.Mark)
	}
	if p.Item == t.Chosen {
		s = restyle(s, 0, max(ansi.StringWidth(s), 1), l.Theme.Selected)
	}
	return s
}

// PlaceAt returns the place that is drawn in a row of the window.
func (t *View) PlaceAt(l *look.Look, row int) (Place, bool) {
	if len(t.Items) == 0 || row < 0 {
		return Place{}, false
	}
	return walk(l, t.top, row, t.next)
}

// choose moves the choice by delta items and shows it.
func (t *View) choose(l *look.Look, delta int) {
	i, step := t.Chosen+delta, delta
	if t.Chosen < 0 {
		i, step = len(t.Items)-1, -1
	}
	for i >= 0 && i < len(t.Items) && step != 0 { // the line at the end of a turn has nothing to unfold, unless notes were used
		if line, is := t.Items[i].(*turnLine); !is || len(line.used) > 0 {
			break
		}
		i += step
	}
	if len(t.Items) == 0 {
		return
	}
	if i >= len(t.Items) {
		t.Chosen = -1
		t.ToBottom()
		return
	}
	t.Chosen = max(i, 0)
	if !t.visible(l, Place{t.Chosen, 0}) {
		t.show(l, Place{t.Chosen, 0})
	}
}

// restyle applies a style to the cells from..to of a line.
func restyle(s string, from, to int, style cells.Style) string {
	if from >= to {
		return s
	}
	w := ansi.StringWidth(s)
	mid := ansi.Strip(ansi.Cut(s, from, min(to, w)))
	if to > w && w <= from {
		mid = " "
	}
	out := cells.Paint(style, mid)
	if from > 0 {
		out = ansi.Cut(s, 0, from) + "\x1b[m" + out
	}
	if to < w {
		out += ansi.Cut(s, to, w)
	}
	return out
}

// Toggle folds or unfolds the chosen item, or the last one that can fold.
func (t *View) Toggle() bool {
	if t.Chosen >= 0 && t.Chosen < len(t.Items) {
		return t.Items[t.Chosen].Toggle()
	}
	for i := len(t.Items) - 1; i >= 0; i-- {
		switch it := t.Items[i].(type) {
		case *Call, *Thought, *Group:
			return it.Toggle()
		case *turnLine:
			if it.Toggle() {
				return true
			}
		}
	}
	return false
}

// ToggleAll unfolds everything, or folds everything if all is unfolded.
func (t *View) ToggleAll() {
	var all []*foldable
	for _, it := range t.Items {
		switch it := it.(type) {
		case *Group:
			all = append(all, &it.foldable)
		case *Call:
			all = append(all, &it.foldable)
		case *Thought:
			all = append(all, &it.foldable)
		case *turnLine:
			if len(it.used) > 0 {
				all = append(all, &it.foldable)
			}
		}
	}
	open := slices.ContainsFunc(all, func(f *foldable) bool { return !f.Open })
	for _, f := range all {
		f.fold(open)
	}
}

// ScrollAct performs an action that moves the window or the choice, and reports whether it was one.
func (t *View) ScrollAct(l *look.Look, a look.Action) bool {
	if !a.Scrolls() {
		return false
	}
	page := max(t.Height-2, 1)
	switch a {
	case look.PageUp:
		t.Scroll(l, -page)
	case look.PageDown:
		t.Scroll(l, page)
	case look.LineUp:
		t.Scroll(l, -1)
	case look.LineDown:
		t.Scroll(l, 1)
	case look.Top:
		t.ToTop()
	case look.Bottom:
		t.ToBottom()
	case look.SelectPrev:
		t.choose(l, -1)
	case look.SelectNext:
		t.choose(l, 1)
	}
	return true
}

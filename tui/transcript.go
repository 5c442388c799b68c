package tui

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"jcode/internal/cells"
)

// place is a line of the transcript: a line of an item, or with line -1 the empty line above it.
type place struct{ item, line int }

func (p place) before(q place) bool { return p.item < q.item || p.item == q.item && p.line < q.line }

// transcript is the list of what happened and the window on it. The cost of drawing depends on the visible
// lines only.
type transcript struct {
	items  []item
	follow bool  // the window stays at the end
	top    place // first line of the window unless it follows
	height int   // lines of the window
	unseen int   // items that arrived while it did not follow
	chosen int   // index of the chosen item, -1 = none

	find     finder
	searches int // how many were started
	marked   marking
}

func newTranscript() *transcript { return &transcript{follow: true, chosen: -1} }

func (t *transcript) add(it item) {
	t.items = append(t.items, it)
	if !t.follow {
		t.unseen++
	}
}

// remove removes an item, if it is still there.
func (t *transcript) remove(it item) {
	i := slices.Index(t.items, it)
	if i < 0 {
		return
	}
	t.items = slices.Delete(t.items, i, i+1)
	if t.top.item > i {
		t.top.item--
	}
	if t.chosen >= len(t.items) {
		t.chosen = -1
	}
}

func (t *transcript) last() item {
	if len(t.items) == 0 {
		return nil
	}
	return t.items[len(t.items)-1]
}

// gap reports whether an empty line separates an item from the one above.
func (t *transcript) gap(i int) bool {
	if i == 0 {
		return false
	}
	if _, line := t.items[i].(*turnLine); line {
		_, answer := t.items[i-1].(*answerItem)
		return !answer
	}
	return !isCall(t.items[i]) || !isCall(t.items[i-1])
}

// isCall reports whether an item is a call or a row of calls.
func isCall(it item) bool {
	switch it.(type) {
	case *callItem, *groupItem:
		return true
	}
	return false
}

// first returns the first place of an item.
func (t *transcript) first(i int) place {
	if t.gap(i) {
		return place{i, -1}
	}
	return place{i, 0}
}

// next moves a place down by one line; false at the end.
func (t *transcript) next(l *look, p place) (place, bool) {
	if p.line+1 < t.items[p.item].height(l) {
		return place{p.item, p.line + 1}, true
	}
	for i := p.item + 1; i < len(t.items); i++ {
		f := t.first(i)
		if f.line < 0 || t.items[i].height(l) > 0 {
			return f, true
		}
	}
	return p, false
}

// prev moves a place up by one line; false at the start.
func (t *transcript) prev(l *look, p place) (place, bool) {
	if p.line > t.first(p.item).line {
		return place{p.item, p.line - 1}, true
	}
	for i := p.item - 1; i >= 0; i-- {
		if n := t.items[i].height(l); n > 0 {
			return place{i, n - 1}, true
		}
		if t.gap(i) {
			return place{i, -1}, true
		}
	}
	return p, false
}

// walk moves a place by n lines with next or prev; false if the transcript ends before.
func walk(l *look, p place, n int, move func(*look, place) (place, bool)) (place, bool) {
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
func (t *transcript) bottom(l *look) place {
	if len(t.items) == 0 {
		return place{}
	}
	last := len(t.items) - 1
	p, _ := walk(l, place{last, t.items[last].height(l) - 1}, t.height-1, t.prev)
	return p
}

// clamp keeps the window inside the transcript; an item may have shrunk.
func (t *transcript) clamp(l *look) {
	if len(t.items) == 0 {
		t.top, t.follow = place{}, true
		return
	}
	t.top.item = min(max(t.top.item, 0), len(t.items)-1)
	t.top.line = min(t.top.line, max(t.items[t.top.item].height(l)-1, 0))
	if b := t.bottom(l); t.follow || !t.top.before(b) {
		t.top, t.follow, t.unseen = b, true, 0
	}
}

// scroll moves the window by lines, down when n is positive.
func (t *transcript) scroll(l *look, n int) {
	if len(t.items) == 0 {
		return
	}
	t.clamp(l)
	t.follow = false
	move := t.next
	if n < 0 {
		move, n = t.prev, -n
	}
	t.top, _ = walk(l, t.top, n, move)
	t.clamp(l)
}

func (t *transcript) toTop() { t.top, t.follow = place{}, false }

func (t *transcript) toBottom() { t.follow, t.unseen = true, 0 }

// show moves the window so that a place is visible, about a third from its top.
func (t *transcript) show(l *look, p place) {
	t.follow = false
	t.top, _ = walk(l, p, t.height/3, t.prev)
	t.clamp(l)
}

// visible reports whether a place is in the window.
func (t *transcript) visible(l *look, p place) bool {
	at := t.top
	for range t.height {
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

// draw returns the lines of the window, height of them.
func (t *transcript) draw(l *look, height int) []string {
	t.height = height
	out := make([]string, 0, height)
	t.clamp(l)
	if len(t.items) > 0 {
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
func (t *transcript) lineAt(l *look, p place) string {
	if p.line < 0 {
		return ""
	}
	it := t.items[p.item]
	if p.line >= it.height(l) {
		return ""
	}
	s := it.line(l, p.line)
	if t.find.active() {
		s = t.find.highlight(s, l.theme.Match)
	}
	if from, to, ok := t.marked.cells(p); ok {
		s = restyle(s, from, to, l.theme.Mark)
	}
	if p.item == t.chosen {
		s = restyle(s, 0, max(ansi.StringWidth(s), 1), l.theme.Selected)
	}
	return s
}

// placeAt returns the place that is drawn in a row of the window.
func (t *transcript) placeAt(l *look, row int) (place, bool) {
	if len(t.items) == 0 || row < 0 {
		return place{}, false
	}
	return walk(l, t.top, row, t.next)
}

// choose moves the choice by delta items and shows it.
func (t *transcript) choose(l *look, delta int) {
	i, step := t.chosen+delta, delta
	if t.chosen < 0 {
		i, step = len(t.items)-1, -1
	}
	for i >= 0 && i < len(t.items) && step != 0 { // the line at the end of a turn has nothing to unfold
		if _, line := t.items[i].(*turnLine); !line {
			break
		}
		i += step
	}
	if len(t.items) == 0 {
		return
	}
	if i >= len(t.items) {
		t.chosen = -1
		t.toBottom()
		return
	}
	t.chosen = max(i, 0)
	if !t.visible(l, place{t.chosen, 0}) {
		t.show(l, place{t.chosen, 0})
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

// toggle folds or unfolds the chosen item, or the last one that can fold.
func (t *transcript) toggle() bool {
	if t.chosen >= 0 && t.chosen < len(t.items) {
		return t.items[t.chosen].toggle()
	}
	for i := len(t.items) - 1; i >= 0; i-- {
		switch it := t.items[i].(type) {
		case *callItem, *thoughtItem, *groupItem:
			return it.toggle()
		}
	}
	return false
}

// toggleAll unfolds everything, or folds everything if all is unfolded.
func (t *transcript) toggleAll() {
	var all []*foldable
	for _, it := range t.items {
		switch it := it.(type) {
		case *groupItem:
			all = append(all, &it.foldable)
		case *callItem:
			all = append(all, &it.foldable)
		case *thoughtItem:
			all = append(all, &it.foldable)
		}
	}
	open := slices.ContainsFunc(all, func(f *foldable) bool { return !f.open })
	for _, f := range all {
		f.fold(open)
	}
}

// scrollAct performs an action that moves the window or the choice, and reports whether it was one.
func (t *transcript) scrollAct(l *look, a action) bool {
	if !a.scrolls() {
		return false
	}
	page := max(t.height-2, 1)
	switch a {
	case actPageUp:
		t.scroll(l, -page)
	case actPageDown:
		t.scroll(l, page)
	case actLineUp:
		t.scroll(l, -1)
	case actLineDown:
		t.scroll(l, 1)
	case actTop:
		t.toTop()
	case actBottom:
		t.toBottom()
	case actSelectPrev:
		t.choose(l, -1)
	case actSelectNext:
		t.choose(l, 1)
	}
	return true
}

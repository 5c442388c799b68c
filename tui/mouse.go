package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// mouse scrolls, chooses and selects.
func (p *outside) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		n := 3
		if m.Button == tea.MouseWheelUp {
			n = -3
		}
		if d, ok := p.front().(wheeled); ok && m.Y >= p.tr.height {
			d.wheel(p.program, n)
			return nil
		}
		p.tr.scroll(&p.look, n)
	case tea.MouseClickMsg:
		p.tr.marked = marking{}
		if at, ok := p.tr.placeAt(&p.look, m.Y); ok && m.Button == tea.MouseLeft && m.Y < p.tr.height {
			p.tr.marked = marking{on: true, from: at, to: at, fromX: m.X, toX: m.X}
		}
	case tea.MouseMotionMsg:
		if p.tr.marked.on {
			if at, ok := p.tr.placeAt(&p.look, min(max(m.Y, 0), p.tr.height-1)); ok {
				p.tr.marked.to, p.tr.marked.toX, p.tr.marked.dragged = at, m.X, true
			}
		}
	case tea.MouseReleaseMsg:
		if p.tr.marked.on && p.tr.marked.dragged {
			p.tr.marked.on = false
			if s := p.tr.selected(&p.look); strings.TrimSpace(s) != "" {
				return p.outside.copyText(s)
			}
		}
		if p.tr.marked.on { // a click on something folded unfolds it
			p.tr.marked = marking{}
			if at, ok := p.tr.placeAt(&p.look, m.Y); ok && at.line == 0 {
				p.tr.items[at.item].toggle()
			}
		}
	}
	return nil
}

func (pk *picker) wheel(h host, n int) {
	act := actDown
	if n < 0 {
		act = actUp
	}
	for range 3 {
		if at := pk.at; n < 0 && at == 0 || n > 0 && at >= len(pk.shown)-1 {
			return // the wheel does not wrap around
		}
		pk.moveKey(h, act)
	}
}

// Dialogs that scroll by lines; drawing keeps the position inside the text.
func (d *diffView) wheel(_ host, n int)  { d.scroll = max(d.scroll+n, 0) }
func (a *approval) wheel(_ host, n int)  { a.text.move(n) }
func (q *question) wheel(_ host, n int)  { q.text.move(n) }
func (v *trustView) wheel(_ host, n int) { v.text.move(n) }

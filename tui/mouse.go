package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/look"
	"jcode/tui/transcript"
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
		if d, ok := p.front().(wheeled); ok && m.Y >= p.tr.Height {
			d.wheel(p.program, n)
			return nil
		}
		p.tr.Scroll(&p.look, n)
	case tea.MouseClickMsg:
		p.tr.Marked = transcript.Marking{}
		if at, ok := p.tr.PlaceAt(&p.look, m.Y); ok && m.Button == tea.MouseLeft && m.Y < p.tr.Height {
			p.tr.Marked = transcript.Marking{On: true, From: at, To: at, FromX: m.X, ToX: m.X}
		}
	case tea.MouseMotionMsg:
		if p.tr.Marked.On {
			if at, ok := p.tr.PlaceAt(&p.look, min(max(m.Y, 0), p.tr.Height-1)); ok {
				p.tr.Marked.To, p.tr.Marked.ToX, p.tr.Marked.Dragged = at, m.X, true
			}
		}
	case tea.MouseReleaseMsg:
		if p.tr.Marked.On && p.tr.Marked.Dragged {
			p.tr.Marked.On = false
			if s := p.tr.Selected(&p.look); strings.TrimSpace(s) != "" {
				return p.outside.copyText(s)
			}
		}
		if p.tr.Marked.On { // a click on something folded unfolds it
			p.tr.Marked = transcript.Marking{}
			if at, ok := p.tr.PlaceAt(&p.look, m.Y); ok && at.Line == 0 {
				p.tr.Items[at.Item].Toggle()
			}
		}
	}
	return nil
}

func (pk *picker) wheel(h host, n int) {
	act := look.Down
	if n < 0 {
		act = look.Up
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

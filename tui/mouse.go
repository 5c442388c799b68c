package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/dialog"
	"jcode/tui/transcript"
)

// mouse scrolls, chooses and selects.
func (p *program) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		n := 3
		if m.Button == tea.MouseWheelUp {
			n = -3
		}
		if d, ok := p.stack.Front().(dialog.Wheeled); ok && m.Y >= p.tr.Height {
			d.Wheel(p, n)
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

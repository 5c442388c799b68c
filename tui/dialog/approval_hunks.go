package dialog

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"jcode/internal/cells"
	"jcode/internal/diff"
	"jcode/tools"
	"jcode/tui/look"
	"jcode/tui/transcript"
)

// hunks is the choice of single hunks of a change.
type hunks struct {
	parts  []diff.Part
	taken  []bool
	at     int
	window review
}

// newHunks opens the choice. All hunks are taken at first, or those of last.
func newHunks(q *tools.Question, last []int) *hunks {
	h := &hunks{parts: q.Hunks()}
	h.taken = make([]bool, len(h.parts))
	for i := range h.taken {
		h.taken[i] = last == nil
	}
	for _, i := range last {
		h.taken[i] = true
	}
	return h
}

// count returns how many are taken.
func (h *hunks) count() (n int) {
	for _, is := range h.taken {
		if is {
			n++
		}
	}
	return n
}

// numbers returns those that are taken; nil means all.
func (h *hunks) numbers() []int {
	if h.count() == len(h.taken) {
		return nil
	}
	var out []int
	for i, is := range h.taken {
		if is {
			out = append(out, i)
		}
	}
	return out
}

// key handles a key of the choice and reports whether it was one.
func (h *hunks) key(k tea.KeyPressMsg, act look.Action) bool {
	set := func(take bool) {
		h.taken[h.at] = take
		h.move(1)
	}
	switch {
	case act == look.Up:
		h.move(-1)
	case act == look.Down:
		h.move(1)
	case act != "":
		return h.window.scrollKey(act)
	case k.Text == " ":
		h.taken[h.at] = !h.taken[h.at]
		h.window.rows = nil
	case k.Text == "y":
		set(true)
	case k.Text == "n":
		set(false)
	default:
		return false
	}
	return true
}

func (h *hunks) move(by int) {
	h.at = min(max(h.at+by, 0), len(h.parts)-1)
	h.window.rows = nil
}

// draw shows each hunk below a row that says whether it is taken; the chosen one is in the window.
func (h *hunks) draw(l *look.Look, width, height int) []string {
	if h.window.rows == nil || h.window.stamp != l.Stamp || h.window.width != width {
		h.window.stamp, h.window.width = l.Stamp, width
		h.window.rows = h.window.rows[:0]
		for i, p := range h.parts {
			if i == h.at {
				h.window.scroll = max(len(h.window.rows)-1, 0)
			}
			h.window.rows = append(h.window.rows, h.head(l, i, width))
			if h.taken[i] || i == h.at {
				h.window.rows = append(h.window.rows, look.Indent(transcript.DrawDiff(p.Diff(), l, max(width-4, 1), unlimited), "    ")...)
			}
		}
	}
	return h.window.draw(l, width, height, 0)
}

// head is the row above a hunk.
func (h *hunks) head(l *look.Look, i, width int) string {
	mark, style := "[ ] ", l.Theme.Faint
	if h.taken[i] {
		mark, style = "[x] ", l.Theme.Strong
	}
	p := h.parts[i]
	tail := "  +" + strconv.Itoa(p.Added) + " -" + strconv.Itoa(p.Removed)
	if !h.taken[i] {
		tail += "  left out"
	}
	lead := " "
	if i == h.at {
		lead, style = "›", l.Theme.Selected
	}
	name := cells.FitStart(look.VisibleName(p.Name)+":"+strconv.Itoa(p.First()), max(width-6-cells.Width(tail), 1))
	row := []cells.Span{{Text: lead + " " + mark + name, Style: style}, {Text: tail, Style: style}}
	if i == h.at {
		row = look.Filled(row, style, width)
	}
	return cells.Render(look.Clip(row, width))
}

// hunkKey chooses hunks; Enter goes back to the answers with them, Esc without.
func (a *Approval) hunkKey(h host, k tea.KeyPressMsg, act look.Action) {
	switch act {
	case look.Submit:
		if a.hunks.count() == 0 {
			h.Flash("no hunk is taken: esc, and n refuses the call")
			return
		}
		a.Hunks = a.hunks.numbers()
		a.hunks = nil
		if a.Hunks != nil {
			a.dropGrants()
		}
		a.lay()
	case look.Interrupt, look.Cancel:
		a.hunks = nil
	default:
		a.hunks.key(k, act)
	}
}

// chosenHunks says how many hunks were chosen; "" for all.
func (a *Approval) chosenHunks() string {
	if a.Hunks == nil {
		return ""
	}
	return strconv.Itoa(len(a.Hunks)) + " of " + strconv.Itoa(len(a.Asked.Hunks())) + " hunks"
}

// written is the diff of what would be written.
func (a *Approval) written() string {
	if a.Hunks == nil {
		return a.Asked.Diff
	}
	parts, out, name := a.Asked.Hunks(), "", ""
	for _, i := range a.Hunks {
		p := parts[i]
		if p.Name != name {
			out, name = out+"--- a/"+p.Name+"\n+++ b/"+p.Name+"\n", p.Name
		}
		out += p.Text
	}
	return out
}

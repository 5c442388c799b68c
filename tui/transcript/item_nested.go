package transcript

import (
	"slices"
	"strings"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/look"
)

// Nested is what is shown of a sub-agent inside its call.
type Nested struct {
	calls []*callState
	total int
	text  string
}

// draw shows a sub-agent's calls and the end of its text.
func (n *Nested) draw(l *look.Look, open bool) []string {
	inner := *l
	inner.Width = max(l.Width-4, 1)
	calls := n.calls
	if !open && len(calls) > look.NestedShown {
		calls = calls[len(calls)-look.NestedShown:]
	}
	var out []string
	if hidden := n.total - len(calls); hidden > 0 {
		out = append(out, cells.Paint(l.Theme.Faint, cells.Fit("    … "+text.Count(hidden, "earlier call")+l.Unfolds(), l.Width)))
	}
	for _, c := range calls {
		out = append(out, "    "+c.head(&inner))
	}
	if n.text != "" {
		last := look.LastLines(strings.TrimSpace(text.Clean(n.text)), 1)[0]
		out = append(out, "    "+cells.Paint(l.Theme.Faint, cells.Fit(cells.ExpandTabs(last, 4), inner.Width)))
	}
	return out
}

// Event shows what a sub-agent did.
func (n *Nested) Event(ev event.Event) {
	switch ev := ev.(type) {
	case event.CallStart:
		c := newCallState(ev.ID, ev.Name, ev.Arguments, ev.At)
		n.calls = append(n.calls, &c)
		n.total++
		n.text = ""
		if len(n.calls) > 50 {
			n.calls = append([]*callState(nil), n.calls[25:]...)
		}
	case event.CallEnd:
		for _, c := range n.calls {
			if c.ID == ev.ID {
				c.end(ev)
			}
		}
	case event.TextDelta:
		n.text = text.CutTail(n.text+ev.Text, 2000)
	}
}

// end takes away what was still going on: the call's result says how the agent ended, and what an agent in the
// background does from now on is shown elsewhere.
func (n *Nested) end() {
	if n == nil {
		return
	}
	n.text = ""
	n.calls = slices.DeleteFunc(n.calls, func(c *callState) bool {
		if c.running() {
			n.total--
		}
		return c.running()
	})
}

package tui

import (
	"strings"

	"jcode/agent/event"
	"jcode/internal/cells"
	"jcode/internal/text"
)

// nested is what is shown of a sub-agent inside its call.
type nested struct {
	calls []*callItem
	total int
	text  string
}

// draw shows a sub-agent's calls and the end of its text.
func (n *nested) draw(l *look, open bool) []string {
	inner := *l
	inner.width = max(l.width-4, 1)
	calls := n.calls
	if !open && len(calls) > nestedShown {
		calls = calls[len(calls)-nestedShown:]
	}
	var out []string
	if hidden := n.total - len(calls); hidden > 0 {
		out = append(out, cells.Paint(l.theme.Faint, cells.Fit("    … "+count(hidden, "earlier call")+l.unfolds(), l.width)))
	}
	for _, c := range calls {
		out = append(out, "    "+c.head(&inner))
	}
	if n.text != "" {
		last := lastLines(strings.TrimSpace(text.Clean(n.text)), 1)[0]
		out = append(out, "    "+cells.Paint(l.theme.Faint, cells.Fit(cells.ExpandTabs(last, 4), inner.width)))
	}
	return out
}

// event shows what a sub-agent did.
func (n *nested) event(ev event.Event) {
	switch ev := ev.(type) {
	case event.CallStart:
		n.calls = append(n.calls, newCall(ev.ID, ev.Name, ev.Arguments, ev.At))
		n.total++
		n.text = ""
		if len(n.calls) > 50 {
			n.calls = append([]*callItem(nil), n.calls[25:]...)
		}
	case event.CallEnd:
		for _, c := range n.calls {
			if c.id == ev.ID {
				c.end(ev)
			}
		}
	case event.TextDelta:
		n.text = text.CutTail(n.text+ev.Text, 2000)
	}
}

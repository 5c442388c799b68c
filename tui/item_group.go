package tui

import (
	"slices"
	"strings"
	"time"

	"jcode/internal/toolcard"

	"jcode/internal/cells"
)

// groupItem is a run of reads and searches in one row that grows: what was read and searched for. Unfolded it
// shows each of them. Thinking between them belongs to it.
type groupItem struct {
	foldable
	members []item // callItems and finished thoughtItems, in order
	frame   int    // spin at which lines were drawn while one runs
}

// addCall adds a call: to the row of the preceding ones if all of them only look.
func (t *transcript) addCall(c *callItem) {
	if toolcard.Of(c.name).Looks {
		if g := t.groupFor(); g != nil {
			g.members = append(g.members, c)
			c.group = g
			g.drop()
			return
		}
	}
	t.add(c)
}

// groupFor finds the row that another look joins, or creates it from the look before. Thinking in between is
// moved into it.
func (t *transcript) groupFor() *groupItem {
	at := len(t.items) - 1
	for at >= 0 {
		if th, ok := t.items[at].(*thoughtItem); !ok || !th.done || th.open {
			break
		}
		at--
	}
	if at < 0 {
		return nil
	}
	between := slices.Clone(t.items[at+1:])
	var g *groupItem
	switch it := t.items[at].(type) {
	case *groupItem:
		g = it
	case *callItem:
		if !toolcard.Of(it.name).Looks || it.open || it.nested != nil || !it.running() && it.status != "done" || it.result.Failed {
			return nil
		}
		g = &groupItem{members: []item{it}}
		it.group = g
		t.items[at] = g
	default:
		return nil
	}
	if g.open {
		return nil // the person reads it: what follows goes below
	}
	g.members = append(g.members, between...)
	t.items = t.items[:at+1]
	t.chosen = min(t.chosen, at)
	if t.top.item > at {
		t.top = place{at, 0}
	}
	g.drop()
	return g
}

// calls returns the members that are calls.
func (g *groupItem) calls() []*callItem {
	var out []*callItem
	for _, m := range g.members {
		if c, ok := m.(*callItem); ok {
			out = append(out, c)
		}
	}
	return out
}

func (g *groupItem) running() bool {
	return slices.ContainsFunc(g.calls(), (*callItem).running)
}

func (g *groupItem) height(l *look) int {
	if g.running() && g.frame != l.spin {
		g.drop()
		g.frame = l.spin
	}
	return g.fill(l, g.drawLines)
}

func (g *groupItem) text() string {
	var out []string
	for _, m := range g.members {
		out = append(out, m.text())
	}
	return strings.Join(out, "\n")
}

func (g *groupItem) drawLines(l *look) []string {
	lines := []string{g.head(l)}
	inner := *l
	inner.width = max(l.width-2, 1)
	for _, m := range g.members {
		c, isCall := m.(*callItem)
		switch {
		case !g.open && !(isCall && c.failed() && !c.running()):
			continue
		case !g.open: // failures are shown
			lines = append(lines, indent(c.drawLines(&inner), "  ")...)
		default:
			for i := range m.height(&inner) {
				lines = append(lines, "  "+m.line(&inner, i))
			}
			m.drop() // it was drawn for another width than its own
		}
	}
	return lines
}

// head returns the row: a mark, how much of what, the names, and how long it took.
func (g *groupItem) head(l *look) string {
	calls := g.calls()
	mark, style := "✓", l.theme.Good
	var took time.Duration
	counts, order := map[string]int{}, []string(nil)
	var names []string
	for _, c := range calls {
		if m, s := c.mark(l); c.running() || c.waits {
			mark, style = m, s
		}
		took += c.took
		if counts[c.name]++; counts[c.name] == 1 {
			order = append(order, c.name)
		}
		if name := c.brief; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	what := make([]string, len(order))
	for i, tool := range order {
		what[i] = tool
		if counts[tool] > 1 {
			what[i] += " " + itoa(counts[tool])
		}
	}
	right := ""
	if took >= 100*time.Millisecond {
		right = seconds(took)
	}
	if l.unfold != "" && !g.open {
		right = strings.TrimSpace(right + l.unfolds())
	}
	name := strings.Join(what, ", ")
	spans := []cells.Span{{Text: mark, Style: style}, {Text: " "}, {Text: name, Style: l.theme.Strong}}
	room := l.width - 3 - cells.Width(name)
	if w := cells.Width(right); w > 0 {
		room -= w + 2
	}
	spans = append(spans, cells.Span{Text: " " + cells.FitStart(oneLine(strings.Join(names, " · ")), max(room, 0))}) // the last ones stay visible
	if right != "" {
		spans = append(spans, cells.Span{Text: "  " + right, Style: l.theme.Faint})
	}
	return cells.Render(clip(spans, l.width))
}

package transcript

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/cells"
	"jcode/internal/toolcard"
	"jcode/tui/look"
)

// Group is a run of reads and searches in one row that grows: what was read and searched for. Unfolded it
// shows each of them. Thinking between them belongs to it.
type Group struct {
	foldable
	Members []Item // calls and finished thoughts, in order
	frame   int    // spin at which lines were drawn while one runs
}

// AddCall adds a call: to the row of the preceding ones if all of them only look.
func (t *View) AddCall(c *Call) {
	if toolcard.Of(c.Name).Looks {
		if g := t.groupFor(); g != nil {
			g.Members = append(g.Members, c)
			c.group = g
			g.Drop()
			return
		}
	}
	t.Add(c)
}

// groupFor finds the row that another look joins, or creates it from the look before. Thinking in between is
// moved into it.
func (t *View) groupFor() *Group {
	at := len(t.Items) - 1
	for at >= 0 {
		if th, ok := t.Items[at].(*Thought); !ok || !th.Done || th.Open {
			break
		}
		at--
	}
	if at < 0 {
		return nil
	}
	between := slices.Clone(t.Items[at+1:])
	var g *Group
	switch it := t.Items[at].(type) {
	case *Group:
		g = it
	case *Call:
		if !toolcard.Of(it.Name).Looks || it.Open || it.Nested != nil || !it.running() && it.Status != "done" || it.Result.Failed {
			return nil
		}
		g = &Group{Members: []Item{it}}
		it.group = g
		t.Items[at] = g
	default:
		return nil
	}
	if g.Open {
		return nil // the person reads it: what follows goes below
	}
	g.Members = append(g.Members, between...)
	t.Items = t.Items[:at+1]
	t.Chosen = min(t.Chosen, at)
	if t.top.Item > at {
		t.top = Place{at, 0}
	}
	g.Drop()
	return g
}

// calls returns the members that are calls.
func (g *Group) calls() []*Call {
	var out []*Call
	for _, m := range g.Members {
		if c, ok := m.(*Call); ok {
			out = append(out, c)
		}
	}
	return out
}

func (g *Group) running() bool {
	return slices.ContainsFunc(g.calls(), (*Call).running)
}

func (g *Group) Height(l *look.Look) int {
	if g.running() && g.frame != l.Spin {
		g.Drop()
		g.frame = l.Spin
	}
	return g.fill(l, g.drawLines)
}

func (g *Group) Text() string {
	var out []string
	for _, m := range g.Members {
		out = append(out, m.Text())
	}
	return strings.Join(out, "\n")
}

func (g *Group) drawLines(l *look.Look) []string {
	lines := []string{g.head(l)}
	inner := *l
	inner.Width = max(l.Width-2, 1)
	for _, m := range g.Members {
		c, isCall := m.(*Call)
		switch {
		case !g.Open && !(isCall && c.Failed() && !c.running()):
			continue
		case !g.Open: // failures are shown
			lines = append(lines, look.Indent(c.drawLines(&inner), "  ")...)
		default:
			for i := range m.Height(&inner) {
				lines = append(lines, "  "+m.Line(&inner, i))
			}
			m.Drop() // it was drawn for another width than its own
		}
	}
	return lines
}

// head returns the row: a mark, how much of what, the names, and how long it took.
func (g *Group) head(l *look.Look) string {
	calls := g.calls()
	mark, style := "✓", l.Theme.Good
	var took time.Duration
	counts, order := map[string]int{}, []string(nil)
	var names []string
	for _, c := range calls {
		if m, s := c.mark(l); c.running() || c.Waits {
			mark, style = m, s
		}
		took += c.Took
		if counts[c.Name]++; counts[c.Name] == 1 {
			order = append(order, c.Name)
		}
		if name := c.Brief; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	what := make([]string, len(order))
	for i, tool := range order {
		what[i] = tool
		if counts[tool] > 1 {
			what[i] += " " + strconv.Itoa(counts[tool])
		}
	}
	right := ""
	if took >= 100*time.Millisecond {
		right = look.Seconds(took)
	}
	if l.Unfold != "" && !g.Open {
		right = strings.TrimSpace(right + l.Unfolds())
	}
	name := strings.Join(what, ", ")
	spans := []cells.Span{{Text: mark, Style: style}, {Text: " "}, {Text: name, Style: l.Theme.Strong}}
	room := l.Width - 3 - cells.Width(name)
	if w := cells.Width(right); w > 0 {
		room -= w + 2
	}
	spans = append(spans, cells.Span{Text: " " + cells.FitStart(look.OneLine(strings.Join(names, " · ")), max(room, 0))}) // the last ones stay visible
	if right != "" {
		spans = append(spans, cells.Span{Text: "  " + right, Style: l.Theme.Faint})
	}
	return cells.Render(look.Clip(spans, l.Width))
}

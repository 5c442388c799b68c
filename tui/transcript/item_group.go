package transcript

import (
	"path"
	"slices"
	"strings"
	"time"

	"jcode/internal/cells"
	"jcode/internal/text"
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

// head returns the row: a mark, what was done as a sentence, and how long it took.
func (g *Group) head(l *look.Look) string {
	calls := g.calls()
	mark, style := "✓", l.Theme.Good
	var took time.Duration
	for _, c := range calls {
		if m, s := c.mark(l); c.running() || c.Waits {
			mark, style = m, s
		}
		took += c.Took
	}
	right := ""
	if took >= 100*time.Millisecond {
		right = look.Seconds(took)
	}
	if l.Unfold != "" && !g.Open {
		right = strings.TrimSpace(right + l.Unfolds())
	}
	room := l.Width - 2
	if right != "" {
		room -= cells.Width(right) + 2
	}
	spans := append([]cells.Span{{Text: mark, Style: style}, {Text: " "}}, sentence(l, deedsOf(calls), max(room, 0))...)
	if right != "" {
		spans = append(spans, cells.Span{Text: "  " + right, Style: l.Theme.Faint})
	}
	return cells.Render(look.Clip(spans, l.Width))
}

// deed is what one tool did in a group.
type deed struct {
	tool  string
	names []string // each once, in order
	calls int
}

func deedsOf(calls []*Call) (out []deed) {
	for _, c := range calls {
		i := slices.IndexFunc(out, func(d deed) bool { return d.tool == c.Name })
		if i < 0 {
			i, out = len(out), append(out, deed{tool: c.Name})
		}
		out[i].calls++
		if name := look.OneLine(c.Brief); name != "" && !slices.Contains(out[i].names, name) {
			out[i].names = append(out[i].names, name)
		}
	}
	return out
}

// sentence says what was done: "read client.go · grep Fetch · ls". What is too long is counted, and cut in its middle.
func sentence(l *look.Look, deeds []deed, width int) []cells.Span {
	for _, count := range []bool{false, true} {
		var row []cells.Span
		for i, d := range deeds {
			if i > 0 {
				row = append(row, cells.Span{Text: " · ", Style: l.Theme.Faint})
			}
			row = append(row, cells.Span{Text: d.tool, Style: l.Theme.Strong})
			switch {
			case count && d.calls > 2:
				how, which := d.counted()
				row = append(row, cells.Span{Text: how}, cells.Span{Text: which, Style: l.Theme.Faint})
			case len(d.names) > 0:
				row = append(row, l.Named(cells.Span{Text: " " + strings.Join(d.names, ", ")})...)
			case d.calls > 1:
				row = append(row, cells.Span{Text: " " + text.Count(d.calls, "time")})
			}
		}
		over := cells.SpansWidth(row) - width
		if over <= 0 {
			return row
		}
		if count {
			return shortened(row, over)
		}
	}
	return nil
}

// counted says how often a tool was used, where that is the same for all, and the first and the last of what it used.
func (d deed) counted() (how, which string) {
	how = " " + text.Count(d.calls, "time")
	if toolcard.Of(d.tool).Kind == toolcard.Read {
		how = " " + text.Count(max(len(d.names), 1), "file")
		if d.tool == "ls" {
			how = " " + text.Count(max(len(d.names), 1), "folder")
		}
	}
	if len(d.names) == 0 {
		return how, ""
	}
	first, last := d.names[0], d.names[len(d.names)-1]
	folder := path.Dir(first)
	for _, name := range d.names {
		if path.Dir(name) != folder {
			folder = "."
		}
	}
	if folder != "." {
		how += " in " + folder
		first, last = path.Base(first), path.Base(last)
	}
	if len(d.names) == 1 {
		return how, "  " + first
	}
	return how, "  " + first + " … " + last
}

// shortened takes cells out of a row, from the middles of its longest parts.
func shortened(row []cells.Span, over int) []cells.Span {
	for over > 0 {
		longest := 0
		for i := range row {
			if cells.Width(row[i].Text) > cells.Width(row[longest].Text) {
				longest = i
			}
		}
		was := cells.Width(row[longest].Text)
		if was < 6 {
			break
		}
		row[longest].Text = cells.FitMiddle(row[longest].Text, max(was-over, was/2, 5))
		if now := cells.Width(row[longest].Text); now < was {
			over -= was - now
			continue
		}
		break
	}
	return row
}

package tui

import (
	"slices"

	"jcode/agent/roster"
	"jcode/internal/cells"
	"jcode/internal/text"
	"jcode/tui/dialog"
	"jcode/tui/look"
)

// agentChanged updates the state of a sub-agent.
func (p *listener) agentChanged(s roster.State) {
	if i := slices.IndexFunc(p.agents, func(known roster.State) bool { return known.Name == s.Name }); i >= 0 {
		p.agents[i] = s
	} else {
		p.agents = append(p.agents, s)
	}
	slices.SortStableFunc(p.agents, roster.State.Compare)
}

// agentLines draws the strip, in a number of rows at most: sub-agents that work, wait, or have something to merge.
func (p *composer) agentLines(rows int) []string {
	var shown []roster.State
	for _, s := range p.agents {
		if s.Running() || s.Changed || s.Status == roster.Left {
			shown = append(shown, s)
		}
	}
	rows = min(rows, look.AgentsShown)
	if len(shown) > rows && rows < look.AgentsShown {
		rows-- // for how many more there are
	}
	if rows < 0 {
		return nil
	}
	names, took := 0, 0
	for _, s := range shown[:min(len(shown), rows)] {
		names = max(names, cells.Width(s.Name))
		took = max(took, cells.Width(s.Took(p.look.Now).String()))
	}
	names = min(names, max(p.width/3, 6))
	hint := ""
	if key := p.keys.First(look.Agents); key != "" && len(p.stack.Later) == 0 { // then the key answers the question
		hint = "  (" + key + " shows them)"
	}
	var out []string
	for i, s := range shown {
		if i == rows {
			what := "more agent"
			if i == 0 {
				what = "agent"
			}
			out = append(out, cells.Paint(p.look.Theme.Faint, cells.Fit("  … "+text.Count(len(shown)-i, what), p.width)))
			break
		}
		out = append(out, p.agentLine(s, names, took, hint))
		hint = cells.Blank(cells.Width(hint)) // once is enough; the columns stay in line
	}
	return out
}

// agentLine draws one agent: its name, what it does, how long, and the tokens, in columns.
func (p *composer) agentLine(s roster.State, names, took int, hint string) string {
	mark, style := dialog.Mark(&p.look, string(s.Status))
	name := cells.Fit(s.Name, names)
	right := ""
	if d := s.Took(p.look.Now); d > 0 {
		right = d.String()
	}
	right = cells.Blank(took-cells.Width(right)) + right
	tokens := ""
	if s.Tokens > 0 {
		tokens = look.Thousands(s.Tokens)
	}
	right += cells.Blank(max(8-cells.Width(tokens), 1)) + tokens
	room := p.width - 3 - names - 2
	if room-cells.Width(right)-cells.Width(hint) < 16 {
		hint = ""
	}
	if room-cells.Width(right) < 12 {
		right = ""
	}
	room -= cells.Width(right) + cells.Width(hint)
	what := cells.Fit(look.OneLine(p.look.Tilde(s.What())), max(room-1, 0))
	faint := p.look.Theme.Faint
	return cells.Render(look.Clip([]cells.Span{
		{Text: " " + mark + " ", Style: style},
		{Text: name + cells.Blank(names-cells.Width(name)+2), Style: p.look.Theme.Strong},
		{Text: what + cells.Blank(room-cells.Width(what))},
		{Text: right + hint, Style: faint},
	}, p.width))
}

// working reports whether any of the agents is working, so that the strip is animated.
func working(agents []roster.State) bool {
	return slices.ContainsFunc(agents, func(s roster.State) bool { return s.Status == roster.Working })
}

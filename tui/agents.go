package tui

import (
	"slices"

	"jcode/agent/roster"
	"jcode/internal/cells"
)

// agentChanged updates the state of a sub-agent.
func (p *listener) agentChanged(s roster.State) {
	if i := slices.IndexFunc(p.agents, func(known roster.State) bool { return known.Name == s.Name }); i >= 0 {
		p.agents[i] = s
		return
	}
	p.agents = append(p.agents, s)
}

// agentLines draws the strip: sub-agents that work, wait, or have something to merge.
func (p *composer) agentLines() []string {
	var shown []roster.State
	for _, s := range p.agents {
		if s.Running() || s.Changed || s.Status == roster.Left {
			shown = append(shown, s)
		}
	}
	var out []string
	for i, s := range shown {
		if i == agentsShown {
			out = append(out, cells.Paint(p.look.theme.Faint, cells.Fit("  … "+count(len(shown)-i, "more agent"), p.width)))
			break
		}
		mark, style := "●", p.look.theme.Accent
		switch s.Status {
		case roster.Working:
			mark = spinner[p.look.spin%len(spinner)]
		case roster.Waiting:
			mark, style = "?", p.look.theme.Warn
		case roster.Done:
			style = p.look.theme.Good
		case roster.Failed, roster.Stopped, roster.Left:
			style = p.look.theme.Bad
		}
		name := cells.Fit(s.Name, max(p.width/3, 6))
		line := []cells.Span{{Text: " " + mark + " ", Style: style}, {Text: name, Style: p.look.theme.Strong}}
		line = append(line, cells.Span{Text: "  " + oneLine(s.String()), Style: p.look.theme.Faint})
		if key := p.keys.first(actAgents); i == 0 && key != "" {
			line = append(line, cells.Span{Text: "  (" + key + " shows them)", Style: p.look.theme.Faint})
		}
		out = append(out, cells.Render(clip(line, p.width)))
	}
	return out
}

// working reports whether any of the agents is working, so that the strip is animated.
func working(agents []roster.State) bool {
	return slices.ContainsFunc(agents, func(s roster.State) bool { return s.Status == roster.Working })
}

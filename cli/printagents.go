package cli

import (
	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/agent/roster"
)

// awaitedAgents sums up the sub-agents that a call of a run waits for; the conversation lists
// those in the background.
type awaitedAgents struct {
	lines []agentLine
	at    map[string]int // by session
}

func (a *awaitedAgents) saw(ev event.Nested) {
	if below, ok := ev.Event.(event.Nested); ok {
		a.saw(below)
		return
	}
	if ev.Agent != "" || ev.Session == "" {
		return // it works in the background
	}
	i, known := a.at[ev.Session]
	if !known {
		if a.at == nil {
			a.at = map[string]int{}
		}
		i = len(a.lines)
		a.at[ev.Session] = i
		a.lines = append(a.lines, agentLine{Name: ev.Label, SessionID: ev.Session, Status: roster.Working})
	}
	switch line := &a.lines[i]; inner := ev.Event.(type) {
	case event.Usage:
		line.Tokens, line.CostUSD = inner.Total.Input+inner.Total.Output, inner.Cost
	case event.TurnEnd:
		line.Status = crew.Status(inner.Reason)
	}
}

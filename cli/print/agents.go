package printcli

import (
	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/agent/roster"
)

// Agents sums up the sub-agents that a call of a run waits for; the conversation lists
// those in the background.
type Agents struct {
	Lines []Agent
	at    map[string]int // by session
}

// Saw takes an event of an agent.
func (a *Agents) Saw(ev event.Nested) {
	if below, ok := ev.Event.(event.Nested); ok {
		a.Saw(below)
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
		i = len(a.Lines)
		a.at[ev.Session] = i
		a.Lines = append(a.Lines, Agent{Name: ev.Label, SessionID: ev.Session, Status: roster.Working})
	}
	switch line := &a.Lines[i]; inner := ev.Event.(type) {
	case event.Usage:
		line.Tokens, line.CostUSD = inner.Total.Input+inner.Total.Output, inner.Cost
	case event.TurnEnd:
		line.Status = crew.Status(inner.Reason)
	}
}

// AgentOf sums up an agent in the background.
func AgentOf(s roster.State) Agent {
	return Agent{Name: s.Name, SessionID: s.Session, Status: s.Status, Tokens: s.Tokens, CostUSD: s.Cost, Worktree: s.Dir}
}

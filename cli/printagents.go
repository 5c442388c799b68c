package cli

import (
	"bufio"
	"bytes"
	"encoding/json"

	"jcode/agent/crew"
	"jcode/agent/event"
	"jcode/agent/roster"
)

// agentLines marks the lines of a sub-agent with its name and its session.
type agentLines struct {
	out *bufio.Writer
	ev  event.Nested
}

// Write accepts whole lines.
func (a *agentLines) Write(b []byte) (int, error) {
	mark, err := json.Marshal(struct {
		Agent    string `json:"agent"`
		Session  string `json:"agent_session"`
		Parent   string `json:"parent"`
		Worktree string `json:"worktree,omitempty"`
	}{a.ev.Label, a.ev.Session, a.ev.CallID, a.ev.Dir})
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		line, ok := bytes.CutSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("}"))
		if !ok {
			continue
		}
		whole := append(append(bytes.Clone(line), ','), mark[1:]...)
		a.out.Write(append(whole, '\n')) //nolint:errcheck // the error sticks and comes with Flush
	}
	return len(b), a.out.Flush()
}

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

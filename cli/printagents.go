package cli

import (
	"bufio"
	"bytes"
	"encoding/json"

	"jcode/agent"
)

// agentLines marks the lines of a sub-agent with its name and its session.
type agentLines struct {
	out *bufio.Writer
	ev  agent.Nested
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

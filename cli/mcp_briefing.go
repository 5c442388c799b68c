package cli

import (
	"context"
	"sync"

	"jcode/agent"
	"jcode/mcp"
)

// briefing remembers which servers' instructions a session's model has read: those in its system prompt, and
// those of servers that were added later, which it is told between two steps.
type briefing struct {
	servers *mcp.Manager

	mu   sync.Mutex
	told map[string]map[string]bool // session ID → servers; nil until its prompt was built
}

func newBriefing(m *mcp.Manager) *briefing {
	return &briefing{servers: m, told: map[string]map[string]bool{}}
}

// section returns the part of a new system prompt.
func (b *briefing) section(sessionID string) string {
	text, servers := b.servers.Instructions(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	told := map[string]bool{}
	for _, name := range servers {
		told[name] = true
	}
	b.told[sessionID] = told
	return text
}

// before tells a session the instructions of servers that were added since its prompt was built.
func (b *briefing) before(_ context.Context, sessionID string) agent.Announcement {
	b.mu.Lock()
	defer b.mu.Unlock()
	told := b.told[sessionID]
	if told == nil {
		return agent.Announcement{}
	}
	text, servers := b.servers.Instructions(told)
	for _, name := range servers {
		told[name] = true
	}
	return agent.Announcement{Text: text, Silent: true} // it is for the model alone
}

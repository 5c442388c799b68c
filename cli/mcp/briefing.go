package mcpcli

import (
	"context"
	"maps"
	"sync"

	"jcode/agent"
	"jcode/mcp"
	"jcode/session"
)

// briefing remembers which servers' instructions a session's model has read: those in its system prompt, and
// those of servers that were added later, which it is told between two steps.
type briefing struct {
	servers *mcp.Manager

	mu    sync.Mutex
	told  map[string]map[string]bool // session ID → servers; nil until its prompt was built
	later map[string]map[string]bool // session ID → servers that a resumed session's history tells of
}

func newBriefing(m *mcp.Manager) *briefing {
	return &briefing{servers: m, told: map[string]map[string]bool{}, later: map[string]map[string]bool{}}
}

// loaded finds in a stored history which servers' instructions the model read between two steps: the system prompt is
// built without them, as it was before, so that the provider reads the session from its cache.
func (b *briefing) loaded(sessionID string, rows []session.Message) {
	later := map[string]bool{}
	for _, row := range rows {
		if row.Role != session.RoleSystem || row.Archived != 0 {
			continue
		}
		for _, name := range mcp.Instructed(row.Text()) {
			later[name] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.later[sessionID] = later
}

// compacted has the instructions of all servers in the next system prompt: a summary may have replaced them.
func (b *briefing) compacted(_ context.Context, sessionID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.later, sessionID)
}

// section returns the part of a new system prompt.
func (b *briefing) section(sessionID string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	told := maps.Clone(b.later[sessionID])
	if told == nil {
		told = map[string]bool{}
	}
	text, servers := b.servers.Instructions(told)
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

package workplacecli

import (
	"context"
	"strings"
	"sync"
	"time"

	"jcode/agent"
	"jcode/cli/core"
	"jcode/session"
)

// Dates tells each session's model the date in a message of its own, once a day, the first time with where it works. The system prompt has no date,
// so that a session that is resumed on another day begins with the same bytes and is read from the provider's cache.
type Dates struct {
	now     func() time.Time
	history func(ctx context.Context, sessionID string) ([]session.Message, error)
	place   *Folder // is said once with the date; nil says nothing

	mu   sync.Mutex
	told map[string]string // session ID → the line that its history ends with
}

func NewDates(history func(ctx context.Context, sessionID string) ([]session.Message, error), place *Folder) *Dates {
	return &Dates{now: time.Now, history: history, place: place, told: map[string]string{}}
}

// dateHead begins the line that names the date.
const dateHead = "Today is "

// Extension returns what it adds to jcode.
func (c *Dates) Extension() core.Extension {
	return core.Extension{Own: c.own(), Agents: c.agents()}
}

// own is a point of the extension.
func (c *Dates) own() agent.Extension {
	ext := agent.Extension{Before: c.before, Loaded: c.loaded, Compacted: c.compacted}
	if c.place != nil {
		ext.TurnStarted, ext.Scoped = c.place.begin, c.place.scoped
	}
	return ext
}

// agents is a point of the extension. A sub-agent is told of its folder by its task.
func (c *Dates) agents() agent.Extension {
	return agent.Extension{Before: c.date, Loaded: c.loaded, Compacted: c.compacted}
}

// before tells the date unless the model read it, and the first time where it works.
func (c *Dates) before(ctx context.Context, sessionID string) agent.Announcement {
	c.mu.Lock()
	first := c.told[sessionID] == ""
	c.mu.Unlock()
	told := c.date(ctx, sessionID)
	if first && c.place != nil && told.Text != "" {
		told.Text = strings.TrimSpace(told.Text + " " + c.place.said(ctx))
	}
	return told
}

// date tells the date unless the model read it.
func (c *Dates) date(_ context.Context, sessionID string) agent.Announcement {
	line := dateHead + c.now().Format(time.DateOnly) + "."
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told[sessionID] == line {
		return agent.Announcement{}
	}
	c.told[sessionID] = line
	return agent.Announcement{Text: line, Silent: true} // it is for the model alone
}

// loaded finds in a stored history what the model read.
func (c *Dates) loaded(sessionID string, rows []session.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.told, sessionID)
	for _, row := range rows {
		if text := row.Text(); row.Role == session.RoleSystem && row.Archived == 0 && strings.HasPrefix(text, dateHead) {
			date, _, _ := strings.Cut(text, ".")
			c.told[sessionID] = date + "."
		}
	}
}

// compacted has the date told again if a summary has replaced the line.
func (c *Dates) compacted(ctx context.Context, sessionID string) {
	rows, err := c.history(ctx, sessionID)
	if err != nil {
		rows = nil // to say it twice is better than not at all
	}
	c.loaded(sessionID, rows)
}

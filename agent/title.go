package agent

import (
	"context"
	"strings"
	"time"

	"jcode/agent/model"
	"jcode/internal/text"
)

const (
	titleWait  = 20 * time.Second
	titleBytes = 80
	// titleTokens has room for some thinking, which models that think count as output.
	titleTokens = 1000
)

// titleLater asks the model for a better title after the first answer, in the background.
// A title set by the person is never replaced.
func (t *turn) titleLater() {
	c := t.c
	c.mu.Lock()
	m, row, first := c.settings.model, c.record.row, c.record.turns == 1
	c.mu.Unlock()
	if !first || m.Untitled || c.opt.Headless || c.opt.Label != "" || row.TitleSource == "user" || c.out.history.Len() == 0 {
		return
	}
	prompt := text.Cut(c.out.history.Messages()[0].Text, 2000)
	c.background.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, titleWait)
		defer cancel()
		resp, err := askBeside(ctx, c, m, model.Request{
			Purpose: model.PurposeTitle, MaxOutputTokens: titleTokens,
			System:   "Name the task in this message in at most six words, in the message's language. Answer with the name only.",
			Messages: []model.Message{{Role: model.RoleUser, Text: prompt}},
		})
		title := strings.Trim(strings.TrimSpace(strings.SplitN(strings.TrimSpace(resp.Text), "\n", 2)[0]), "\"'*#. ")
		if err != nil || title == "" {
			return // the title derived from the prompt stays
		}
		title = text.Cut(text.Clean(title), titleBytes)
		if set, err := c.opt.Store.SetAutoTitle(ctx, row.ID, title); err == nil && set {
			c.mu.Lock()
			c.record.row.Title, c.state.Title = title, title
			c.mu.Unlock()
			c.emitState()
		}
	})
}

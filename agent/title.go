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
)

// titleLater asks the model for a better title after the first answer, in the background.
// A title set by the person is never replaced.
func (r *record) titleLater() {
	r.c.mu.Lock()
	m, row, first := r.c.model, r.row, r.turns == 1
	r.c.mu.Unlock()
	if !first || m.Untitled || r.c.opt.Headless || r.c.opt.Label != "" || row.TitleSource == "user" || r.history.Len() == 0 {
		return
	}
	prompt := text.Cut(r.history.Messages()[0].Text, 2000)
	r.c.background.Go(func() {
		ctx, cancel := context.WithTimeout(r.c.ctx, titleWait)
		defer cancel()
		resp, err := m.Client.Stream(ctx, model.Request{
			Model: m.ID, Purpose: model.PurposeTitle, MaxOutputTokens: 200,
			System:   "Name the task in this message in at most six words, in the message's language. Answer with the name only.",
			Messages: []model.Message{{Role: model.RoleUser, Text: prompt}},
		}, func(model.Event) {})
		title := strings.Trim(strings.TrimSpace(strings.SplitN(strings.TrimSpace(resp.Text), "\n", 2)[0]), "\"'*#. ")
		if err != nil || title == "" {
			return // the title derived from the prompt stays
		}
		title = text.Cut(text.Clean(title), titleBytes)
		if set, err := r.c.opt.Store.SetAutoTitle(ctx, row.ID, title); err == nil && set {
			r.c.mu.Lock()
			r.row.Title, r.c.state.Title = title, title
			r.c.mu.Unlock()
			r.c.emitState()
		}
	})
}

package cli

import (
	"cmp"
	"context"
	"time"

	"jcode/session"
)

// history keeps prompts and drafts per project.
type history struct{ a *app }

// Recent gives earlier prompts, newest first.
func (h history) Recent(ctx context.Context) ([]string, error) {
	rows, err := h.a.store.RecentPrompts(ctx, h.a.project, recentPrompts)
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.Text
	}
	return out, err
}

// Add keeps a prompt.
func (h history) Add(ctx context.Context, text string) error {
	if h.a.privateNow() {
		return nil
	}
	return h.a.store.AddPrompt(ctx, session.Prompt{Text: text, Cwd: h.a.cwd, Project: h.a.project, At: time.Now()})
}

// SetDraft keeps what stands in the input. A draft goes along with it: from a new session to
// the one that the first prompt begins, and into another one that is opened.
func (h history) SetDraft(ctx context.Context, text string) error {
	key := chatViews{h.a}.draftKey()
	if h.a.privateNow() { // what was kept before goes, and nothing new is
		was := h.a.drafted.Swap(nil)
		if was == nil {
			return nil
		}
		return h.a.store.EraseDrafts(ctx, *was, h.a.project)
	}
	if was := h.a.drafted.Swap(&key); was != nil && *was != key {
		if err := h.a.store.SetDraft(ctx, *was, ""); err != nil {
			return err
		}
	}
	return h.a.store.SetDraft(ctx, key, text)
}

// draft reads what was kept of the input for the open session.
func (a chatViews) draft(ctx context.Context) (string, error) {
	key := a.draftKey()
	a.drafted.CompareAndSwap(nil, &key)
	return a.store.Draft(ctx, key)
}

// draftKey names the draft of the open session, or of a new one in this folder.
func (a chatViews) draftKey() string { return cmp.Or(a.board.session(), a.project) }

package cli

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"jcode/cli/board"
	"jcode/internal/slicex"
	"jcode/session"
)

// history stores prompts and drafts per project.
type history struct {
	store        *session.Store
	board        *board.Board
	cwd, project string
	drafted      *atomic.Pointer[string] // the key under which the input was last saved
	private      func() bool             // nothing must be stored now
}

func newHistory(a *app) history {
	return history{a.store, &a.board, a.cwd, a.project, &a.drafted, a.privateNow}
}

// Recent returns earlier prompts, newest first.
func (h history) Recent(ctx context.Context) ([]string, error) {
	rows, err := h.store.Prompts().Recent(ctx, h.project, recentPrompts)
	return slicex.Map(rows, func(p session.Prompt) string { return p.Text }), err
}

// Add stores a prompt.
func (h history) Add(ctx context.Context, text string) error {
	if h.private() {
		return nil
	}
	return h.store.Prompts().Add(ctx, session.Prompt{Text: text, Cwd: h.cwd, Project: h.project, At: time.Now()})
}

// SetDraft saves the text in the input. The draft moves with the input: from a new session to the one that the
// first prompt creates, and to another session that is opened.
func (h history) SetDraft(ctx context.Context, text string) error {
	key := h.draftKey()
	if h.private() { // what was stored before is removed, and nothing new is stored
		was := h.drafted.Swap(nil)
		if was == nil {
			return nil
		}
		return h.store.Drafts().Erase(ctx, *was, h.project)
	}
	if was := h.drafted.Swap(&key); was != nil && *was != key {
		if err := h.store.Drafts().Set(ctx, *was, ""); err != nil {
			return err
		}
	}
	return h.store.Drafts().Set(ctx, key, text)
}

// draft reads the draft of the open session.
func (h history) draft(ctx context.Context) (string, error) {
	key := h.draftKey()
	h.drafted.CompareAndSwap(nil, &key)
	return h.store.Drafts().Get(ctx, key)
}

// draftKey names the draft of the open session, or of a new one in this folder.
func (h history) draftKey() string { return cmp.Or(h.board.Session(), h.project) }

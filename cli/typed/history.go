// Package typed owns what the user has typed: earlier prompts of the project, and the text that is in the input. In a
// private conversation it stores neither.
package typed

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"jcode/internal/slicex"
	"jcode/session"
)

// recentPrompts is how many earlier prompts the input remembers.
const recentPrompts = 1000

// Key is where the input was last saved: all that work with one input share it.
type Key struct{ at atomic.Pointer[string] }

// History stores prompts and drafts per project.
type History struct {
	// Store is the database, Project the project whose prompts are meant, Cwd the folder where they are typed.
	Store        *session.Store
	Project, Cwd string
	// Session is the ID of the open session, "" before there is one.
	Session func() string
	// Private reports whether nothing must be stored now.
	Private func() bool
	// Saved is where the input was last saved.
	Saved *Key
}

// Recent returns earlier prompts, newest first.
func (h History) Recent(ctx context.Context) ([]string, error) {
	rows, err := h.Store.Prompts().Recent(ctx, h.Project, recentPrompts)
	return slicex.Map(rows, func(p session.Prompt) string { return p.Text }), err
}

// Add stores a prompt.
func (h History) Add(ctx context.Context, text string) error {
	if h.Private() {
		return nil
	}
	return h.Store.Prompts().Add(ctx, session.Prompt{Text: text, Cwd: h.Cwd, Project: h.Project, At: time.Now()})
}

// SetDraft saves the text in the input. The draft moves with the input: from a new session to the one that the
// first prompt creates, and to another session that is opened.
func (h History) SetDraft(ctx context.Context, text string) error {
	key := h.key()
	if h.Private() { // what was stored before is removed, and nothing new is stored
		was := h.Saved.at.Swap(nil)
		if was == nil {
			return nil
		}
		return h.Store.Drafts().Erase(ctx, *was, h.Project)
	}
	if was := h.Saved.at.Swap(&key); was != nil && *was != key {
		if err := h.Store.Drafts().Set(ctx, *was, ""); err != nil {
			return err
		}
	}
	return h.Store.Drafts().Set(ctx, key, text)
}

// Draft reads the draft of the open session.
func (h History) Draft(ctx context.Context) (string, error) {
	key := h.key()
	h.Saved.at.CompareAndSwap(nil, &key)
	return h.Store.Drafts().Get(ctx, key)
}

// key names the draft of the open session, or of a new one in this folder.
func (h History) key() string { return cmp.Or(h.Session(), h.Project) }

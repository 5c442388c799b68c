package servecli

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"jcode/agent/event/wire"
	past "jcode/agent/history"
	"jcode/internal/slicex"
	"jcode/page"
	"jcode/session"
	"jcode/session/export"
)

// keptSessions is how many sessions that are not open the page lists.
const keptSessions = 50

// Kept reads stored sessions for the page.
type Kept struct{ Store *session.Store }

// List implements page.Stored.
func (k Kept) List(ctx context.Context) ([]page.Kept, error) {
	all, err := k.Store.List(ctx, session.Filter{All: true, Limit: keptSessions})
	return slicex.Map(all, keptOf), err
}

// Read implements page.Stored.
func (k Kept) Read(ctx context.Context, id string) (page.Kept, []json.RawMessage, error) {
	v, err := k.Store.Get(ctx, id)
	if err != nil {
		return page.Kept{}, nil, err
	}
	rows, err := k.Store.History().All(ctx, v.ID)
	var out []json.RawMessage
	for _, ev := range past.Events(rows) {
		if line := wire.Of(ev); line != nil {
			out = append(out, wire.Encode(line))
		}
	}
	return keptOf(v), out, err
}

func keptOf(v session.Session) page.Kept {
	return page.Kept{ID: v.ID, Title: v.Title, Folder: v.Cwd, Model: v.Model, Mode: v.Mode, Used: v.Updated}
}

// foundSessions is how many places a search on the page shows.
const foundSessions = 50

// Search implements page.Stored.
func (k Kept) Search(ctx context.Context, words string) ([]page.Found, error) {
	hits, err := k.Store.Search(ctx, words, "", foundSessions)
	return slicex.Map(hits, func(h session.Hit) page.Found { return page.Found{Kept: keptOf(h.Session), Snippet: h.Snippet} }), err
}

// Export implements page.Stored.
func (k Kept) Export(ctx context.Context, id, format string) (string, error) {
	doc, err := export.Load(ctx, k.Store, id)
	if err != nil {
		return "", err
	}
	return export.Render(export.Format(format), doc)
}

// lookedForFolders is how many sessions say in which folders jcode was used.
const lookedForFolders = 1000

// Folders implements page.Stored.
func (k Kept) Folders(ctx context.Context) (out []string, err error) {
	all, err := k.Store.List(ctx, session.Filter{All: true, Limit: lookedForFolders})
	for _, s := range all {
		if info, err := os.Stat(s.Cwd); err == nil && info.IsDir() && !slices.Contains(out, s.Cwd) {
			out = append(out, s.Cwd)
		}
	}
	return out, err
}

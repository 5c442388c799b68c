package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"jcode/agent/event/wire"
	past "jcode/agent/history"
	backgroundcli "jcode/cli/background"
	"jcode/cli/live"
	"jcode/internal/slicex"
	"jcode/page"
	"jcode/remote"
	"jcode/session"
	"jcode/session/export"
)

// keptSessions is how many sessions that are not open the page lists.
const keptSessions = 50

// kept reads stored sessions for the page.
type kept struct{ store *session.Store }

// List implements page.Stored.
func (k kept) List(ctx context.Context) ([]page.Kept, error) {
	all, err := k.store.List(ctx, session.Filter{All: true, Limit: keptSessions})
	return slicex.Map(all, keptOf), err
}

// Read implements page.Stored.
func (k kept) Read(ctx context.Context, id string) (page.Kept, []json.RawMessage, error) {
	v, err := k.store.Get(ctx, id)
	if err != nil {
		return page.Kept{}, nil, err
	}
	rows, err := k.store.History().All(ctx, v.ID)
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
func (k kept) Search(ctx context.Context, words string) ([]page.Found, error) {
	hits, err := k.store.Search(ctx, words, "", foundSessions)
	return slicex.Map(hits, func(h session.Hit) page.Found { return page.Found{Kept: keptOf(h.Session), Snippet: h.Snippet} }), err
}

// Export implements page.Stored.
func (k kept) Export(ctx context.Context, id, format string) (string, error) {
	doc, err := export.Load(ctx, k.store, id)
	if err != nil {
		return "", err
	}
	return export.Render(export.Format(format), doc)
}

// lookedForFolders is how many sessions say in which folders jcode was used.
const lookedForFolders = 1000

// Folders implements page.Stored.
func (k kept) Folders(ctx context.Context) (out []string, err error) {
	all, err := k.store.List(ctx, session.Filter{All: true, Limit: lookedForFolders})
	for _, s := range all {
		if info, err := os.Stat(s.Cwd); err == nil && info.IsDir() && !slices.Contains(out, s.Cwd) {
			out = append(out, s.Cwd)
		}
	}
	return out, err
}

// pageBegins begins the sessions of the page, in the background.
type pageBegins struct {
	place remote.Place
	term  string
}

func (p pageBegins) begin(ctx context.Context, folder, prompt string) (string, error) {
	if said := strings.TrimSpace(prompt); strings.HasPrefix(said, "/") || strings.HasPrefix(said, "!") {
		return "", errors.New("commands work only at the terminal: begin with what to do, in words")
	}
	begun, err := backgroundcli.Start([]string{"--", prompt}, folder, remote.Size{Cols: 100, Rows: 30}, p.term)
	if err != nil {
		return "", err
	}
	id, err := begun.Began(ctx, live.Sessions{Place: p.place, Name: "the page"})
	if err == nil && id == "" {
		err = fmt.Errorf("the session has not begun yet: it may ask something first, in a terminal: jcode attach %d", begun.Pid())
	}
	return id, err
}

package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/session/db"
)

const (
	// editsKept is how long the record of a change is kept.
	editsKept = 7 * 24 * time.Hour
	// claimHolds is how long a claim lasts at most.
	claimHolds = 2 * time.Hour
)

// Editor is a session that changed a file, or is about to work on it.
type Editor struct {
	Session string
	Path    string // the file, or the folder above it that was claimed
	At      time.Time
	Command bool   // it changed while a command of the session ran
	Agent   string // its name, where it is a sub-agent in the background
	Parent  string // the session that it works for; "" for a person's
	Title   string
}

// Who describes the session to a model or a person.
func (e Editor) Who() string {
	title := text.Truncate(text.OneLine(e.Title), 60, "…")
	switch {
	case e.Agent != "":
		return "the agent " + e.Agent
	case e.Parent != "":
		return fmt.Sprintf("a sub-agent (%s)", title)
	case title != "":
		return fmt.Sprintf("the session %q", title)
	}
	return "another session"
}

// Edits keeps which session changed a file, and which are about to work on it.
type Edits struct{ s *Store }

// Edits returns the store's record of changed and claimed files.
func (s *Store) Edits() Edits { return Edits{s} }

// Note records that a session changed files.
func (e Edits) Note(ctx context.Context, sessionID string, paths []string) error {
	return e.note(ctx, sessionID, len(paths), func(t *tx) error { return t.noteEdits(sessionID, paths) })
}

// NoteCommand records which files changed while a command of a session ran, and when.
func (e Edits) NoteCommand(ctx context.Context, sessionID string, changed map[string]time.Time) error {
	return e.note(ctx, sessionID, len(changed), func(t *tx) error {
		for path, at := range changed {
			if err := t.noteEdit(path, sessionID, at, true); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e Edits) note(ctx context.Context, sessionID string, files int, write func(*tx) error) error {
	if sessionID == "" || files == 0 {
		return nil
	}
	return e.s.changeIn(ctx, sessionID, "note changes of files", write)
}

func (t *tx) noteEdits(sessionID string, paths []string) error {
	now := t.now()
	for _, path := range paths {
		if err := t.noteEdit(path, sessionID, now, false); err != nil {
			return err
		}
	}
	return t.run("DELETE FROM edits WHERE at < ?", toMillis(now.Add(-editsKept)))
}

// noteEdit records one change; the latest of a session counts.
func (t *tx) noteEdit(path, sessionID string, at time.Time, command bool) error {
	return t.run(`INSERT INTO edits (path, session, at, command) VALUES (?, ?, ?, ?)
		ON CONFLICT (path, session) DO UPDATE SET at = excluded.at, command = excluded.command WHERE excluded.at >= at`,
		path, sessionID, toMillis(at), command)
}

// Of returns which files a session changed since a time, the latest first.
func (e Edits) Of(ctx context.Context, sessionID string, since time.Time) ([]Editor, error) {
	return e.editors(ctx, "edits", "e.session = ? AND e.at >= ?", sessionID, toMillis(since))
}

// Editors returns which other sessions changed a file since a time, the latest first.
func (e Edits) Editors(ctx context.Context, sessionID, path string, since time.Time) ([]Editor, error) {
	return e.editors(ctx, "edits", "e.path = ? AND e.session <> ? AND e.at >= ?", path, sessionID, toMillis(since))
}

// Claim records which files and folders a session is about to work on, replacing its earlier
// claims. A claim is advice: it stops nobody.
func (e Edits) Claim(ctx context.Context, sessionID string, paths []string) error {
	return e.s.changeIn(ctx, sessionID, "claim files", func(t *tx) error {
		if err := t.run("DELETE FROM claims WHERE session = ? OR at < ?", sessionID, toMillis(t.now().Add(-claimHolds))); err != nil {
			return err
		}
		for _, path := range paths {
			if err := t.run("INSERT OR REPLACE INTO claims (session, path, at) VALUES (?, ?, ?)", sessionID, path, toMillis(t.now())); err != nil {
				return err
			}
		}
		return nil
	})
}

// Claims returns what other sessions are about to work on, the latest first: the claims of a
// path, or with "" all. A claim ends with the process that made it.
func (e Edits) Claims(ctx context.Context, sessionID, path string) ([]Editor, error) {
	all, err := e.editors(ctx, "claims", "e.session <> ? AND e.at >= ?", sessionID, toMillis(e.s.now().Add(-claimHolds)))
	var live []Editor
	for _, c := range all {
		if path != "" && path != c.Path && !strings.HasPrefix(path, strings.TrimSuffix(c.Path, string(filepath.Separator))+string(filepath.Separator)) {
			continue
		}
		if e.s.held(c.Session) {
			live = append(live, c)
		}
	}
	return live, err
}

func (e Edits) editors(ctx context.Context, table, where string, args ...any) ([]Editor, error) {
	command := "e.command"
	if table == "claims" {
		command = "0"
	}
	all, err := fetch(ctx, e.s, "look up who works on files", `SELECT e.session, e.path, e.at, `+command+`, coalesce(a.name, ''), coalesce(s.parent_id, ''), coalesce(s.title, '')
		FROM `+table+` e LEFT JOIN agents a ON a.session = e.session LEFT JOIN sessions s ON s.id = e.session
		WHERE `+where+" ORDER BY e.at DESC, e.path", args, func(scan db.Scan) (by Editor, err error) {
		err = scan(&by.Session, &by.Path, millis{&by.At}, &by.Command, &by.Agent, &by.Parent, &by.Title)
		return by, err
	})
	if mem := e.s.Memory().store(); err == nil && mem != nil {
		own, err := mem.Edits().editors(ctx, table, where, args...)
		return append(own, all...), err
	}
	return all, err
}

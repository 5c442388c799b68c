package session

import (
	"cmp"
	"context"
	"time"

	"jcode/session/db"
)

// FileState is what was at a path at one time, as it is known outside of the database.
type FileState struct {
	Kind string // "absent", "file", "dir", "link" or "other"
	Hash string // of a file's content or a link's target; "" if it is not known
	Mode uint32 // permission bits of files and folders
	Note string // why the content is not kept, "" if it is
}

// FileChange is a path that something other than jcode's own tools changed.
type FileChange struct {
	Path          string
	Before, After FileState
	// From is where a .git was that a command moved to Path; then there is nothing else. "" for other changes.
	From string
}

// unread reports whether an entry is a file or link of unknown content.
func (e entry) unread() bool { return (e.kind == kindFile || e.kind == kindLink) && e.hash == "" }

func (s FileState) entry(path, author string) entry {
	return entry{path: path, kind: cmp.Or(s.Kind, kindAbsent), hash: s.Hash, mode: s.Mode, note: s.Note, author: author}
}

// KeepChanges records what a command, or a tool whose writes are not known beforehand, changed in files since a
// time, so that an undo of the turn reverts it. Contents are those that Options.Contents returns. What tools of any
// session changed meanwhile is theirs and is left out. It returns what it recorded.
func (c *Checkpoints) KeepChanges(ctx context.Context, sessionID string, turn int, author string, since time.Time, changes []FileChange) (kept []FileChange, err error) {
	if sessionID == "" || len(changes) == 0 {
		return nil, nil
	}
	c, done := c.of(sessionID)
	defer done()
	err = c.s.change(ctx, keeping, func(t *tx) error {
		n, turn, err := t.person(sessionID, turn)
		if err != nil {
			return err
		}
		theirs, err := t.changedByTools(since)
		if err != nil {
			return err
		}
		if err := t.run("UPDATE checkpoints SET state = ? WHERE session = ? AND state = ?", rowDropped, n, rowUndone); err != nil {
			return err
		}
		for _, ch := range changes {
			if theirs[ch.Path] {
				continue
			}
			if ch.From != "" {
				if err := t.keepMove(n, turn, ch.From, ch.Path, author); err != nil {
					return err
				}
				continue
			}
			if err := t.keepBefore(n, turn, ch.Before.entry(ch.Path, author)); err != nil {
				return err
			}
			if err := t.keepAfter(n, turn, ch.After.entry(ch.Path, author)); err != nil {
				return err
			}
			kept = append(kept, ch)
		}
		return t.forgetUnchanged(n, turn)
	})
	return kept, err
}

// changing is how long a tool may be at work on a file that it has not finished.
const changing = 10 * time.Minute

// changedByTools returns the paths that jcode's own tools changed since a time, or are about to change.
func (t *tx) changedByTools(since time.Time) (map[string]bool, error) {
	out := map[string]bool{}
	err := t.Each("SELECT path FROM checkpoints WHERE ended >= ?2 AND ended > 0 AND (ended >= ?1 OR after_kind = '') AND state = ?3 AND "+byTools,
		[]any{toMillis(since), toMillis(since.Add(-changing)), rowLive}, func(scan db.Scan) error {
			var path string
			err := scan(&path)
			out[path] = true
			return err
		})
	return out, err
}

// ChangedSince reports whether jcode's own tools, an undo or a redo changed anything since a time, in any session that
// is kept where this one is.
func (c *Checkpoints) ChangedSince(ctx context.Context, sessionID string, since time.Time) (bool, error) {
	c, done := c.of(sessionID)
	defer done()
	list, err := fetch(ctx, c.s, "changes since a look", "SELECT id FROM checkpoints WHERE ended >= ? AND ended > 0 AND ("+byTools+" OR state <> ?) LIMIT 1",
		[]any{toMillis(since), rowLive}, func(scan db.Scan) (id int64, err error) { return id, scan(&id) })
	return len(list) > 0, err
}

// Needed returns the hashes of all contents that an undo or redo of any session may want.
func (c *Checkpoints) Needed(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	hashes, err := fetch(ctx, c.s, "contents that checkpoints need", "SELECT before_hash FROM checkpoints UNION SELECT after_hash FROM checkpoints", nil,
		func(scan db.Scan) (hash string, err error) { err = scan(&hash); return hash, err })
	for _, h := range hashes {
		out[h] = true
	}
	return out, err
}

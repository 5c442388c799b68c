package session

import (
	"context"
	"fmt"
	"time"

	"jcode/internal/diff"
	"jcode/internal/paths"
	"jcode/session/db"
)

// The limits of what is kept of the state after a change, to tell what a command overwrote.
const (
	overwrittenFile  = 1 << 20 // bytes of one file
	overwrittenTotal = 8 << 20 // bytes of one change
	overwrittenFiles = 100     // files compared after a command
)

// Overwritten is a change of a file, by a tool of a session, that is gone since a command ran.
type Overwritten struct {
	Path string
	// Diff is the change that is gone, without the rest of the file.
	Diff diff.Diff
	last entry // what the tool had left
}

// Overwritten returns which changes that tools of any session made since a time are not in their files any
// more, although no tool has changed these files since: a command did that wrote what it had read before. It
// waits a moment for changes that tools are making just now.
func (c *Checkpoints) Overwritten(ctx context.Context, since time.Time) ([]Overwritten, error) {
	if err := c.settle(ctx, since); err != nil {
		return nil, err
	}
	type row struct{ before, after entry }
	rows, err := fetch(ctx, c.s, "changes since a command began", `SELECT p.path, p.before_kind, p.before_hash, p.after_kind, p.after_hash, p.after_mode FROM checkpoints p
		WHERE p.ended >= ?1 AND p.state = ?2 AND `+byTools+` AND p.after_kind = ?3 AND p.before_kind IN (?3, ?4) AND
		NOT EXISTS (SELECT 1 FROM checkpoints q WHERE q.path = p.path AND q.id > p.id AND q.before_hash = p.after_hash) ORDER BY p.id LIMIT ?5`,
		[]any{toMillis(since), rowLive, kindFile, kindAbsent, overwrittenFiles}, func(scan db.Scan) (r row, err error) {
			err = scan(&r.after.path, &r.before.kind, &r.before.hash, &r.after.kind, &r.after.hash, &r.after.mode)
			return r, err
		})
	if err != nil {
		return nil, err
	}
	var out []Overwritten
	for _, r := range rows {
		o, lost, err := c.compare(ctx, r.before, r.after)
		if err != nil {
			return out, err
		}
		if lost {
			out = append(out, o)
		}
	}
	return out, nil
}

// compare reports whether a change is not in its file any more. What can't be compared counts as there.
func (c *Checkpoints) compare(ctx context.Context, before, after entry) (o Overwritten, lost bool, err error) {
	now, err := inspect(after.path, false, 0)
	if err != nil || now.kind != kindFile && now.kind != kindAbsent || now.kind == kindFile && now.hash == after.hash {
		return o, false, nil
	}
	wrote, err := c.s.blob(ctx, after.hash)
	if err != nil {
		return o, false, nil // it was too large to keep
	}
	var had []byte
	if before.kind == kindFile {
		if had, err = c.s.blob(ctx, before.hash); err != nil {
			return o, false, nil
		}
	}
	was := string(wrote)
	var is *string // nil if the file is gone
	if now.kind == kindFile {
		held, err := paths.ReadFile(after.path, c.limits.file)
		if err != nil {
			return o, false, nil
		}
		if merged, ok := diff.Merge(string(had), was, string(held)); ok && merged == string(held) {
			return o, false, nil // the change is still there
		}
		text := string(held)
		is = &text
	}
	packed, err := pack(wrote)
	if err != nil {
		return o, false, err
	}
	after.blob = &packed
	return Overwritten{Path: after.path, Diff: diff.Files(after.path, &was, is), last: after}, true, nil
}

// The wait for changes that tools are making while a command ends.
const (
	settleWait  = 3 * time.Second
	settlePause = 5 * time.Millisecond
	// settleOld is when a change that has not ended was left behind by a process that was killed.
	settleOld = 20 * time.Second
)

// settle waits until the changes have ended that tools began before now: until then it is not known what they
// wrote.
func (c *Checkpoints) settle(ctx context.Context, since time.Time) error {
	until := time.Now()
	for end := until.Add(settleWait); time.Now().Before(end); {
		open, err := fetch(ctx, c.s, "changes that go on", `SELECT p.id FROM checkpoints p
			WHERE p.ended >= ? AND p.ended <= ? AND p.after_kind = '' AND p.before_kind <> ? AND p.state = ? LIMIT 1`,
			[]any{toMillis(since.Add(-settleOld)), toMillis(until), kindNote, rowLive}, func(scan db.Scan) (id int64, err error) {
				return id, scan(&id)
			})
		if err != nil || len(open) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settlePause):
		}
	}
	return nil
}

// KeepOverwritten keeps what a command overwrote, so that an undo of the turn in which it ran brings it back.
func (c *Checkpoints) KeepOverwritten(ctx context.Context, sessionID string, turn int, list []Overwritten) error {
	before := Before{c: c}
	var paths []string
	for _, o := range list {
		before.entries, paths = append(before.entries, o.last), append(paths, o.Path)
	}
	if err := before.Keep(ctx, sessionID, turn, paths); err != nil {
		return fmt.Errorf("what a command overwrote can't be taken back: %w", err)
	}
	return nil
}

// Overwrite is the loss of a change of one session by a command of another.
type Overwrite struct {
	Path string
	By   Editor
}

// NoteOverwritten records that a command of a session wrote over changes of other sessions, for these to be told:
// by path, which they are. A private session is not named.
func (e Edits) NoteOverwritten(ctx context.Context, by string, overwritten map[string][]string) error {
	if at, done := e.s.of(by); at != e.s {
		done()
		by = ""
	} else {
		done()
	}
	for path, sessions := range overwritten {
		for _, id := range sessions {
			err := e.s.changeIn(ctx, id, "note what a command overwrote", func(t *tx) error {
				now := t.now()
				if err := t.run("DELETE FROM overwrites WHERE at < ?", toMillis(now.Add(-editsKept))); err != nil {
					return err
				}
				return t.run("INSERT OR REPLACE INTO overwrites (session, path, by, at) VALUES (?, ?, ?, ?)", id, path, by, toMillis(now))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// TakeOverwritten returns which changes of a session commands of others wrote over, each once.
func (e Edits) TakeOverwritten(ctx context.Context, sessionID string) ([]Overwrite, error) {
	s, done := e.s.of(sessionID)
	defer done()
	list, err := fetch(ctx, s, "changes that commands of others overwrote", `SELECT o.path, o.by, o.at, coalesce(a.name, ''), coalesce(s.parent_id, ''), coalesce(s.title, '')
		FROM overwrites o LEFT JOIN agents a ON a.session = o.by LEFT JOIN sessions s ON s.id = o.by WHERE o.session = ? ORDER BY o.path`,
		[]any{sessionID}, func(scan db.Scan) (o Overwrite, err error) {
			err = scan(&o.Path, &o.By.Session, millis{&o.By.At}, &o.By.Agent, &o.By.Parent, &o.By.Title)
			return o, err
		})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list, s.change(ctx, "note what a session was told", func(t *tx) error {
		for _, o := range list {
			if err := t.run("DELETE FROM overwrites WHERE session = ? AND path = ? AND at <= ?", sessionID, o.Path, toMillis(o.By.At)); err != nil {
				return err
			}
		}
		return nil
	})
}

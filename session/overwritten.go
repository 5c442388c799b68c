package session

import (
	"context"
	"fmt"
	"os"
	"time"

	"jcode/internal/diff"
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
// more, although no tool has changed these files since: a command did that wrote what it had read before.
func (c *Checkpoints) Overwritten(ctx context.Context, since time.Time) ([]Overwritten, error) {
	type row struct{ before, after entry }
	rows, err := fetch(ctx, c.s, "changes since a command began", `SELECT p.path, p.before_kind, p.before_hash, p.after_kind, p.after_hash, p.after_mode FROM checkpoints p
		WHERE p.ended >= ?1 AND p.state = ?2 AND p.after_kind = ?3 AND p.before_kind IN (?3, ?4) AND
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
		now, err := inspect(r.after.path, false, 0)
		if err != nil || now.kind != kindFile || now.hash == r.after.hash {
			continue
		}
		after, err := c.s.blob(ctx, r.after.hash)
		if err != nil {
			continue // it was too large to keep
		}
		var before []byte
		if r.before.kind == kindFile {
			if before, err = c.s.blob(ctx, r.before.hash); err != nil {
				continue
			}
		}
		held, err := os.ReadFile(r.after.path)
		if err != nil {
			continue
		}
		if merged, ok := diff.Merge(string(before), string(after), string(held)); ok && merged == string(held) {
			continue // the change is still there
		}
		was, is := string(after), string(held)
		packed, err := pack(after)
		if err != nil {
			return out, err
		}
		r.after.blob = &packed
		out = append(out, Overwritten{Path: r.after.path, Diff: diff.Files(r.after.path, &was, &is), last: r.after})
	}
	return out, nil
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

package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/session/db"
)

// ErrNothing says that there is nothing to undo, or nothing to redo.
var ErrNothing = errors.New("nothing to do")

// The states of a checkpoint's row.
const (
	rowLive    = "live"    // the change is on the disk, as far as is known
	rowUndone  = "undone"  // it was undone and can be redone
	rowUndoing = "undoing" // an undo is at work on it, or was when it was killed
	rowRedoing = "redoing" // so is a redo
	rowSkipped = "skipped" // an undo passed over it
	rowDropped = "dropped" // it can neither be undone nor redone
)

// keeping is what failed if the files of a turn can't be kept.
const keeping = "keep files for undo"

// kindNote marks a row that names something which can't be undone.
const kindNote = "note"

// Checkpoints records what tools change in files, by turn, so that it can be undone. It
// changes no file that a tool did not announce, and none that has changed since.
type Checkpoints struct {
	s      *Store
	limits limits
	locks  filelock.Paths
	busy   func(ctx context.Context, path string) string // may be nil
	author string                                        // see As
}

// As returns checkpoints that name what changes files: a merge, not one of jcode's own tools alone.
func (c *Checkpoints) As(author string) *Checkpoints {
	named := *c
	named.author = ownWork + author
	return &named
}

// ownWork begins an author that is jcode's own work under a name: for everything but a list it is a tool's.
const ownWork = "="

// byTools says in a query that one of jcode's own tools made a change.
const byTools = "(author = '' OR substr(author, 1, 1) = '" + ownWork + "')"

// Guarded returns checkpoints that leave a path alone for which busy returns a reason.
func (c *Checkpoints) Guarded(busy func(ctx context.Context, path string) string) *Checkpoints {
	guarded := *c
	guarded.busy = busy
	return &guarded
}

// limits bound what one call of Track keeps.
type limits struct {
	file    int64 // bytes of one file
	total   int64 // bytes of all files
	entries int   // files and folders
}

// Checkpoints returns the store's checkpoints.
func (s *Store) Checkpoints() *Checkpoints {
	return &Checkpoints{
		s: s, limits: limits{file: 32 << 20, total: 128 << 20, entries: 10_000},
		locks: filelock.Paths{Dir: s.LockFolder()},
	}
}

// Track is called by a tool before it changes files. It keeps what is at the paths: folders
// with everything below them, and missing files as missing. Paths are absolute, with links
// resolved. turn is the seq of the turn's prompt, which is never used twice. The tool calls
// done when it has finished, even if it failed, with what it did.
//
// Outside a session (an empty ID) nothing is kept. Changes of a sub-agent are kept with the
// session that it works for. A file that is too large to keep may be changed all the same; an
// undo reports it.
func (c *Checkpoints) Track(ctx context.Context, sessionID string, turn int, roots []string) (done func(context.Context, Written) error, err error) {
	if sessionID == "" {
		return func(context.Context, Written) error { return nil }, nil
	}
	before, err := c.look(roots, true)
	if err != nil {
		return nil, wrap(keeping, err)
	}
	home := c
	c, routed := home.of(sessionID)
	defer routed()
	n, turn, err := c.begin(ctx, sessionID, turn, before)
	if err != nil {
		return nil, err
	}
	roots = slices.Clone(roots)
	return func(ctx context.Context, written Written) error {
		now, routed := home.of(sessionID)
		defer routed()
		if now.s != c.s { // the session was saved meanwhile and has a new key
			if err := now.s.change(context.WithoutCancel(ctx), keeping, func(t *tx) (err error) {
				n, turn, err = t.person(sessionID, turn)
				return err
			}); err != nil {
				return err
			}
		}
		return now.finish(ctx, sessionID, n, turn, roots, before, written)
	}, nil
}

// Before is the state of some paths at one moment.
type Before struct {
	c       *Checkpoints
	entries []entry
}

// Look reads the state of paths, for changes that are not announced. Nothing is stored before
// Keep. Look runs before each command that needs no approval, so its limits are lower than
// those of Track.
func (c *Checkpoints) Look(roots []string) (Before, error) {
	small := *c
	small.limits = limits{file: 256 << 10, total: 4 << 20, entries: 2000}
	entries, err := small.look(roots, true)
	return Before{c, entries}, wrap(keeping, err)
}

// Keep stores the earlier state of the changed paths among those that were looked at, as Track
// does for announced changes. A path that Look did not find was absent.
func (b Before) Keep(ctx context.Context, sessionID string, turn int, changed []string) error {
	if sessionID == "" || len(changed) == 0 {
		return nil
	}
	var before []entry
	for _, path := range changed {
		found := false
		for _, e := range b.entries {
			if paths.Within(path, e.path) {
				before = append(before, e)
				found = found || e.path == path
			}
		}
		if !found {
			before = append(before, entry{path: path, kind: kindAbsent})
		}
	}
	c, routed := b.c.of(sessionID)
	defer routed()
	n, turn, err := c.begin(ctx, sessionID, turn, before)
	if err != nil {
		return err
	}
	return c.finish(ctx, sessionID, n, turn, changed, before, Written{})
}

// begin stores the state of paths before a turn changes them.
func (c *Checkpoints) begin(ctx context.Context, sessionID string, turn int, before []entry) (n int64, _ int, err error) {
	err = c.s.change(ctx, keeping, func(t *tx) error {
		if n, turn, err = t.person(sessionID, turn); err != nil {
			return err
		}
		if err := t.run("UPDATE checkpoints SET state = ? WHERE session = ? AND state = ?", rowDropped, n, rowUndone); err != nil {
			return err
		}
		for _, e := range before {
			e.author = c.author
			if err := t.keepBefore(n, turn, e); err != nil {
				return err
			}
		}
		return nil
	})
	return n, turn, err
}

// person returns the internal key of the session that the person sees, and its turn: changes
// of a sub-agent belong to the last prompt of the session that it works for, and so do those of turn 0.
func (t *tx) person(id string, turn int) (int64, int, error) {
	for range 16 { // sub-agents are never nested deeper; a cycle of rows must end
		var n int64
		var kind, parent string
		if err := t.Row("SELECT n, kind, parent_id FROM sessions WHERE id = ?", []any{id}, &n, &kind, &parent); err != nil {
			return 0, 0, err
		}
		if kind != KindTask || parent == "" {
			if turn == 0 {
				err := t.Row("SELECT coalesce(max(seq), 1) FROM messages WHERE session = ? AND role = ?", []any{n, RoleUser}, &turn)
				return n, turn, err
			}
			return n, turn, nil
		}
		err := t.Row("SELECT coalesce(max(m.seq), 0) FROM messages m JOIN sessions s ON s.n = m.session WHERE s.id = ? AND m.role = ?",
			[]any{parent, RoleUser}, &turn)
		if err != nil {
			return 0, 0, err
		}
		id = parent
	}
	return 0, 0, fmt.Errorf("session %s is its own parent", id)
}

// keepBefore stores a path's state. If this turn has changed the path already, its first state
// counts, unless somebody else changed it in between: that starts a new row, so that their
// change is not taken for the turn's.
func (t *tx) keepBefore(n int64, turn int, e entry) error {
	id, last, err := t.lastChange(n, turn, e.path)
	if err != nil {
		return err
	}
	if id != 0 && last.author == e.author && (last.kind == "" || last.same(e)) {
		return t.run("UPDATE checkpoints SET after_kind = '', ended = ? WHERE id = ?", toMillis(t.now()), id) // its hash says that it was begun again
	}
	if e.blob != nil {
		if err := t.putBlob(*e.blob); err != nil {
			return err
		}
	}
	return t.run(`INSERT INTO checkpoints (session, turn, path, before_kind, before_hash, before_mode, note, author, at, ended) VALUES (?,?,?,?,?,?,?,?,?9,?9)`,
		n, turn, e.path, e.kind, e.hash, e.mode, e.note, e.author, toMillis(t.now()))
}

// lastChange returns the turn's newest row for a path and the state that it left; id is 0 if
// there is none.
func (t *tx) lastChange(n int64, turn int, path string) (id int64, after entry, err error) {
	err = t.Row(`SELECT id, after_kind, after_hash, after_mode, author FROM checkpoints
		WHERE session = ? AND turn = ? AND path = ? AND state = ? AND before_kind <> ? ORDER BY id DESC LIMIT 1`,
		[]any{n, turn, path, rowLive, kindNote}, &id, &after.kind, &after.hash, &after.mode, &after.author)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return id, after, err
}

// finish stores the state that a tool left.
func (c *Checkpoints) finish(ctx context.Context, sessionID string, n int64, turn int, roots []string, before []entry, written Written) error {
	if written.Nothing {
		return c.left(ctx, n, turn, before)
	}
	small := *c
	small.limits = limits{file: overwrittenFile, total: overwrittenTotal, entries: c.limits.entries}
	after, err := small.look(roots, true)
	if err != nil {
		return wrap(keeping, err)
	}
	after = slices.DeleteFunc(after, func(e entry) bool { return e.kind == kindNote })
	if after, err = asWritten(after, written.Files); err != nil {
		return wrap(keeping, err)
	}
	seen := map[string]bool{}
	was := map[string]entry{}
	for _, e := range before {
		was[e.path] = e
	}
	var changed []string
	for _, e := range after {
		seen[e.path] = true
		if e.kind != kindNote && !e.same(was[e.path]) {
			changed = append(changed, e.path)
		}
	}
	for _, e := range before {
		if !seen[e.path] && e.kind != kindNote {
			after = append(after, entry{path: e.path, kind: kindAbsent})
			if e.kind != kindAbsent {
				changed = append(changed, e.path)
			}
		}
	}
	replaced, err := c.otherwise(was, written.Replaced)
	if err != nil {
		return wrap(keeping, err)
	}
	return c.s.change(context.WithoutCancel(ctx), keeping, func(t *tx) error {
		for _, e := range replaced {
			if _, err := t.replaceBefore(n, turn, e); err != nil {
				return err
			}
		}
		for _, e := range after {
			if err := t.keepAfter(n, turn, e); err != nil {
				return err
			}
		}
		if err := t.noteEdits(sessionID, changed); err != nil {
			return err
		}
		return t.forgetUnchanged(n, turn)
	})
}

// Found is called between Track and its done if a file that is being changed no longer held what it held
// at Track: somebody else had changed it. An undo of the turn restores what was found.
func (c *Checkpoints) Found(ctx context.Context, sessionID string, turn int, path string, read, found []byte) error {
	if sessionID == "" {
		return nil
	}
	e, err := inspect(path, false, 0)
	if err != nil || e.kind != kindFile {
		return err
	}
	was := e
	if was, err = was.content(read, false); err != nil {
		return err
	}
	if e, err = e.content(found, true); err != nil {
		return err
	}
	e.author = c.author
	return c.s.changeIn(ctx, sessionID, keeping, func(t *tx) error {
		n, turn, err := t.person(sessionID, turn)
		if err != nil {
			return err
		}
		switch had, err := t.openBefore(n, turn, path); {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return err
		case had.kind == kindFile && had.hash == e.hash:
			return nil // it was changed before Track looked
		case had.kind != kindFile || had.hash != was.hash: // Track looked while the file was away, or half written
			if done, err := t.replaceBefore(n, turn, e); done || err != nil {
				return err
			}
		}
		if err := t.keepAfter(n, turn, was); err != nil {
			return err
		}
		return t.keepBefore(n, turn, e)
	})
}

func (t *tx) keepAfter(n int64, turn int, e entry) error {
	id, _, err := t.lastChange(n, turn, e.path)
	if err != nil {
		return err
	}
	if e.blob != nil {
		if err := t.putBlob(*e.blob); err != nil {
			return err
		}
	}
	if id != 0 {
		return t.run("UPDATE checkpoints SET after_kind = ?, after_hash = ?, after_mode = ?, ended = ? WHERE id = ?", e.kind, e.hash, e.mode, toMillis(t.now()), id)
	}
	// A new path below a tracked folder was absent before.
	return t.run(`INSERT INTO checkpoints (session, turn, path, before_kind, after_kind, after_hash, after_mode, at, ended) VALUES (?,?,?,?,?,?,?,?8,?8)`,
		n, turn, e.path, kindAbsent, e.kind, e.hash, e.mode, toMillis(t.now()))
}

// Cannot records something that a turn did and no undo reverts: a command, a request.
func (c *Checkpoints) Cannot(ctx context.Context, sessionID string, turn int, what string) error {
	if sessionID == "" {
		return nil
	}
	return c.s.changeIn(ctx, sessionID, "note for undo", func(t *tx) error {
		n, turn, err := t.person(sessionID, turn)
		if err != nil {
			return err
		}
		return t.run("INSERT INTO checkpoints (session, turn, path, before_kind, at) VALUES (?, ?, ?, ?, ?)",
			n, turn, what, kindNote, toMillis(t.now()))
	})
}

// checkpointRow is one row of checkpoints.
type checkpointRow struct {
	id            int64
	turn          int
	path          string
	before, after entry
	note          string
	author        string
}

// rows returns the session's rows in a state, by turn and then by age.
func (c *Checkpoints) rows(ctx context.Context, sessionID, state string) ([]checkpointRow, error) {
	return fetch(ctx, c.s, "checkpoints of session "+sessionID, `SELECT p.id, p.turn, p.path, p.before_kind, p.before_hash, p.before_mode, p.after_kind, p.after_hash, p.after_mode, p.note, p.author
		FROM checkpoints p JOIN sessions s ON s.n = p.session WHERE s.id = ? AND p.state = ? ORDER BY p.turn, p.id`,
		[]any{sessionID, state}, func(scan db.Scan) (r checkpointRow, err error) {
			err = scan(&r.id, &r.turn, &r.path, &r.before.kind, &r.before.hash, &r.before.mode, &r.after.kind, &r.after.hash, &r.after.mode, &r.note, &r.author)
			r.before.path, r.after.path, r.author = r.path, r.path, strings.TrimPrefix(r.author, ownWork)
			return r, err
		})
}

// depth returns how deep a path is, to sort a folder before or after its content.
func depth(path string) int { return strings.Count(path, string(filepath.Separator)) }

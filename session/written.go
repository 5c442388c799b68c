package session

import (
	"context"
	"errors"
)

// Written is what a tool did to files, as far as it knows. Another program may have replaced that by then.
type Written struct {
	// Files are the bytes that it wrote, by path.
	Files map[string][]byte
	// Replaced is what these files held until then, for those that existed. Another program may have held one away
	// at the moment of Track.
	Replaced map[string][]byte
	// Nothing says that it changed nothing, because another program was changing the same.
	Nothing bool
}

// left ends the record of a change that was not made: the paths are as the turn had left them before.
func (c *Checkpoints) left(ctx context.Context, n int64, turn int, before []entry) error {
	return c.s.change(context.WithoutCancel(ctx), keeping, func(t *tx) error {
		for _, e := range before {
			if e.kind == kindNote {
				continue
			}
			e.blob = nil // keepBefore has stored it
			if err := t.keepAfter(n, turn, e); err != nil {
				return err
			}
		}
		return t.forgetUnchanged(n, turn)
	})
}

// forgetUnchanged deletes what was recorded of paths that are as they were. Of a file that was not read that is not
// known.
func (t *tx) forgetUnchanged(n int64, turn int) error {
	return t.run(`DELETE FROM checkpoints WHERE session = ? AND turn = ? AND state = ?
		AND before_kind = after_kind AND before_hash = after_hash AND before_mode = after_mode
		AND (before_hash <> '' OR before_kind NOT IN (?, ?))`, n, turn, rowLive, kindFile, kindLink)
}

// asWritten puts what a tool wrote in the place of what is in files now.
func asWritten(after []entry, written map[string][]byte) ([]entry, error) {
	for i, e := range after {
		data, ok := written[e.path]
		if !ok || e.kind != kindFile && e.kind != kindAbsent || e.kind == kindFile && e.hash == contentHash(data) {
			continue
		}
		e.kind, e.blob = kindFile, nil
		e, err := e.content(data, len(data) <= overwrittenFile)
		if err != nil {
			return nil, err
		}
		after[i] = e
	}
	return after, nil
}

// otherwise returns the state of the files that held something else when a tool replaced them than when Track
// looked: another program was replacing them at that moment.
func (c *Checkpoints) otherwise(before map[string]entry, replaced map[string][]byte) ([]entry, error) {
	var list []entry
	for path, data := range replaced {
		e, looked := before[path]
		if !looked || e.kind == kindNote || e.kind == kindFile && e.hash == contentHash(data) {
			continue
		}
		mode := e.mode
		if e.kind != kindFile {
			now, err := inspect(path, false, 0)
			if err != nil {
				return nil, err
			}
			mode = now.mode
		}
		e, err := entry{path: path, kind: kindFile, mode: mode, author: c.author}.content(data, true)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// openBefore returns the first state of the turn's change of a path that goes on.
func (t *tx) openBefore(n int64, turn int, path string) (e entry, err error) {
	err = t.Row(`SELECT before_kind, before_hash FROM checkpoints WHERE session = ? AND turn = ? AND path = ? AND state = ? AND before_kind <> ? AND after_kind = ''
		ORDER BY id DESC LIMIT 1`, []any{n, turn, path, rowLive, kindNote}, &e.kind, &e.hash)
	return e, err
}

// replaceBefore corrects the first state of the turn's change of a path that goes on. One that goes on from an
// earlier change of the turn keeps its first state: done is false.
func (t *tx) replaceBefore(n int64, turn int, e entry) (done bool, err error) {
	var id int64
	err = t.Row(`SELECT id FROM checkpoints WHERE session = ? AND turn = ? AND path = ? AND state = ? AND before_kind <> ? AND after_kind = '' AND after_hash = ''
		ORDER BY id DESC LIMIT 1`, []any{n, turn, e.path, rowLive, kindNote}, &id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if e.blob != nil {
		if err := t.putBlob(*e.blob); err != nil {
			return false, err
		}
	}
	return true, t.run("UPDATE checkpoints SET before_kind = ?, before_hash = ?, before_mode = ? WHERE id = ?", e.kind, e.hash, e.mode, id)
}

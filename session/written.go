package session

import "context"

// Written is what a tool did to files, as far as it knows. Another program may have replaced that by then.
type Written struct {
	// Files are the bytes that it wrote, by path.
	Files map[string][]byte
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

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"jcode/internal/atomicfile"
)

// UndoReport says what an undo or a redo did.
type UndoReport struct {
	Turn     int
	Restored []PathChange // what was restored
	Skipped  []PathChange // what was left alone, and why
	Cannot   []string     // what else the turn did that no undo reverts
}

// PathChange is one path in an UndoReport.
type PathChange struct {
	Path string
	What string // "restored", "removed", "made again", or the reason for leaving it alone
	By   string // what had changed it, where that was not one of jcode's own tools
}

// Undo reverts what the newest turn with changes did to files. It returns ErrNothing if no
// turn has any left. A file that has changed since is left alone and reported.
func (c *Checkpoints) Undo(ctx context.Context, sessionID string) (UndoReport, error) {
	if _, _, err := c.Finish(ctx, sessionID); err != nil {
		return UndoReport{}, err
	}
	c, done := c.of(sessionID)
	defer done()
	return c.undo(ctx, sessionID, rowLive)
}

// undo reverts the newest turn among the rows in a state.
func (c *Checkpoints) undo(ctx context.Context, sessionID, state string) (UndoReport, error) {
	rows, err := c.rows(ctx, sessionID, state)
	if err != nil {
		return UndoReport{}, err
	}
	turn := -1
	for _, r := range rows {
		if r.before.kind != kindNote {
			turn = max(turn, r.turn)
		}
	}
	if turn < 0 {
		return UndoReport{}, fmt.Errorf("undo: %w: no turn of this session changed files", ErrNothing)
	}
	return c.undoTurn(ctx, rows, turn, math.MaxInt)
}

// Finish finishes what an undo or redo of a session had begun when jcode was killed: it would otherwise be half done,
// and nothing would say so. ok is false if there is none.
func (c *Checkpoints) Finish(ctx context.Context, sessionID string) (report UndoReport, ok bool, err error) {
	c, done := c.of(sessionID)
	defer done()
	for _, begun := range []struct {
		state string
		do    func(context.Context, string, string) (UndoReport, error)
	}{{rowUndoing, c.undo}, {rowRedoing, c.redo}} {
		switch report, err := begun.do(ctx, sessionID, begun.state); {
		case err == nil:
			return report, true, nil
		case !errors.Is(err, ErrNothing):
			return report, false, err
		}
	}
	return UndoReport{}, false, nil
}

// UndoFrom reverts what a turn and all later ones did to files, newest first.
func (c *Checkpoints) UndoFrom(ctx context.Context, sessionID string, turn int) ([]UndoReport, error) {
	if _, _, err := c.Finish(ctx, sessionID); err != nil {
		return nil, err
	}
	c, done := c.of(sessionID)
	defer done()
	rows, err := c.rows(ctx, sessionID, rowLive)
	if err != nil {
		return nil, err
	}
	var turns []int
	for _, r := range rows {
		if r.turn >= turn && !slices.Contains(turns, r.turn) {
			turns = append(turns, r.turn)
		}
	}
	slices.SortFunc(turns, func(a, b int) int { return cmp.Compare(b, a) })
	var reports []UndoReport
	for _, n := range turns {
		r, err := c.undoTurn(ctx, rows, n, n)
		reports = append(reports, r)
		if err != nil {
			return reports, err
		}
	}
	return reports, nil
}

// undoTurn reverts one turn. It reports what can't be undone of that turn and of later ones up
// to last.
func (c *Checkpoints) undoTurn(ctx context.Context, rows []checkpointRow, turn, last int) (UndoReport, error) {
	report := UndoReport{Turn: turn}
	var do steps
	for _, r := range slices.Backward(rows) { // the last change of a path is reverted first
		switch {
		case r.before.kind == kindNote:
			if r.turn >= turn && r.turn <= last {
				report.Cannot = append(report.Cannot, r.path)
				do.list = append(do.list, step{row: r, note: true})
			}
		case r.turn == turn:
			do.add(step{row: r, from: r.after, to: r.before})
		}
	}
	slices.Reverse(report.Cannot)
	err := c.carryOut(ctx, do.list, &report, rowUndone)
	return report, err
}

// Redo repeats the changes that the last Undo reverted. It returns ErrNothing if there are
// none, or if tools have changed files since.
func (c *Checkpoints) Redo(ctx context.Context, sessionID string) (UndoReport, error) {
	if _, _, err := c.Finish(ctx, sessionID); err != nil {
		return UndoReport{}, err
	}
	c, done := c.of(sessionID)
	defer done()
	return c.redo(ctx, sessionID, rowUndone)
}

// redo repeats the oldest turn among the rows in a state.
func (c *Checkpoints) redo(ctx context.Context, sessionID, state string) (UndoReport, error) {
	rows, err := c.rows(ctx, sessionID, state)
	if err != nil {
		return UndoReport{}, err
	}
	// The oldest turn was undone last.
	first := slices.IndexFunc(rows, func(r checkpointRow) bool { return r.before.kind != kindNote })
	if first < 0 {
		return UndoReport{}, fmt.Errorf("redo: %w: nothing was undone since the last change", ErrNothing)
	}
	report := UndoReport{Turn: rows[first].turn}
	var do steps
	for _, r := range rows {
		switch {
		case r.turn != report.Turn:
		case r.before.kind == kindNote:
			do.list = append(do.list, step{row: r, note: true})
		default:
			do.add(step{row: r, from: r.before, to: r.after})
		}
	}
	err = c.carryOut(ctx, do.list, &report, rowLive)
	return report, err
}

// carryOut does the steps in their order. Each path is checked just before it is changed. Rows are marked before and
// at the end; after a crash in between, Finish repeats the steps, which find their work done.
func (c *Checkpoints) carryOut(ctx context.Context, steps []step, report *UndoReport, done string) error {
	was, begun := rowLive, rowUndoing
	if done == rowLive {
		was, begun = rowUndone, rowRedoing
	}
	states := map[int64]string{}
	for _, s := range steps {
		s.mark(states, begun)
	}
	if err := c.setStates(ctx, states); err != nil {
		return err
	}
	for id := range states { // what is not done stays as it was
		states[id] = was
	}
	moveEarly(steps)
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.place(), b.place()) })
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			break // what is done is marked
		}
		if s.note {
			s.mark(states, done)
			continue
		}
		what, reason := c.applyAlone(ctx, s)
		if reason != "" && ctx.Err() != nil {
			break // it was interrupted, not refused: the next undo tries it again
		}
		s.mark(states, done)
		switch {
		case reason != "":
			s.mark(states, rowSkipped)
			report.Skipped = append(report.Skipped, PathChange{Path: s.target(), What: reason, By: s.row.author})
		case what != "":
			report.Restored = append(report.Restored, PathChange{Path: s.target(), What: what, By: s.row.author})
		}
	}
	if err := c.setStates(context.WithoutCancel(ctx), states); err != nil {
		return err
	}
	return ctx.Err()
}

func (c *Checkpoints) setStates(ctx context.Context, states map[int64]string) error {
	return c.s.change(ctx, "note what was undone", func(t *tx) error {
		for id, state := range states {
			if err := t.run("UPDATE checkpoints SET state = ?, ended = ? WHERE id = ?", state, toMillis(t.now()), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// applyAlone is apply under the lock of the path.
func (c *Checkpoints) applyAlone(ctx context.Context, s step) (what, reason string) {
	unlock, err := c.locks.Lock(ctx, s.row.path)
	if err != nil {
		return "", err.Error()
	}
	defer unlock()
	return c.apply(ctx, s)
}

// apply moves one path to its state and returns what it did, or the reason why it did
// nothing.
func (c *Checkpoints) apply(ctx context.Context, s step) (what, reason string) {
	if s.to.kind == kindRepository {
		return s.moveRepository()
	}
	now, err := inspect(s.row.path, false, 0)
	switch {
	case err != nil:
		return "", "it can't be read: " + err.Error()
	case now.same(s.to):
		return "", ""
	case s.from.kind == "" || s.to.kind == "":
		return "", "jcode ended while a tool changed it"
	case !now.same(s.from):
		return "", "it was changed since"
	case now.kind == kindOther || s.to.kind == kindOther || s.to.unread():
		return "", cmp.Or(s.row.note, "it is not a file, folder or link")
	case movedFolder(s.row.path):
		return "", "its folder is a link now"
	}
	if c.busy != nil {
		if why := c.busy(ctx, s.row.path); why != "" {
			return "", why
		}
	}
	content, was, err := c.exchange(ctx, s)
	if err != nil {
		return "", err.Error()
	}
	replaced := &atomicfile.Was{}
	if was != nil {
		replaced = &atomicfile.Was{Exists: true, Data: *was}
	} else if s.from.kind == kindFile {
		replaced = nil // too large to compare
	}
	if s.to.kind == kindAbsent || s.to.kind != s.from.kind && s.from.kind != kindAbsent {
		if err := now.remove(was); err != nil {
			return "", failedStep("removed", err)
		}
		if s.to.kind == kindAbsent {
			return "removed", ""
		}
		replaced = &atomicfile.Was{}
	}
	if err := s.to.put(content, replaced); err != nil {
		return "", failedStep("written", err)
	}
	if s.from.kind == kindAbsent {
		return "made again", ""
	}
	return "restored", ""
}

// failedStep says why a path was left alone.
func failedStep(what string, err error) string {
	if _, changed := errors.AsType[*atomicfile.ChangedError](err); changed {
		return "it was changed since"
	}
	return "it can't be " + what + ": " + err.Error()
}

// exchange returns the content that a step puts in place, and that of the file which it replaces, if that
// is not too large. It stores the latter, so that the step can be reverted.
func (c *Checkpoints) exchange(ctx context.Context, s step) (content []byte, was *[]byte, err error) {
	if s.to.hash != "" {
		if content, err = c.s.blob(ctx, s.to.hash); err != nil {
			if s.row.note != "" {
				return nil, nil, errors.New(s.row.note)
			}
			return nil, nil, fmt.Errorf("its former content is not kept: %w", err)
		}
	}
	if s.from.hash == "" {
		return content, nil, nil
	}
	e, err := inspect(s.row.path, true, c.limits.file)
	if err != nil {
		return nil, nil, fmt.Errorf("it can't be read: %w", err)
	}
	if !e.same(s.from) {
		return nil, nil, errors.New("it was changed since")
	}
	if e.blob == nil {
		return content, nil, nil // too large: it can be undone, but not redone
	}
	if e.kind == kindFile {
		held, err := e.blob.unpack()
		if err != nil {
			return nil, nil, err
		}
		was = &held
	}
	return content, was, c.s.write(ctx, func(t *tx) error { return t.putBlob(*e.blob) })
}

// movedFolder reports whether a parent of the path has become a link, so that the path leads
// elsewhere than when the tool changed it.
func movedFolder(path string) bool {
	dir := filepath.Dir(path)
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return real != dir
		}
		parent := filepath.Dir(dir)
		if parent == dir || !missing(err) {
			return false
		}
		dir = parent
	}
}

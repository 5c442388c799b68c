package editor

// edit is one change, kept for undo.
type edit struct {
	at                pos
	removed, inserted [][]glyph // lines; one empty line means nothing
	before, after     pos       // the cursor
	typed             bool      // single characters, which are joined
	group             int       // changes of one group are undone together; 0 = none
}

// joins reports whether a typed character belongs to the same undo step: a word.
func (u edit) joins(next edit) bool {
	return u.typed && u.group == next.group && u.after == next.at && len(u.removed) == 1 && len(u.removed[0]) == 0 &&
		len(next.inserted) == 1 && len(next.inserted[0]) > 0 && next.inserted[0][0].s != " "
}

// openGroup begins a group of changes: everything until group is 0 again is undone as one.
func (e *Editor) openGroup() {
	e.groups++
	e.group = e.groups
}

// Undo reverts the last change, or the last group of them.
func (e *Editor) Undo() {
	e.replay(&e.undos, &e.redos, func(u edit) pos {
		e.splice(u.at, after(u.at, u.inserted), u.removed)
		return u.before
	})
}

// Redo repeats what was undone.
func (e *Editor) Redo() {
	e.replay(&e.redos, &e.undos, func(u edit) pos {
		e.splice(u.at, after(u.at, u.removed), u.inserted)
		return u.after
	})
}

// replay applies the last change of one list, or its last group, and moves it to the other. apply returns the
// cursor afterwards.
func (e *Editor) replay(from, to *[]edit, apply func(edit) pos) {
	for n := len(*from); n > 0; n = len(*from) {
		u := (*from)[n-1]
		*from = (*from)[:n-1]
		e.cur, e.goal = apply(u), -1
		*to = append(*to, u)
		e.generation++
		if u.group == 0 || n == 1 || (*from)[n-2].group != u.group {
			return
		}
	}
}

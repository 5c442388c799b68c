package editor

// edit is one change, kept to be undone.
type edit struct {
	at                pos
	removed, inserted [][]glyph // lines; one empty line is nothing
	before, after     pos       // the cursor
	typed             bool      // single characters, which join
	group             int       // changes of one group are undone together; 0 = none
}

// joins reports whether a typed character belongs to the same undo step: a word.
func (u edit) joins(next edit) bool {
	return u.typed && u.group == next.group && u.after == next.at && len(u.removed) == 1 && len(u.removed[0]) == 0 &&
		len(next.inserted) == 1 && len(next.inserted[0]) > 0 && next.inserted[0][0].s != " "
}

// openGroup begins a group of changes: what is done until group is 0 again is undone as one.
func (e *Editor) openGroup() {
	e.groups++
	e.group = e.groups
}

// Undo takes the last change back, or the last group of them.
func (e *Editor) Undo() {
	for {
		n := len(e.undos)
		if n == 0 {
			return
		}
		u := e.undos[n-1]
		e.undos = e.undos[:n-1]
		e.splice(u.at, after(u.at, u.inserted), u.removed)
		e.cur, e.goal = u.before, -1
		e.redos = append(e.redos, u)
		e.generation++
		if u.group == 0 || n == 1 || e.undos[n-2].group != u.group {
			return
		}
	}
}

// Redo does what was undone again.
func (e *Editor) Redo() {
	for {
		n := len(e.redos)
		if n == 0 {
			return
		}
		u := e.redos[n-1]
		e.redos = e.redos[:n-1]
		e.splice(u.at, after(u.at, u.removed), u.inserted)
		e.cur, e.goal = u.after, -1
		e.undos = append(e.undos, u)
		e.generation++
		if u.group == 0 || n == 1 || e.redos[n-2].group != u.group {
			return
		}
	}
}

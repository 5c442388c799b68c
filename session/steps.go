package session

import (
	"slices"
	"strings"

	"jcode/internal/paths"
)

// step moves one path from one state to another.
type step struct {
	row      checkpointRow
	from, to entry
	note     bool // nothing to do except to mark the row
	early    bool // a folder to which a repository is moved
	// also are other rows of the path whose changes the step moves over.
	also []int64
}

// steps are what an undo or redo does, in the order of their rows.
type steps struct {
	list []step
	last map[string]int // the last step of a path
}

// add adds a step. One that goes on from where a step of the same path ends becomes one with it, since steps are
// done in the order of their places, not of their rows.
func (l *steps) add(s step) {
	at, ok := l.last[s.row.path]
	if ok && l.list[at].to.kind != "" && l.list[at].to.same(s.from) {
		old := l.list[at]
		s.from, s.also = old.from, append(old.also, old.row.id)
		if by := old.row.author; by != "" && !strings.Contains(s.row.author, by) {
			s.row.author = strings.TrimPrefix(s.row.author+" and "+by, " and ")
		}
		l.list[at] = s
		return
	}
	if l.last == nil {
		l.last = map[string]int{}
	}
	l.last[s.row.path] = len(l.list)
	l.list = append(l.list, s)
}

// mark notes a state for all rows of a step.
func (s step) mark(states map[int64]string, state string) {
	states[s.row.id] = state
	for _, id := range s.also {
		states[id] = state
	}
}

// place orders steps: what is removed from the deepest path up, then what is created from the
// top down.
func (s step) place() int {
	switch {
	case s.to.kind == kindRepository, s.early:
		return depth(s.target()) - beforeAll
	case s.to.kind == kindAbsent:
		return -depth(s.row.path)
	}
	return depth(s.row.path)
}

// beforeAll is more than the depth of any path.
const beforeAll = 1 << 20

// target is the path that the step makes.
func (s step) target() string {
	if s.to.kind == kindRepository {
		return s.to.hash
	}
	return s.row.path
}

// moveEarly has what git keeps of repositories moved before anything else: the folders that it lay in can only be
// removed then, and those that it goes to must be there.
func moveEarly(list []step) {
	for i := range list {
		list[i].early = list[i].to.kind == kindDir && slices.ContainsFunc(list, func(o step) bool {
			return o.to.kind == kindRepository && paths.Within(list[i].row.path, o.to.hash)
		})
	}
}

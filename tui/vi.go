package tui

import (
	tea "charm.land/bubbletea/v2"
)

// vi is the state of the optional vi keys. Writing is like always; Esc goes to the normal
// mode, in which letters move and change.
type vi struct {
	normal  bool
	pending string // an operator that waits for its motion: "d", "c", "y", "g"
}

// key handles a key in normal mode; ok is false for keys that do what they always do.
func (v *vi) key(p *program, k tea.KeyPressMsg) (cmd tea.Cmd, ok bool) {
	if k.Text == "" || !v.normal {
		return nil, false
	}
	e := p.in
	op := v.pending
	v.pending = ""
	if op != "" {
		v.operate(e, op, k.Text)
		return nil, true
	}
	switch k.Text {
	case "d", "c", "g":
		v.pending = k.Text
	case "i":
		v.normal = false
	case "a":
		e.do(actRight)
		v.normal = false
	case "I":
		e.do(actHome)
		v.normal = false
	case "A":
		e.do(actEnd)
		v.normal = false
	case "o":
		e.do(actEnd)
		e.Newline()
		v.normal = false
	case "O":
		e.do(actHome)
		e.Newline()
		e.move(pos{e.cur.row - 1, 0})
		v.normal = false
	case "x":
		if e.cur.col < len(e.lines[e.cur.row]) {
			e.kill(e.right(e.cur))
		}
	case "D":
		e.kill(pos{e.cur.row, len(e.lines[e.cur.row])})
	case "C":
		e.kill(pos{e.cur.row, len(e.lines[e.cur.row])})
		v.normal = false
	case "p":
		e.Yank()
	case "u":
		e.Undo()
	case "j":
		return p.act(actDown), true
	case "k":
		return p.act(actUp), true
	default:
		if to, moves := motion(e, k.Text); moves {
			e.move(to)
		}
	}
	return nil, true
}

// operate carries out an operator over a motion; doubled it takes the whole line.
func (v *vi) operate(e *editor, op, motionKey string) {
	if op == "g" {
		if motionKey == "g" {
			e.move(pos{})
		}
		return
	}
	if motionKey == op {
		e.move(pos{e.cur.row, 0})
		switch {
		case op == "d" && e.cur.row < len(e.lines)-1:
			e.kill(pos{e.cur.row + 1, 0})
		default:
			e.kill(pos{e.cur.row, len(e.lines[e.cur.row])})
		}
	} else if to, ok := motion(e, motionKey); ok {
		e.kill(to)
	} else {
		return
	}
	v.normal = op != "c"
}

// motion gives where a key moves to.
func motion(e *editor, key string) (to pos, ok bool) {
	switch key {
	case "h":
		return e.left(e.cur), true
	case "l":
		return e.right(e.cur), true
	case "b":
		return e.wordLeft(e.cur), true
	case "e":
		return e.wordRight(e.cur), true
	case "w":
		to = e.wordRight(e.cur)
		for to.col < len(e.lines[to.row]) && !e.wordAt(to) {
			to.col++
		}
		return to, true
	case "0", "^":
		return pos{e.cur.row, 0}, true
	case "$":
		return pos{e.cur.row, len(e.lines[e.cur.row])}, true
	case "G":
		return e.end(), true
	}
	return e.cur, false
}

package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/keyboard"
)

// viMode is what letters do.
type viMode int

const (
	viInsert viMode = iota // they are written
	viNormal               // they move and change
	viVisual               // they move the end of a selection, and change it
	viLines                // the same by whole lines
)

// vi is the state of the optional vi keys over an editor. A fresh one writes like always;
// Esc goes to the normal mode. It knows nothing of the program around: what it cannot do
// on its own comes back as a viAsk.
type vi struct {
	mode   viMode
	cmd    viCmd  // as far as it was typed
	keys   string // the same as it is shown
	digits int    // count being typed
	prefix string // a key that waits for another: "g", "f", "F", "t", "T", "r", "i", "a"

	find   viCmd // the last f, F, t or T, for ; and ,
	anchor pos   // the fixed end of a selection
	goal   int   // the column that j and k aim at in a selection

	last  viCmd  // the last change, for .
	typed string // what was written after it
	start pos    // where writing began
	times int    // how often what was written is to stand there; 0 = it belongs to no change

	reg      [][]glyph // what was cut or copied
	regLines bool      // it is whole lines
}

// viCmd is one command: an operator with what it works on, or a key of its own.
type viCmd struct {
	count int    // 0 = none was given
	op    string // "d", "c", "y" or ""
	key   string // a motion ("w", "gg"), an object ("iw"), the operator again, or a command
	arg   string // the character of f, F, t, T and r
}

// times is the count, 1 where none was given.
func (c viCmd) times() int { return max(c.count, 1) }

// viAsk is what the program is to do for a key.
type viAsk int

const (
	viDone   viAsk = iota // nothing
	viOther               // the key is none of vi's
	viUp                  // a line up, then an older prompt; count times
	viDown                // a line down, then a newer prompt
	viSearch              // search the earlier prompts
)

// key handles a key of the program; ok is false for those that do what they always do.
func (v *vi) key(p *program, k tea.KeyPressMsg, act action) (cmd tea.Cmd, ok bool) {
	e := p.in
	if v.mode == viInsert {
		if act != actInterrupt || p.menu.active() {
			return nil, false
		}
		v.leave(e)
		return nil, true
	}
	name := keyboard.Letter(k)
	switch {
	case act == actInterrupt:
		name = "esc"
	case k.Text != "" && v.takesText():
		name = k.Text
	}
	count := v.digits
	switch v.feed(e, name) {
	case viOther:
		return nil, false
	case viUp, viDown:
		move := actUp
		if name == "j" || name == "down" {
			move = actDown
		}
		for range max(count, 1) {
			p.act(move)
		}
		v.clamp(e)
	case viSearch:
		return p.act(actSearch), true
	case viDone:
	}
	return nil, true
}

// takesText reports whether the next key stands for what it types, on any layout.
func (v *vi) takesText() bool { return v.prefix != "" && strings.Contains("fFtTr", v.prefix) }

// label says what mode it is and what of a command was typed, "" while letters are written.
func (v *vi) label() string {
	name := ""
	switch v.mode {
	case viInsert:
		return ""
	case viNormal:
		name = "normal"
	case viVisual:
		name = "visual"
	case viLines:
		name = "visual line"
	}
	return strings.TrimSpace(name + " " + v.keys)
}

// viHelp lists the vi keys for the help. It is never written.
var viHelp = [][2]string{
	{"esc", "normal mode: letters move and change"},
	{"i a I A o O", "write here, behind, at the line's start or end, in a new line below or above"},
	{"h l w b e ge W B E", "a character, a word left or right; counts go before"},
	{"0 ^ $ f F t T ; ,", "in the line: its ends, to a character, once more, back"},
	{"j k gg G { } %", "a line, the first, the last, a paragraph, the other bracket"},
	{"d c y", "cut, change, copy what the next key moves over; twice: the line"},
	{"iw aw i\" a\" i( a( ip …", "after d, c, y: a word, what quotes or brackets hold, a paragraph"},
	{"x X D C Y s S r ~ J", "short forms: a character, to the line's end, replace, capitals, join"},
	{"p P", "put back what was cut or copied"},
	{"u ctrl+r .", "undo, redo, the last change once more"},
	{"v V", "select characters or lines; o goes to the other end"},
	{"/", "search the earlier prompts"},
}

// viArrows are the keys that mean the same as a letter. It is never written.
var viArrows = map[string]string{
	"left": "h", "right": "l", "up": "k", "down": "j", "home": "0", "end": "$", "backspace": "h", "space": " ", "delete": "x",
}

// feed takes one key: a character, or the name of another key.
func (v *vi) feed(e *editor, key string) viAsk {
	if key == "esc" {
		return v.escape(e)
	}
	if v.prefix != "" {
		return v.second(e, key)
	}
	if len(key) == 1 && (key >= "1" && key <= "9" || key == "0" && v.digits > 0) {
		v.digits = min(v.digits*10+int(key[0]-'0'), 9999)
		v.keys += key
		return viDone
	}
	if letter, ok := viArrows[key]; ok {
		key = letter
	} else if keyName(key) && key != "ctrl+r" {
		v.forget()
		return viOther
	}
	visual := v.mode != viNormal
	switch key {
	case "g", "f", "F", "t", "T", "r":
		v.prefix = key
		v.keys += key
		return viDone
	case "i", "a":
		if v.cmd.op != "" || visual {
			v.prefix = key
			v.keys += key
			return viDone
		}
	case "d", "c", "y":
		if v.cmd.op == "" && !visual {
			v.cmd.op = key
			v.takeCount()
			v.keys += key
			return viDone
		}
	}
	return v.complete(e, key, "")
}

// keyName tells the name of a key from a character.
func keyName(key string) bool {
	return len(key) > 1 && !strings.ContainsFunc(key, func(r rune) bool { return r >= 0x80 })
}

// second takes the key that a prefix waited for.
func (v *vi) second(e *editor, key string) viAsk {
	prefix := v.prefix
	v.prefix = ""
	switch prefix {
	case "f", "F", "t", "T", "r":
		if keyName(key) {
			v.forget()
			return viDone
		}
		return v.complete(e, prefix, key)
	}
	return v.complete(e, prefix+key, "")
}

// takeCount moves the digits that were typed into the command; counts before and behind an
// operator multiply.
func (v *vi) takeCount() {
	if v.digits > 0 {
		v.cmd.count = min(v.cmd.times()*v.digits, 9999)
		v.digits = 0
	}
}

// complete carries out a command whose last key has come.
func (v *vi) complete(e *editor, key, arg string) viAsk {
	v.takeCount()
	c := v.cmd
	c.key, c.arg = key, arg
	v.forget()
	ask := viDone
	if v.mode == viNormal {
		ask = v.normal(e, c)
	} else {
		v.visual(e, c)
	}
	if v.mode != viInsert {
		e.group = 0
		v.clamp(e)
	}
	return ask
}

// forget drops what of a command was typed.
func (v *vi) forget() { v.cmd, v.keys, v.prefix, v.digits = viCmd{}, "", "", 0 }

// escape drops half a command or a selection; with neither, the key is not vi's.
func (v *vi) escape(e *editor) viAsk {
	switch {
	case v.keys != "":
		v.forget()
	case v.mode == viVisual || v.mode == viLines:
		v.mode = viNormal
		v.clamp(e)
	default:
		return viOther
	}
	return viDone
}

// clamp keeps the cursor on a character, as it is outside of writing.
func (v *vi) clamp(e *editor) {
	if last := len(e.lines[e.cur.row]) - 1; e.cur.col > max(last, 0) {
		e.cur.col = max(last, 0)
	}
}

// write begins to write at the cursor; what is written belongs to the change c.
func (v *vi) write(e *editor, c viCmd) {
	v.mode, v.start, v.times = viInsert, e.cur, 1
	switch c.key {
	case "i", "a", "I", "A":
		v.times = c.times()
	}
}

// fresh begins a new text: letters are written.
func (v *vi) fresh() {
	v.forget()
	v.mode, v.times = viInsert, 0
}

// leave ends writing: the cursor steps back onto the last character.
func (v *vi) leave(e *editor) {
	if v.times > 0 && !e.cur.before(v.start) && v.start.row < len(e.lines) && v.start.col <= len(e.lines[v.start.row]) {
		written := cloneLines(e.between(v.start, e.cur))
		for range v.times - 1 {
			e.replace(e.cur, e.cur, written, false)
		}
		v.typed = plainText(written)
	}
	v.mode, v.times, e.group = viNormal, 0, 0
	if e.cur.col > 0 {
		e.move(pos{e.cur.row, e.cur.col - 1})
	}
}

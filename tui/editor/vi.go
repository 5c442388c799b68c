package editor

import "strings"

// viMode decides what letters do.
type viMode int

const (
	viInsert viMode = iota // they are inserted
	viNormal               // they move and change
	viVisual               // they move the end of a selection, and change it
	viLines                // the same for whole lines
)

// Vi is the state of the optional vi keys of an editor. The zero value inserts text; Esc switches to normal
// mode. It knows nothing of the program around it: what it cannot do itself is returned as an Ask.
type Vi struct {
	mode   viMode
	cmd    viCmd  // as far as it was typed
	keys   string // the same in the form that is shown
	digits int    // count being typed
	prefix string // a key that waits for another: "g", "f", "F", "t", "T", "r", "i", "a"

	find   viCmd // the last f, F, t or T, for ; and ,
	anchor pos   // the fixed end of a selection
	goal   int   // the column that j and k aim at in a selection

	last  viCmd  // the last change, for .
	typed string // what was written after it
	start pos    // where inserting began
	times int    // how often the inserted text must appear; 0 = it belongs to no change

	reg      [][]glyph // what was cut or copied
	regLines bool      // it is whole lines
}

// viCmd is one command: an operator with its target, or a single key.
type viCmd struct {
	count int    // 0 = none was typed
	op    string // "d", "c", "y" or ""
	key   string // a motion ("w", "gg"), an object ("iw"), the operator again, or a command
	arg   string // the character of f, F, t, T and r
}

// times returns the count, or 1 without one.
func (c viCmd) times() int { return max(c.count, 1) }

// Ask is what the program must do for a key.
type Ask int

const (
	Done     Ask = iota // nothing
	Other               // the key is not a vi key
	LineUp              // a line up, then an older prompt; count times
	LineDown            // a line down, then a newer prompt
	Search              // search the earlier prompts
)

// Key handles a key: a character, or the name of another one ("esc", "ctrl+r"). It returns what is left to
// do, and how often.
func (v *Vi) Key(e *Editor, key string) (ask Ask, times int) {
	if v.mode == viInsert {
		if key != "esc" {
			return Other, 0
		}
		v.leave(e)
		return Done, 0
	}
	count := v.digits
	return v.feed(e, key), max(count, 1)
}

// Writing reports whether letters are inserted rather than commands.
func (v *Vi) Writing() bool { return v.mode == viInsert }

// Help lists the keys for a help page: keys, and what they do.
func Help() [][2]string { return viHelp }

// Mark marks in rows what a visual mode has selected.
func (v *Vi) Mark(e *Editor, rows []Row) {
	s, ok := v.selection(e)
	if !ok {
		return
	}
	for i := range rows {
		r := &rows[i]
		if r.at.row < s.from.row || r.at.row > s.to.row {
			continue
		}
		r.from, r.to = 0, len(r.glyphs)
		if !s.lines && r.at.row == s.from.row {
			r.from = min(max(s.from.col-r.at.col, 0), r.to)
		}
		if !s.lines && r.at.row == s.to.row {
			r.to = min(max(s.to.col-r.at.col, r.from), r.to)
		}
	}
}

// TakesText reports whether the next key means the character that it types, on any layout.
func (v *Vi) TakesText() bool { return v.prefix != "" && strings.Contains("fFtTr", v.prefix) }

// Label returns the mode and the typed part of a command, "" in insert mode.
func (v *Vi) Label() string {
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
	{"iw aw i\" a\" i( a( ip …", "after d, c, y: a word, the text in quotes or brackets, a paragraph"},
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

// feed handles one key: a character, or the name of another key.
func (v *Vi) feed(e *Editor, key string) Ask {
	if key == "esc" {
		return v.escape(e)
	}
	if v.prefix != "" {
		return v.second(e, key)
	}
	if len(key) == 1 && (key >= "1" && key <= "9" || key == "0" && v.digits > 0) {
		v.digits = min(v.digits*10+int(key[0]-'0'), 9999)
		v.keys += key
		return Done
	}
	if letter, ok := viArrows[key]; ok {
		key = letter
	} else if keyName(key) && key != "ctrl+r" {
		v.forget()
		return Other
	}
	visual := v.mode != viNormal
	switch key {
	case "g", "f", "F", "t", "T", "r":
		v.prefix = key
		v.keys += key
		return Done
	case "i", "a":
		if v.cmd.op != "" || visual {
			v.prefix = key
			v.keys += key
			return Done
		}
	case "d", "c", "y":
		if v.cmd.op == "" && !visual {
			v.cmd.op = key
			v.takeCount()
			v.keys += key
			return Done
		}
	}
	return v.complete(e, key, "")
}

// keyName tells the name of a key from a character.
func keyName(key string) bool {
	return len(key) > 1 && !strings.ContainsFunc(key, func(r rune) bool { return r >= 0x80 })
}

// second handles the key that a prefix waited for.
func (v *Vi) second(e *Editor, key string) Ask {
	prefix := v.prefix
	v.prefix = ""
	switch prefix {
	case "f", "F", "t", "T", "r":
		if keyName(key) {
			v.forget()
			return Done
		}
		return v.complete(e, prefix, key)
	}
	return v.complete(e, prefix+key, "")
}

// takeCount moves the typed digits into the command; counts before and after an operator multiply.
func (v *Vi) takeCount() {
	if v.digits > 0 {
		v.cmd.count = min(v.cmd.times()*v.digits, 9999)
		v.digits = 0
	}
}

// complete runs a command whose last key was typed.
func (v *Vi) complete(e *Editor, key, arg string) Ask {
	v.takeCount()
	c := v.cmd
	c.key, c.arg = key, arg
	v.forget()
	ask := Done
	if v.mode == viNormal {
		ask = v.normal(e, c)
	} else {
		v.visual(e, c)
	}
	if v.mode != viInsert {
		e.group = 0
		v.Clamp(e)
	}
	return ask
}

// forget drops the typed part of a command.
func (v *Vi) forget() { v.cmd, v.keys, v.prefix, v.digits = viCmd{}, "", "", 0 }

// escape drops a partial command or a selection; with neither, the key is not vi's.
func (v *Vi) escape(e *Editor) Ask {
	switch {
	case v.keys != "":
		v.forget()
	case v.mode == viVisual || v.mode == viLines:
		v.mode = viNormal
		v.Clamp(e)
	default:
		return Other
	}
	return Done
}

// Clamp keeps the cursor on a character, as required outside insert mode.
func (v *Vi) Clamp(e *Editor) {
	if last := len(e.lines[e.cur.row]) - 1; e.cur.col > max(last, 0) {
		e.cur.col = max(last, 0)
	}
}

// write starts inserting at the cursor; the inserted text belongs to the change c.
func (v *Vi) write(e *Editor, c viCmd) {
	v.mode, v.start, v.times = viInsert, e.cur, 1
	switch c.key {
	case "i", "a", "I", "A":
		v.times = c.times()
	}
}

// Fresh starts a new text in insert mode.
func (v *Vi) Fresh() {
	v.forget()
	v.mode, v.times = viInsert, 0
}

// leave ends insert mode: the cursor moves back onto the last character.
func (v *Vi) leave(e *Editor) {
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

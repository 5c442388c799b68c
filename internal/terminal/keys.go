package terminal

import "strings"

// Keys names the keys that Press knows, for a message.
const Keys = "enter, tab, esc, space, backspace, delete, insert, up, down, left, right, home, end, pageup, pagedown, f1 to f12, ctrl-a to ctrl-z, shift-tab, alt-…"

// Known reports whether there is a key of this name.
func Known(name string) bool {
	_, ok := sequence(name, false)
	return ok
}

// sequence returns what a terminal sends for a key; application says that the program asked for the other sequences of the
// cursor keys.
func sequence(name string, application bool) (string, bool) {
	name = strings.ToLower(strings.NewReplacer("+", "-", "_", "-", "control-", "ctrl-", "c-", "ctrl-").Replace(strings.TrimSpace(name)))
	if rest, ok := strings.CutPrefix(name, "alt-"); ok {
		if len(rest) == 1 && rest[0] > ' ' && rest[0] < 0x7f {
			return "\x1b" + rest, true
		}
		seq, ok := sequence(rest, application)
		return "\x1b" + seq, ok
	}
	if rest, ok := strings.CutPrefix(name, "ctrl-"); ok {
		switch {
		case len(rest) == 1 && rest[0] >= 'a' && rest[0] <= 'z':
			return string(rest[0] & 0x1f), true
		case len(rest) == 1 && strings.Contains(`[\]^_`, rest):
			return string(rest[0] & 0x1f), true
		case rest == "space", rest == "@":
			return "\x00", true
		}
		return "", false
	}
	if final, ok := map[string]string{"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}[name]; ok {
		if application {
			return "\x1bO" + final, true
		}
		return "\x1b[" + final, true
	}
	seq, ok := map[string]string{
		"enter": "\r", "return": "\r", "tab": "\t", "esc": "\x1b", "escape": "\x1b", "space": " ", "backspace": "\x7f",
		"delete": "\x1b[3~", "insert": "\x1b[2~", "pageup": "\x1b[5~", "pgup": "\x1b[5~", "pagedown": "\x1b[6~", "pgdown": "\x1b[6~", "shift-tab": "\x1b[Z",
		"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~", "f7": "\x1b[18~", "f8": "\x1b[19~",
		"f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
	}[name]
	return seq, ok
}

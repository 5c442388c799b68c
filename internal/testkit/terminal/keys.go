package terminal

import "strings"

// keyBytes are the bytes that a plain terminal sends for a key.
var keyBytes = map[string]string{
	"enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f", "space": " ",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdown": "\x1b[6~",
	"delete": "\x1b[3~", "insert": "\x1b[2~", "shift+tab": "\x1b[Z",
	"shift+enter": "\x1b[13;2u", "alt+enter": "\x1b\r", "ctrl+space": "\x00",
	"shift+up": "\x1b[1;2A", "shift+down": "\x1b[1;2B", "shift+left": "\x1b[1;2D", "shift+right": "\x1b[1;2C",
	"ctrl+left": "\x1b[1;5D", "ctrl+right": "\x1b[1;5C", "ctrl+up": "\x1b[1;5A", "ctrl+down": "\x1b[1;5B",
	"ctrl+home": "\x1b[1;5H", "ctrl+end": "\x1b[1;5F", "alt+up": "\x1b[1;3A", "alt+down": "\x1b[1;3B",
	"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR",
}

// bytesOf returns what a terminal sends for a key name such as "ctrl+c", "alt+b" or "enter"; an unknown name
// is sent literally.
func bytesOf(key string) string {
	if b, ok := keyBytes[key]; ok {
		return b
	}
	if k, ok := strings.CutPrefix(key, "ctrl+"); ok && len(k) == 1 {
		return string(rune(k[0] & 0x1f))
	}
	if k, ok := strings.CutPrefix(key, "alt+"); ok {
		return "\x1b" + bytesOf(k)
	}
	return key
}

package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/internal/text"
)

// hostile are texts that would drive a terminal, ask it something, or show something else than they are.
var hostile = [...]string{
	"\x1b[31m", "\x1b\x1b[31m", "\x1b[\x1b[31m", "\x1b[3\x9b1m", "\x9b31m", "\u009b31m", "\xc2\x1b[31m", "\x1b\xc2\x9b5n", "\xc0\x9b5n", "\xe0\x80\x9b5n", "\xf0\x80\x80\x9b5n", "\xed\xa0\x80\x1b[c",
	"\x1b]0;t\x07", "\x1b]0;t\x1b\\", "\u009d0;t\u009c", "\x9d0;t\x9c", "\x1b]52;c;ZXZpbA==\x07", "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\", "\x1b]1337;File=:AAAA\x07", "\x1b]777;notify;a;b\x07", "\x1b]9;4;1;50\x07",
	"\x1b]10;?\x07", "\x1b]4;0;?\x07", "\x1bP$qm\x1b\\", "\x1bP+q544e\x1b\\", "\x1bPtmux;\x1b\x1b]0;x\x07\x1b\\", "\x1b_Ga=T;AAAA\x1b\\", "\x1bPq#0;2;0;0;0\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\",
	"\x1bc", "\x1bZ", "\x1b[c", "\x1b[6n", "\x1b[21t", "\x1b[?1049h", "\x1b[?2004l", "\x1b[2J\x1b[H", "\x1b[8m hidden \x1b[0m", "\x1b#8", "\x1b%G", "\x1b(0", "\x1bY!!", "\x1b7\x1b8", "\x1bM", "\x1b=",
	"\x05", "\x07", "\x0e", "\x0f", "\x08\x08\x08", "\x7f", "\x0b", "\x0c", "\x11\x13", "\x84", "\u0085", "\x8d", "\u008f", "\x00", "\x1a", "\x18", "\x1c\x1d\x1e\x1f",
	"\u202eevil", "\u2066x\u2069", "\u202a\u202b\u202c", "\x1b[>4;1m", "\x1b[5i", "\x1b[?5W", "\x1b\x00[31m", "\x1b\n[31m", "\x1b\r[31m", "\x1b]0;a\nb\x07", "\x1b[99999999999999999999m", "\x1b]0;" + "\x1b",
	"\x1b[31", "\x1b]0;never ends", "\x1bP never ends", "\xc2", "\xe2\x80", "a\x1b", "\x1b[\u009b", "\u001b\u005b31m", "\x1bP\x1b[31m\x1b\\", "\x1b]\x1b]0;x\x07\x07",
}

// No text drives a terminal, whole or in whatever pieces it comes.
func TestNothingOfAHostileTextReachesATerminal(t *testing.T) {
	t.Parallel()
	for _, h := range hostile {
		s := "before" + h + "after\n"
		for what, got := range map[string]string{"Clean": text.Clean(s), "Visible": text.Visible(s), "Strip": text.Strip(s)} {
			if why := drives(got, what == "Strip"); why != "" {
				t.Errorf("%s(%q) = %q: %s", what, s, got, why)
			}
			if !strings.Contains(got, "before") && !strings.Contains(h, "\b") {
				t.Errorf("%s(%q) = %q: text is lost", what, s, got)
			}
		}
		for cut := range len(s) {
			var pieces text.Stripper
			got := pieces.Next([]byte(s[:cut])) + pieces.Next([]byte(s[cut:])) + pieces.Flush()
			if why := drives(got, true); why != "" {
				t.Errorf("%q in two pieces at %d = %q: %s", s, cut, got, why)
			}
		}
	}
}

// drives says what of a text a terminal would obey.
func drives(s string, returns bool) string {
	if !utf8.ValidString(s) {
		return "not text"
	}
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || returns && r == '\r':
		case r < 0x20, r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return fmt.Sprintf("U+%04X", r)
		}
	}
	return ""
}

// What looks like a blank, or like nothing, between the letters of a command or a name shows its number; in other
// scripts and in emoji it has its place.
func TestBlanksAndJoinersBetweenPlainLettersShowTheirNumber(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{0xa0, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x200c, 0x200d, 0x3000, 0xfe0f} {
		for _, s := range []string{"git%sstatus", "git %s", "%s/etc/passwd", ".en%sv", "rm -rf%s/", "a%[1]s%[1]sb"} {
			if got, want := text.Visible(fmt.Sprintf(s, string(r))), fmt.Sprintf(s, fmt.Sprintf("<U+%04X>", r)); got != want {
				t.Errorf("U+%04X in %s is shown as %q", r, s, got)
			}
		}
	}
	for _, s := range []string{"日本語　文", "👩\u200d💻", "❤\ufe0f", "क्\u200dष", "می\u200cخواهم", "1\ufe0f\u20e3", "10\u00a0€", "«\u00a0a\u00a0»"} {
		if got := text.Visible(s); got != s {
			t.Errorf("%q is shown as %q", s, got)
		}
	}
}

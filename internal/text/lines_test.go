package text

import "testing"

func TestLinesOfAText(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"the first line that is not blank", FirstLine("\n \t\n  one\x1b[31m red\nsecond", 80), "one red"},
		{"a text without one", FirstLine("\n\n", 80), ""},
		{"a first line that is cut", FirstLine("abcdefgh", 6), "abc…"},
		{"a headline", Headline("\r\n one\ttwo \r\nthree"), "one\ttwo"},
		{"a headline of nothing", Headline(" \n"), ""},
		{"the last lines", LastLines("a\nb\n c \nd\n", 2), "c | d"},
		{"fewer lines than asked for", LastLines("a", 3), "a"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

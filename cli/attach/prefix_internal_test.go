package attach

import "testing"

func TestTheWindowIsLeftByTwoKeys(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string
		sent   string
		leaves bool
	}{
		"other keys":              {[]string{"hello d \x1b[A"}, "hello d \x1b[A", false},
		"both in one piece":       {[]string{"ab\x1cd"}, "ab", true},
		"one after the other":     {[]string{"ab", "\x1c", "d"}, "ab", true},
		"what follows is dropped": {[]string{"\x1cdxyz"}, "", true},
		"another key behind it":   {[]string{"\x1c", "x"}, "\x1cx", false},
		"twice sends it once":     {[]string{"\x1c\x1c", "d"}, "\x1cd", false},
		"an enhanced keyboard":    {[]string{"a\x1b[92;5u", "d"}, "a", true},
		"modified other keys":     {[]string{"\x1b[27;5;92~d"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			var p prefix
			sent, leaves := "", false
			for _, piece := range c.pieces {
				b, leave := p.next([]byte(piece))
				sent, leaves = sent+string(b), leaves || leave
			}
			if sent != c.sent || leaves != c.leaves {
				t.Errorf("sent %q, leaves %v", sent, leaves)
			}
		})
	}
}

package editor

import "testing"

func TestMotionsFindPositionsInAText(t *testing.T) {
	m := motions{lines: glyphLines("one two-three\n\n  (four [five])")}
	for name, c := range map[string]struct{ got, want pos }{
		"the next word":             {m.nextWord(pos{0, 0}, false), pos{0, 4}},
		"the next word at a hyphen": {m.nextWord(pos{0, 4}, false), pos{0, 7}},
		"the next big word":         {m.nextWord(pos{0, 4}, true), pos{1, 0}},
		"the end of a word":         {m.wordEnd(pos{0, 0}, false), pos{0, 2}},
		"the word before":           {m.prevWord(pos{0, 8}, false), pos{0, 7}},
		"the first text":            {m.firstText(2), pos{2, 2}},
		"the paragraph's end":       {m.paragraph(pos{0, 3}, true), pos{1, 0}},
		"left over a line's start":  {m.left(pos{1, 0}), pos{0, 13}},
		"right over a line's end":   {m.right(pos{1, 0}), pos{2, 0}},
		"right at the end":          {m.right(m.end()), m.end()},
		"a word to the left":        {m.wordLeft(pos{0, 13}), pos{0, 8}},
		"a word to the right":       {m.wordRight(pos{0, 3}), pos{0, 7}},
	} {
		if c.got != c.want {
			t.Errorf("%s is at %v, want %v", name, c.got, c.want)
		}
	}
	m.cur = pos{2, 0}
	if at, ok := m.matching(); !ok || at != (pos{2, 14}) {
		t.Errorf("the bracket's partner is at %v, %v", at, ok)
	}
	m.cur = pos{2, 10}
	if s, ok := m.object(viCmd{key: "i["}); !ok || s.from != (pos{2, 9}) || s.to != (pos{2, 13}) {
		t.Errorf("inside the brackets is %v, %v", s, ok)
	}
}

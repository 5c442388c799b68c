package editor

import "testing"

func TestFoldKeepsTheCursorAndIsUndone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		left   int // number of times the cursor moves left from the end
		folded bool
		typed  string // the text after typing an x
	}{
		"behind":          {"see @a.png now", 0, true, "see @a.png nowx"},
		"at its end":      {"see @a.png", 0, true, "see @a.pngx"},
		"before":          {"see @a.png now", 14, true, "xsee @a.png now"},
		"inside":          {"see @a.png now", 6, false, "see @a.pxng now"},
		"in a word":       {"see me@a.png now", 0, false, "see me@a.png nowx"},
		"a longer word":   {"see @a.png2 now", 0, false, "see @a.png2 nowx"},
		"another line":    {"see\n@a.png\nnow", 0, true, "see\n@a.png\nnowx"},
		"the first of it": {"@a.png", 6, true, "x@a.png"},
	} {
		e := New()
		e.SetText(c.text)
		for range c.left {
			e.Do(Left)
		}
		if got := e.Fold("@a.png", "[a]"); got != c.folded {
			t.Errorf("%s: folded %v", name, got)
		}
		if e.Text() != c.text {
			t.Errorf("%s: the text is %q", name, e.Text())
		}
		e.Insert("x")
		if e.Text() != c.typed {
			t.Errorf("%s: %q", name, e.Text())
		}
		e.Undo() // the x
		e.Undo()
		e.Redo()
		e.Undo()
		if e.Text() != c.text && c.folded {
			t.Errorf("%s: undone to %q", name, e.Text())
		}
	}
}

func TestBackspaceRemovesAChipAsOne(t *testing.T) {
	t.Parallel()
	e := New()
	e.SetText("see @a.png ")
	e.Fold("@a.png", "[a]")
	e.Do(DeleteBack)
	e.Do(DeleteBack)
	if e.Text() != "see " {
		t.Errorf("left %q", e.Text())
	}
}

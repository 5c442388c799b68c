package editor

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEditorEditsByGrapheme(t *testing.T) {
	t.Parallel()
	e := New()
	e.Insert("한글中文日本語ABC")
	for range 3 {
		e.Do(Left)
	}
	e.Do(DeleteBack)
	if got := e.Text(); got != "한글中文日本ABC" {
		t.Errorf("text %q", got)
	}
	if _, _, x, _, _ := e.Window(40, 5); x != 12 {
		t.Errorf("cursor at cell %d, want 12", x)
	}
	e = New()
	for _, r := range "👩‍👩‍👧🇨🇳" { // one rune per key
		e.Insert(string(r))
	}
	if n := len(e.lines[0]); n != 2 {
		t.Fatalf("%d glyphs, want 2: %v", n, e.lines[0])
	}
	e.Do(DeleteBack)
	if got := e.Text(); got != "👩‍👩‍👧" {
		t.Errorf("after one backspace %q", got)
	}
	e.Do(DeleteBack)
	if !e.Empty() {
		t.Errorf("after two backspaces %q", e.Text())
	}
}

func TestEditorWrapsAndKeepsTheCursorInside(t *testing.T) {
	t.Parallel()
	e := New()
	e.Insert("한글中文日本語ABC and some more words")
	for range 60 {
		rows, y, x, _, _ := e.Window(19, 4)
		if y < 0 || y >= len(rows) || x > 19 {
			t.Fatalf("cursor %d,%d outside of %d rows", x, y, len(rows))
		}
		for _, r := range rows {
			if w := glyphsWidth(r.glyphs); w > 19 {
				t.Fatalf("row of %d cells", w)
			}
		}
		e.Do(Left)
	}
}

func TestEditorMovesByWordAndCuts(t *testing.T) {
	t.Parallel()
	e := New()
	e.Insert("one two-three  four")
	e.Do(DeleteWord)
	e.Do(DeleteWord)
	if got := e.Text(); got != "one two-" {
		t.Errorf("got %q", got)
	}
	e.Do(Yank)
	if got := e.Text(); got != "one two-three  four" {
		t.Errorf("cuts do not add up: %q", got)
	}
	e.Do(Home)
	e.Do(WordRight)
	e.Do(KillEnd)
	if got := e.Text(); got != "one" {
		t.Errorf("got %q", got)
	}
	e.Do(Undo)
	if got := e.Text(); got != "one two-three  four" {
		t.Errorf("undo gave %q", got)
	}
}

func TestPasteFoldsAndExpands(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("line\n", 9999) + "line"
	e := New()
	e.Insert("see ")
	e.Paste(text)
	e.Insert(" end")
	if len(e.lines) != 1 {
		t.Fatalf("%d lines", len(e.lines))
	}
	if got := e.Text(); got != "see "+text+" end" {
		t.Error("the text behind the chip is not whole")
	}
	for range 4 {
		e.Do(Left)
	}
	if !e.ExpandPaste() || len(e.lines) != 10000 {
		t.Errorf("%d lines after unfolding", len(e.lines))
	}
	e.Do(Undo)
	if len(e.lines) != 1 {
		t.Error("undo does not fold again")
	}
}

func TestEditorMovesOverVisualRows(t *testing.T) {
	t.Parallel()
	e := New()
	e.Insert("abcdefghij\nxy\nklmnop")
	e.Do(Home)
	e.Do(Right)
	e.Do(Right)
	e.Do(Right) // after "klm"
	e.Vertical(-1, 5)
	if e.cur != (pos{1, 2}) {
		t.Errorf("cursor %v, want the end of the short line", e.cur)
	}
	e.Vertical(-1, 5)
	if e.cur != (pos{0, 8}) {
		t.Errorf("cursor %v, want the goal column in the second row of the long line", e.cur)
	}
	e.Vertical(-1, 5)
	if e.cur != (pos{0, 3}) {
		t.Errorf("cursor %v", e.cur)
	}
	if e.Vertical(-1, 5) {
		t.Error("moved above the first row")
	}
}

func TestUndoAndRedoAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New()
		states := []string{""}
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			switch rapid.IntRange(0, 9).Draw(t, "op") {
			case 0, 1:
				e.Insert(rapid.SampledFrom([]string{"a", "漢", " ", "👩‍👩‍👧", "\u0301", "long word"}).Draw(t, "text"))
			case 2:
				e.Newline()
			case 3:
				e.Do(DeleteBack)
			case 4:
				e.Do(DeleteWord)
			case 5:
				e.Do(KillStart)
			case 6:
				e.Do(Left)
			case 7:
				e.Vertical(-1, 5)
			case 8:
				e.Paste(strings.Repeat("p\n", rapid.IntRange(0, 12).Draw(t, "lines")))
			case 9:
				e.Do(Yank)
			}
			if e.cur.row >= len(e.lines) || e.cur.col > len(e.lines[e.cur.row]) {
				t.Fatalf("cursor %v outside", e.cur)
			}
			if s := e.Text(); s != states[len(states)-1] {
				states = append(states, s)
			}
		}
		final := e.Text()
		n := len(e.undos)
		for range n {
			e.Undo()
		}
		if e.Text() != "" {
			t.Fatalf("undoing everything leaves %q", e.Text())
		}
		for range n {
			e.Redo()
		}
		if e.Text() != final {
			t.Fatalf("redo gives %q, want %q", e.Text(), final)
		}
	})
}

func BenchmarkKeyIn500Lines(b *testing.B) {
	e := New()
	e.SetText(strings.Repeat("a line of the input that is about sixty characters long, yes\n", 500))
	for b.Loop() {
		e.Insert("x")
		e.Window(78, 10)
	}
}

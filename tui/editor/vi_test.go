package editor

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// viEditor returns an editor in normal mode with a text in which | marks the cursor.
func viEditor(text string) (*Editor, *Vi) {
	e, v := New(), &Vi{}
	before, after, _ := strings.Cut(text, "|")
	e.SetText(before + after)
	e.undos, e.redos = nil, nil
	e.move(pos{})
	for range glyphs(strings.ReplaceAll(before, "\n", " ")) {
		e.move(e.find().right(e.cur))
	}
	v.mode = viNormal
	return e, v
}

// viPress sends keys: characters, and names in angle brackets.
func viPress(e *Editor, v *Vi, keys string) {
	for keys != "" {
		key := glyphs(strings.ReplaceAll(keys, "\n", " "))[0].s
		rest := keys[len(key):]
		if end := strings.IndexByte(keys, '>'); key == "<" && end > 1 {
			key, rest = keys[1:end], keys[end+1:]
		}
		keys = rest
		if v.mode == viInsert {
			switch key {
			case "esc":
				v.leave(e)
			case "enter":
				e.Newline()
			case "backspace":
				e.Do(DeleteBack)
			default:
				e.Insert(key)
			}
			continue
		}
		switch v.feed(e, key) {
		case LineUp:
			e.Vertical(-1, 200)
		case LineDown:
			e.Vertical(1, 200)
		case Done, Other, Search:
		}
	}
}

// marked returns the text with | at the cursor.
func marked(e *Editor) string {
	return plainText(e.between(pos{}, e.cur)) + "|" + plainText(e.between(e.cur, e.find().end()))
}

func TestViMotions(t *testing.T) {
	t.Parallel()
	const code = "fo|o.bar(baz) x\n\n  end of it"
	for _, c := range []struct{ text, keys, want string }{
		{"a|bc", "h", "|abc"},
		{"|abc", "h", "|abc"},
		{"|abc", "l", "a|bc"},
		{"ab|c", "l", "ab|c"},
		{"|abcdef", "3l", "abc|def"},
		{code, "w", "foo|.bar(baz) x\n\n  end of it"},
		{code, "2w", "foo.|bar(baz) x\n\n  end of it"},
		{code, "W", "foo.bar(baz) |x\n\n  end of it"},
		{code, "2W", "foo.bar(baz) x\n|\n  end of it"},
		{code, "3W", "foo.bar(baz) x\n\n  |end of it"},
		{code, "b", "|foo.bar(baz) x\n\n  end of it"},
		{code, "99w", "foo.bar(baz) x\n\n  end of i|t"},
		{"one two| three", "b", "one |two three"},
		{"one.two |x", "B", "|one.two x"},
		{"a\n\n|b", "b", "a\n|\nb"},
		{"|one two", "e", "on|e two"},
		{"on|e two", "e", "one tw|o"},
		{"|a.b c", "E", "a.|b c"},
		{"|a\n\n b", "e", "a\n\n |b"},
		{"one tw|o", "ge", "on|e two"},
		{"one| two", "ge", "on|e two"},
		{"  ab|c", "0", "|  abc"},
		{"  ab|c", "^", "  |abc"},
		{"|abc\ndef", "$", "ab|c\ndef"},
		{"|abc\ndef", "2$", "abc\nde|f"},
		{"|a-b-c", "f-", "a|-b-c"},
		{"|a-b-c", "2f-", "a-b|-c"},
		{"|a-b-c", "t-", "|a-b-c"},
		{"|ab-c", "t-", "a|b-c"},
		{"a-b-|c", "F-", "a-b|-c"},
		{"a-bb|c", "T-", "a-|bbc"},
		{"|a-b-c", "f-;", "a-b|-c"},
		{"|a-b-c", "f-;,", "a|-b-c"},
		{"|ab-b-c", "t-;", "ab-|b-c"},
		{"|abc", "fz", "|abc"},
		{"|漢字、漢字", "f、", "漢字|、漢字"},
		{"a\nb|b\nc", "gg", "|a\nbb\nc"},
		{"|a\nb\n  c", "G", "a\nb\n  |c"},
		{"|a\nb\nc", "2G", "a\n|b\nc"},
		{"a\nb\n|c", "2gg", "a\n|b\nc"},
		{"|a\nb\n\nc\n\nd", "}", "a\nb\n|\nc\n\nd"},
		{"|a\nb\n\nc\n\nd", "2}", "a\nb\n\nc\n|\nd"},
		{"a\n\nb\nc|c", "{", "a\n|\nb\ncc"},
		{"|ab", "}", "a|b"},
		{"|f(a[1], (b))", "%", "f(a[1], (b)|)"},
		{"f(a[1], (b)|)", "%", "f|(a[1], (b))"},
		{"|{\n[]\n}", "%", "{\n[]\n|}"},
		{"|abc\nde", "j", "abc\n|de"},
		{"a\n|b", "k", "|a\nb"},
		{"👩‍👩‍👧|🇨🇳x", "l", "👩‍👩‍👧🇨🇳|x"},
		{"|e\u0301a", "l", "e\u0301|a"},
		{"|abc", "<right>", "a|bc"},
		{"a|bc", "<home>", "|abc"},
		{"|abc", "<end>", "ab|c"},
		{"|abc", "2<esc>l", "a|bc"},
		{"|abc", "d<esc>l", "a|bc"},
	} {
		e, v := viEditor(c.text)
		viPress(e, v, c.keys)
		if got := marked(e); got != c.want {
			t.Errorf("%q %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestViOperators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, keys, want string }{
		{"one |two three", "dw", "one |three"},
		{"one |two", "dw", "one| "},
		{"one |two\nx", "dw", "one| \nx"},
		{"|one\n  two", "dw", "|\n  two"},
		{"|a b c d", "d3w", "|d"},
		{"|a b c d e f g", "2d3w", "|g"},
		{"one tw|o", "db", "one |o"},
		{"|one two", "de", "| two"},
		{"o|ne two", "d$", "|o"},
		{"on|e two", "d0", "|e two"},
		{"|a(b)c", "d%", "|c"},
		{"|a-b-c", "df-", "|b-c"},
		{"|a-b-c", "dt-", "|-b-c"},
		{"a-b-|c", "dF-", "a-b|c"},
		{"a\n|b\nc", "dd", "a\n|c"},
		{"a\n|b", "dd", "|a"},
		{"|a", "dd", "|"},
		{"|a\nb\nc", "2dd", "|c"},
		{"|a\nb\nc", "dj", "|c"},
		{"a\nb\n|c", "dk", "|a"},
		{"a\n|b\nc", "dG", "|a"},
		{"a\n|b\nc", "dgg", "|c"},
		{"|a\nb\n\nc", "d}", "|\nc"},
		{"a|a\nb\n\nc", "d}", "|a\n\nc"},
		{"|ab", "x", "|b"},
		{"a|b", "x", "|a"},
		{"|abcd", "3x", "|d"},
		{"a|b", "X", "|b"},
		{"|", "x", "|"},
		{"a|bc\nd", "D", "|a\nd"},
		{"|one two", "cwx<esc>", "|x two"},
		{"one |two", "cwx<esc>", "one |x"},
		{"|one two", "cex<esc>", "|x two"},
		{"|a b c", "c2wx<esc>", "|x c"},
		{"  a|b\nc", "ccx<esc>", "|x\nc"},
		{"a|b", "Cx<esc>", "a|x"},
		{"a|bc", "sx<esc>", "a|xc"},
		{"ab|c\nd", "Sx<esc>", "|x\nd"},
		{"|\na", "Cx<esc>", "|x\na"},
		{"|\na", "cwx<esc>", "|x\na"},
		{"|abc", "rx", "|xbc"},
		{"|abc", "2rx", "x|xc"},
		{"ab|c", "2rx", "ab|c"},
		{"|abc", "r漢", "|漢bc"},
		{"|aBc", "~", "A|Bc"},
		{"|aBc", "3~", "Ab|C"},
		{"|ünder", "~", "Ü|nder"},
		{"|a\n  b", "J", "a| b"},
		{"|a\nb\nc", "3J", "a b| c"},
		{"|f(\n)", "J", "f(|)"},
		{"|a\n\nb", "J", "|a\nb"},
		{"|a", "J", "|a"},
		{"|one two", "ywP", "one| one two"},
		{"|one two", "ywwP", "one one| two"},
		{"|ab", "xp", "b|a"},
		{"|a\nb", "ddp", "b\n|a"},
		{"a\n|b", "ddP", "|b\na"},
		{"|a\nb", "yyp", "a\n|a\nb"},
		{"|a\nb", "Y2p", "a\n|a\na\nb"},
		{"|ab c", "yw3p", "aab ab ab| b c"},
		{"|a", "yyP", "|a\na"},
		{"a|b\ncd", "y1jp", "ab\n|ab\ncd\ncd"},
		{"|b", "ia<esc>", "|ab"},
		{"|b", "ac<esc>", "b|c"},
		{"a|b", "Ix<esc>", "|xab"},
		{"|ab", "Ac<esc>", "ab|c"},
		{"|b", "3ia<esc>", "aa|ab"},
		{"|a\nc", "ob<esc>", "a\n|b\nc"},
		{"a\n|c", "Ob<esc>", "a\n|b\nc"},
		{"|x", "ia<enter>b<esc>", "a\n|bx"},
		{"👩‍👩‍👧|🇨🇳x", "x", "👩‍👩‍👧|x"},
		{"|漢字 かな", "dw", "|かな"},
	} {
		e, v := viEditor(c.text)
		viPress(e, v, c.keys)
		if got := marked(e); got != c.want {
			t.Errorf("%q %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestViObjects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, keys, want string }{
		{"one t|wo three", "diw", "one | three"},
		{"one t|wo three", "daw", "one |three"},
		{"one t|wo", "daw", "on|e"},
		{"one| two", "diw", "one|two"},
		{"one| two x", "daw", "one| x"},
		{"|one two three", "d2aw", "|three"},
		{"a.|b c", "diW", "| c"},
		{"a.|b c", "daW", "|c"},
		{"one t|wo", "ciwx<esc>", "one |x"},
		{"漢|字 かな", "diw", "| かな"},
		{`say "he|llo you" now`, `di"`, `say "|" now`},
		{`say "he|llo" now`, `da"`, "say |now"},
		{`|say "hello" now`, `ci"x<esc>`, `say "|x" now`},
		{`say "a\"|b"`, `di"`, `say "|"`},
		{`a '|b' c`, "di'", "a '|' c"},
		{"a `|b`", "da`", "|a"},
		{`|no`, `di"`, `|no`},
		{"f(a, (|b), c)", "di(", "f(a, (|), c)"},
		{"f(a, (|b), c)", "2di(", "f(|)"},
		{"f(a, (|b), c)", "da(", "f(a, |, c)"},
		{"f(a, (|b), c)", "dib", "f(a, (|), c)"},
		{"f|(a)", "di)", "f(|)"},
		{"f(a|)", "di)", "f(|)"},
		{"a[|1]", "di[", "a[|]"},
		{"if {\n  |a\n}", "di{", "if {|}"},
		{"if {\n  |a\n}", "daB", "if| "},
		{"<|a>", "di<", "<|>"},
		{"|a (b)", "di(", "|a (b)"},
		{"a\n\nb|b\nc\n\nd", "dip", "a\n\n|\nd"},
		{"a\n\nb|b\nc\n\nd", "dap", "a\n\n|d"},
		{"a\n\nb|b", "dap", "|a"},
		{"|a b", "yiwwviwp", "a |a"},
	} {
		e, v := viEditor(c.text)
		viPress(e, v, c.keys)
		if got := marked(e); got != c.want {
			t.Errorf("%q %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestViSelects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, keys, want string }{
		{"|abcd", "vld", "|cd"},
		{"ab|cd", "vhd", "a|d"},
		{"|one two", "ved", "| two"},
		{"|a\nb\nc", "Vjd", "|c"},
		{"|a\nbc", "vjd", "|c"},
		{"|abc", "vlcx<esc>", "|xc"},
		{"|abc", "vly$p", "abca|b"},
		{"|abcd", "vlohd", "|cd"},
		{"|ab c", "vl~", "|AB c"},
		{"|abc", "vlrx", "|xxc"},
		{"|a\nb\nc", "VjjJ", "a b| c"},
		{"a |b c", "viwd", "a | c"},
		{"f(|a, b)", "vi(d", "f(|)"},
		{"|a b", "yiwwvp", "a |a"},
		{"|a\nb", "yyjVp", "a\n|a"},
		{"|abc", "vl<esc>x", "a|c"},
		{"|abc", "vvx", "|bc"},
		{"|a\nb", "vVd", "|b"},
		{"|one\ntwo\nx", "vjVyGp", "one\ntwo\nx\n|one\ntwo"},
		{"|a b\nc", "vD", "|c"},
		{"a|b\n\nc", "vipd", "|\nc"},
	} {
		e, v := viEditor(c.text)
		viPress(e, v, c.keys)
		if got := marked(e); got != c.want {
			t.Errorf("%q %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestViRepeatsAndUndoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, keys, want string }{
		{"|a b c", "dw.", "|c"},
		{"|a b c d", "dw2.", "|d"},
		{"|one two", "cwx<esc>w.", "x |x"},
		{"|abcd", "x..", "|d"},
		{"|a\nb", "Ax<esc>j.", "ax\nb|x"},
		{"|a", "3ix<esc>.", "xxxx|xxa"},
		{"|a\nb", "ox<esc>.", "a\nx\n|x\nb"},
		{"|abc", "rxl.", "x|xc"},
		{"|a b", "~w.", "A |B"},
		{"a(|b) c(d)", "di(fd.", "a() c(|)"},
		{"|a\nb\nc", "J.", "a b| c"},
		{"|ab", "ylp.", "aa|ab"},
		{"|one two", "cwx y<esc>u", "|one two"},
		{"|a b", "dwdwuu", "|a b"},
		{"|a b", "dwu<ctrl+r>", "|b"},
		{"|a b c", "dwdw2u", "|a b c"},
		{"|one two", "cwx y<esc>u<ctrl+r>", "x y| two"},
		{"|a\nb", "ddpu", "|b"},
		{"|a", "Ab c<esc>u", "|a"},
		{"|a", ".", "|a"},
		{"|a b c", "ywdw.", "|c"},
	} {
		e, v := viEditor(c.text)
		viPress(e, v, c.keys)
		if got := marked(e); got != c.want {
			t.Errorf("%q %s: %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestViMovesAFoldedPasteWhole(t *testing.T) {
	t.Parallel()
	e, v := viEditor("a |")
	long := strings.Repeat("line\n", 50)
	e.Paste(long)
	v.mode = viNormal
	viPress(e, v, "0Oab<esc>jdWP")
	if got := e.Text(); !strings.Contains(got, long) {
		t.Errorf("the paste got lost: %q", got)
	}
	viPress(e, v, "$xP")
	chips := 0
	for _, line := range e.lines {
		for _, g := range line {
			if g.paste != "" {
				chips++
			}
		}
	}
	if chips != 1 {
		t.Errorf("%d chips: %q", chips, e.Text())
	}
}

func TestViKeysNeverLeaveTheText(t *testing.T) {
	keys := strings.Split("h j k l w b W B e E 0 ^ $ f F t T ; , g G { } % d c y D C x X r ~ J p P u . o O I A a i s S v V Y 1 2 9 ( ) [ \" ' p / n q é 漢 <", " ")
	keys = append(keys, "esc", "esc", "ctrl+r", "left", "enter")
	rapid.Check(t, func(t *rapid.T) {
		e, v := viEditor(rapid.SampledFrom([]string{"|", "one |two.three(a, \"b\")\n\n  漢字 👩‍👩‍👧\n", "a\n\n|\nb", "e\u0301|x"}).Draw(t, "text"))
		before := e.Text()
		for range rapid.IntRange(1, 60).Draw(t, "keys") {
			key := rapid.SampledFrom(keys).Draw(t, "key")
			if v.mode == viInsert {
				if key == "esc" {
					v.leave(e)
				} else if !keyName(key) {
					e.Insert(key)
				}
			} else {
				v.feed(e, key)
			}
			if e.cur.row < 0 || e.cur.row >= len(e.lines) || e.cur.col < 0 || e.cur.col > len(e.lines[e.cur.row]) {
				t.Fatalf("after %s the cursor is at %v of %q", key, e.cur, e.Text())
			}
			if v.mode == viNormal && e.cur.col > 0 && e.cur.col >= len(e.lines[e.cur.row]) {
				t.Fatalf("after %s the cursor is behind the line: %v of %q", key, e.cur, e.Text())
			}
			v.selection(e)
			if len(e.Text()) > 100_000 {
				return // counts multiply
			}
		}
		for len(e.undos) > 0 {
			e.Undo()
		}
		if got := e.Text(); got != before {
			t.Fatalf("undoing everything gives %q, it was %q", got, before)
		}
	})
}

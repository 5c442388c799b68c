package edit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"jcode/internal/edit"
)

func one(t *testing.T, content, old, now string, all bool) (edit.Done, error) {
	t.Helper()
	return edit.Apply(content, []edit.Edit{{Old: old, New: now, All: all}})
}

func TestApplyLocatesAndKeepsTheFilesBytes(t *testing.T) {
	for _, c := range []struct {
		name, content, old, now, want string
		all                           bool
		note                          string
	}{
		{name: "plain", content: "a b c\n", old: "b", now: "x", want: "a x c\n"},
		{
			name:    "CR LF is kept",
			content: "def f():\r\n    return 1\r\n", old: "def f():\n    return 1\n", now: "def f():\n    return 2\n",
			want: "def f():\r\n    return 2\r\n", note: "line endings",
		},
		{name: "new lines get the file's CR LF", content: "a\r\nb\r\n", old: "b", now: "b\nc", want: "a\r\nb\r\nc\r\n", note: "CR LF"},
		{name: "new lines get the file's LF", content: "a\nb\n", old: "b", now: "b\r\nc", want: "a\nb\nc\n", note: "in LF"},
		{name: "line endings can be what changes", content: "a\r\nb\r\n", old: "a\r\nb", now: "a\nb", want: "a\nb\r\n"},
		{name: "mixed line endings stay mixed", content: "a\r\nb\nc\r\n", old: "a\nb\nc\n", now: "a\nB\nc\n", want: "a\r\nB\nc\r\n"},
		{name: "replace_all through CR LF", content: "a\r\nb\r\na\r\nb\r\n", old: "a\nb\n", now: "a\nx\n", want: "a\r\nx\r\na\r\nx\r\n", all: true},
		{name: "literal dollars", content: `log("done");`, old: "done", now: "$& $1 ${x} $$ $`", want: "log(\"$& $1 ${x} $$ $`\");"},
		{name: "literal dollars everywhere", content: "a a", old: "a", now: "$& $1 ${x} $$ $`", want: "$& $1 ${x} $$ $` $& $1 ${x} $$ $`", all: true},
		{name: "no final line end", content: "a\nb", old: "a", now: "c", want: "c\nb"},
		{name: "no final line end, given with one", content: "a\nb", old: "a\nb\n", now: "a\nc\n", want: "a\nc"},
		{name: "creates", content: "", old: "", now: "X", want: "X"},
		{name: "typographic quotes stay", content: "say “hi” – it’s\u00a0on\n", old: "say \"hi\" - it's on", now: "say \"ho\" - it's on", want: "say “ho” – it’s\u00a0on\n", note: "quotes"},
		{name: "trailing blanks stay", content: "a  \nb\t\nc\n", old: "a\nb\nc\n", now: "a\nb\nd\n", want: "a  \nb\t\nd\n", note: "spaces"},
		{name: "imagined trailing blanks", content: "a\nb\n", old: "a  \nb", now: "a  \nc", want: "a\nc\n"},
		{name: "imagined trailing blanks at the end", content: "x = 10\nx = 1\n", old: "x = 1  ", now: "x = 2  ", want: "x = 10\nx = 2\n"},
		{
			name:    "tabs of the file",
			content: "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", old: "    if x {\n        y()\n    }", now: "    if x {\n        y()\n        if z {\n            w()\n        }\n    }",
			want: "func f() {\n\tif x {\n\t\ty()\n\t\tif z {\n\t\t\tw()\n\t\t}\n\t}\n}\n", note: "tabs",
		},
		{
			name: "one tabbed line", content: "f {\n\treturn 1\n}\n", old: "    return 1\n", now: "    if x {\n        return 2\n    }\n",
			want: "f {\n\tif x {\n\t\treturn 2\n\t}\n}\n",
		},
		{
			name: "shifted blanks", content: "class A:\n    def f(self):\n        return 1\n", old: "def f(self):\n    return 1\n", now: "def f(self):\n    if x:\n        return 2\n    return 1\n",
			want: "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
		},
		{name: "indented CR LF", content: "{\r\n\ta\r\n}\r\n", old: "  a\n", now: "  a\n  b\n", want: "{\r\n\ta\r\n\tb\r\n}\r\n"},
		{name: "indented last line without end", content: "{\n\ta", old: "  a\n", now: "  b\n", want: "{\n\tb"},
		{name: "bytes that are not UTF-8 stay", content: "caf\xe9\nb\nc\n", old: "b\nc", now: "b\nd", want: "caf\xe9\nb\nd\n"},
		{name: "loose beside bytes that are not UTF-8", content: "caf\xe9\r\nb\r\nc\r\n", old: "b\nc\n", now: "b\nd\n", want: "caf\xe9\r\nb\r\nd\r\n"},
		{name: "BOM in old_string", content: "a\n", old: "\ufeffa", now: "b", want: "b\n"},
		{name: "deletes lines", content: "a\r\nb\r\nc\r\n", old: "b\n", now: "", want: "a\r\nc\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, err := one(t, c.content, c.old, c.now, c.all)
			if err != nil {
				t.Fatal(err)
			}
			if done.Text != c.want {
				t.Errorf("got  %q\nwant %q", done.Text, c.want)
			}
			if notes := strings.Join(done.Notes, "; "); !strings.Contains(notes, c.note) {
				t.Errorf("notes %q lack %q", notes, c.note)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct {
		name, content, old, now string
		all                     bool
		want                    []string
	}{
		{name: "empty old_string on text", content: "abc", now: "X", want: []string{"old_string is empty"}},
		{name: "empty old_string, all", content: "abc", now: "X", all: true, want: []string{"old_string is empty"}},
		{name: "two places", content: "a\nx = 1\nb\nc\nd\ne\nx = 1\n", old: "x = 1", now: "x = 2", want: []string{"2 times", "lines 2 and 7", "replace_all"}},
		{name: "overlapping places", content: "aaa", old: "aa", now: "b", want: []string{"2 times"}},
		{name: "no change", content: "a", old: "a", now: "a", want: []string{"no change"}},
		{name: "no change after adapting", content: "a\r\n", old: "a\n", now: "a\r\n", want: []string{"no change"}},
		{
			name: "nearest lines", content: "func f() {\n\tx := 1\n\ty := 2\n\treturn\n}\n", old: "\tx := 1\n\ty := 99\n\treturn\n", now: "\ty := 3\n",
			want: []string{"not in the file", "≠    3  \ty := 2", "     2  \tx := 1"},
		},
		{name: "similar line", content: "alpha\nreturn compute(total, rate)\n", old: "return compute(totals, rate)", now: "x", want: []string{"return compute(total, rate)"}},
		{name: "already there", content: "a\nvalue = 2\n", old: "value = 1", now: "value = 2", want: []string{"already there, at line 2"}},
		{name: "two characters that are there", content: "a\nok\n", old: "completely different", now: "ok", want: []string{"not in the file; new_string is already there, at line 2"}},
		{name: "there several times", content: "x\nx\n", old: "completely different", now: "x", want: []string{"already there, 2 times, first at line 1"}},
		{name: "nothing like it", content: "a\nb\n", old: "completely different", now: "x", want: []string{"nor anything like it"}},
		{
			name: "two indented places", content: "a {\n\tx()\n}\nb {\n\t\tx()\n}\n", old: "    x()\n", now: "    y()\n",
			want: []string{"Ignoring indentation", "lines 2 and 5"},
		},
		{
			name: "indentation that can't be carried over", content: "a {\n\tx()\n  \ty()\n}\n", old: "    x()\n    y()\n", now: "    x()\n    z()\n",
			want: []string{"line 2", "\tx()", "  \ty()"},
		},
		{name: "two loose places", content: "“a”\n“a”\n", old: "\"a\"", now: "b", all: true, want: []string{"2 times", "lines 1 and 2", "quotes"}},
		{name: "omission", content: "a\nb\nc\n", old: "a\nb", now: "a\n// ... rest of code unchanged ...", want: []string{"replaces omitted text"}},
		{name: "line numbers of read", content: "a\nb c\nd\n", old: "2\tb c\n3\td", now: "x", want: []string{"line numbers"}},
		{name: "escaped twice", content: "a\n\t\"b\"\n", old: `a\n\t\"b\"`, now: "x", want: []string{"escaped twice"}},
		{name: "replacement rune in an 8-bit file", content: "caf\xe9\n", old: "caf\ufffd", now: "x", want: []string{"Latin-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, err := one(t, c.content, c.old, c.now, c.all)
			if err == nil {
				t.Fatalf("changed to %q", done.Text)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error lacks %q:\n%v", w, err)
				}
			}
		})
	}
}

func TestEditsAreAllOrNothing(t *testing.T) {
	edits := []edit.Edit{{Old: "a", New: "b"}, {Old: "nowhere", New: "x"}}
	if _, err := edit.Apply("a\n", edits); err == nil || !strings.Contains(err.Error(), "edit 2 of 2") || !strings.Contains(err.Error(), "none of the edits") {
		t.Errorf("error %v", err)
	}
	edits[1].Old = "b"
	done, err := edit.Apply("a\n", edits)
	if err != nil || done.Text != "x\n" || done.Places != 2 {
		t.Errorf("a later edit sees what an earlier one did: %+v, %v", done, err)
	}
	if _, err := edit.Apply("a\n", []edit.Edit{{Old: "a", New: "b"}, {Old: "b", New: "a"}}); err == nil {
		t.Error("edits that undo each other were taken")
	}
}

func TestOmissionMarkersAreTold(t *testing.T) {
	for line, want := range map[string]bool{
		"// ... rest of code unchanged ...":        true,
		"# ... existing code ...":                  true,
		"/* ... remaining methods ... */":          true,
		"<!-- rest of the file unchanged -->":      true,
		"    // … same as before …":                true,
		"... (rest of the file unchanged)":         true,
		"// rest of the function stays the same":   true,
		"// keep existing imports...":              true,
		"/* ... rest ... */":                       true,
		"[... omitted ...]":                        true,
		"# [...omitted for brevity...]":            true,
		"-- ... snip":                              true,
		"// … elided …":                            true,
		"[...rest]":                                false,
		"[...rest, ...other]":                      false,
		"# keep the rest... and go":                false,
		"fmt.Println(args...)":                     false,
		"// wait for the rest of the workers":      false,
		"append(rest, other...)":                   false,
		"# Loading...":                             false,
		"* and the rest is history...":             false,
		"// see the remaining budget (in tokens).": false,
		"[...slug]":                                false,
		"(...args) => {":                           false,
	} {
		if _, got := edit.Omission("a\n"+line+"\nb\n", "a\nb\n"); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
		if _, got := edit.Omission(line, "x\n"+line+"\n"); got {
			t.Errorf("%q is in the original and was told", line)
		}
	}
}

func TestDecodeKeepsEveryByte(t *testing.T) {
	for _, c := range []struct {
		data string
		text string
		enc  edit.Encoding
	}{
		{"héllo", "héllo", edit.UTF8},
		{"\xef\xbb\xbfx", "x", edit.UTF8BOM},
		{"\xff\xfeh\x00\x3d\xd8\x00\xde", "h😀", edit.UTF16LE},
		{"\xfe\xff\x00h\x00\r\x00\n", "h\r\n", edit.UTF16BE},
		{"caf\xe9 \x00\x01\x02\x03", "caf\xe9 \x00\x01\x02\x03", edit.EightBit},
	} {
		text, enc, err := edit.Decode([]byte(c.data))
		if err != nil || text != c.text || enc != c.enc {
			t.Errorf("Decode(%q) = %q, %v, %v", c.data, text, enc, err)
		}
		if back, err := enc.Encode(text); err != nil || string(back) != c.data {
			t.Errorf("Encode of %q = %q, %v", c.data, back, err)
		}
	}
	if _, _, err := edit.Decode([]byte("\xff\xfeh")); err == nil || !strings.Contains(err.Error(), "UTF-16 LE") {
		t.Errorf("half a UTF-16 unit: %v", err)
	}
	if err := edit.EightBit.Insertable("é", "é"); err == nil || !strings.Contains(err.Error(), "Latin-1") {
		t.Errorf("mixing encodings: %v", err)
	}
}

func FuzzDecodeKeepsEveryByte(f *testing.F) {
	f.Add([]byte("\xff\xfeh\x00"))
	f.Add([]byte("\xef\xbb\xbf\xef\xbb\xbfx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, enc, err := edit.Decode(data)
		if err != nil {
			return
		}
		if enc == edit.UTF8BOM && strings.HasPrefix(text, "\ufeff") {
			return // a second mark is written once
		}
		if back, err := enc.Encode(text); err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%v: %q became %q (%v)", enc, data, back, err)
		}
	})
}

// marker is in the place that an edit must find, and nowhere else.
const marker = "ZqMarkerqZ"

// loosen changes a text as a model might: other line endings, spaces for tabs, ASCII quotes.
func loosen(s string, how uint8) string {
	if how&1 != 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if how&2 != 0 {
		s = strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "–", "-", "\u00a0", " ").Replace(s)
	}
	if how&4 != 0 {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			rest := strings.TrimLeft(l, "\t")
			lines[i] = strings.Repeat("    ", len(l)-len(rest)) + rest
		}
		s = strings.Join(lines, "\n")
	}
	if how&8 != 0 {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimRight(l, " \t")
		}
		s = strings.Join(lines, "\n")
	}
	return s
}

func FuzzBytesOutsideThePlaceStay(f *testing.F) {
	f.Add("head\r\n", "\tif “x” {\r\n\t\ty  \r\n", "z\r\n", "\ttail", "new text\n", uint8(3))
	f.Add("a\n", "\tb\n", "\tc", "\nd", "x", uint8(4))
	f.Add("\xe9\r\n", "q\r\n", "", "\r\n\xff", "", uint8(15))
	f.Fuzz(func(t *testing.T, head, before, after, tail, now string, how uint8) {
		for _, s := range []string{head, before, after, tail, now} {
			if strings.Contains(s, "Marker") || strings.Contains(s, "Zq") || strings.Contains(s, "qZ") {
				return
			}
		}
		place := before + marker + after
		content := head + place + tail
		old := loosen(place, how)
		if old == "" || strings.HasPrefix(old, "\ufeff") {
			return
		}
		repl := strings.Replace(old, marker, now, 1)
		done, err := edit.Apply(content, []edit.Edit{{Old: old, New: repl}})
		if err != nil {
			return
		}
		// The place may begin or end inside spaces and line ends that are ignored.
		h, tl := strings.TrimRight(head, " \t\r\n\u00a0"), strings.TrimLeft(tail, " \t\r\n\u00a0")
		if !strings.HasPrefix(done.Text, h) || !strings.HasSuffix(done.Text, tl) {
			t.Fatalf("outside changed\ncontent %q\nold %q\nnew %q\ngot %q", content, old, repl, done.Text)
		}
		want := head + strings.Replace(place, marker, now, 1) + tail
		if squeeze(done.Text) != squeeze(want) {
			t.Fatalf("wrong text\ncontent %q\nold %q\nnew %q\ngot  %q\nwant %q", content, old, repl, done.Text, want)
		}
	})
}

// squeeze removes what may be ignored.
func squeeze(s string) string {
	s = strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "–", "-").Replace(s)
	return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", "\u00a0", "").Replace(s)
}

func TestManyPlacesCostNoMoreThanTheirText(t *testing.T) {
	start := time.Now()
	long := strings.Repeat("a ", 1<<20)
	if _, err := one(t, long, "a", "b", false); err == nil || !strings.Contains(err.Error(), "and 1048556 more") {
		t.Errorf("error %.200v", err)
	}
	if done, err := one(t, long, "a", "b\n", true); err != nil || done.Places != 1<<20 {
		t.Errorf("%d places, %v", done.Places, err)
	}
	crlf := strings.Repeat("a\r\nb\r\n", 1<<17)
	if done, err := one(t, crlf, "a\nb", "a\nc", true); err != nil || done.Text != strings.ReplaceAll(crlf, "b", "c") {
		t.Errorf("%d places, %v", done.Places, err)
	}
	if _, err := one(t, strings.Repeat("“a”", 1<<18), `"a"`, "b", false); err == nil || !strings.Contains(err.Error(), "more") {
		t.Errorf("error %.200v", err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}

func BenchmarkExactEditOfALargeFile(b *testing.B) {
	content := strings.Repeat("some line of source code here\n", 200_000) + "needle here\n"
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := edit.Apply(content, []edit.Edit{{Old: "needle here", New: "x"}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMissInALargeFile(b *testing.B) {
	var s strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&s, "line %d of the source code here\n", i)
	}
	b.SetBytes(int64(s.Len()))
	for b.Loop() {
		if _, err := edit.Apply(s.String(), []edit.Edit{{Old: "lime 19999 of the source", New: "x"}}); err == nil {
			b.Fatal("found")
		}
	}
}

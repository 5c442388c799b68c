package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"jcode/internal/cells"
	"jcode/internal/text"
)

// testStyles returns a different style for each part, so that a wrong style is visible.
func testStyles() Styles {
	return Styles{
		Strong: "1", Emphasis: "3", Strike: "9", Code: "33", Link: "4", URL: "2", Marker: "35", Quote: "2;3",
		Border: "90", HTML: "2", TableHead: "1", Heading: [6]cells.Style{"1;4", "1", "1", "1", "1", "1"},
		Syntax: Syntax{Keyword: "34", Type: "36", Function: "94", String: "32", Number: "35", Comment: "90", Constant: "31", Attribute: "33", Inserted: "32", Deleted: "31", Meta: "36"},
	}
}

func plainLines(src string, width int) string {
	var out []string
	for _, l := range Render(src, Options{Width: width, Styles: testStyles()}) {
		out = append(out, ansi.Strip(l))
	}
	return strings.Join(out, "\n")
}

func TestRenderShowsEachKindOfBlock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		src   string
		width int
		want  string
	}{
		"heading and text":   {"# Title\nsome *text* here", 20, "Title\n\nsome text here"},
		"wrapped":            {"one two three four", 9, "one two\nthree\nfour"},
		"list":               {"- a\n- b\n  - c\n\n- d", 20, "• a\n• b\n  ◦ c\n\n• d"},
		"numbers":            {"3. a\n4. b", 20, "3. a\n4. b"},
		"tasks":              {"- [ ] open\n- [x] done", 20, "[ ] open\n[x] done"},
		"item with text":     {"- a\n\n  second", 20, "• a\n\n  second"},
		"item wraps":         {"- one two three", 9, "• one two\n  three"},
		"quote":              {"> a\n> b\n>\n> c", 20, "│ a b\n│\n│ c"},
		"code":               {"```go\nfunc f() {\n\treturn\n}\n```", 30, "  func f() {\n      return\n  }"},
		"code folds":         {"```\nabcdefgh\n```", 6, "  abcd\n  efgh"},
		"code of no length":  {"```\n```", 10, ""},
		"indented code":      {"a\n\n    x\n      y", 20, "a\n\n  x\n    y"},
		"rule":               {"a\n\n---\n\nb", 5, "a\n\n─────\n\nb"},
		"link":               {"[a](http://x.y)", 40, "a (http://x.y)"},
		"bare link":          {"see http://x.y/z now", 40, "see http://x.y/z now"},
		"reference":          {"[a][1]\n\n[1]: http://x.y", 40, "a (http://x.y)"},
		"hard break":         {"a  \nb", 20, "a\nb"},
		"table":              {"| a | bb |\n|---|---:|\n| ccc | d |", 30, "a   │ bb\n────┼───\nccc │  d"},
		"table wraps":        {"| name | what it is |\n|---|---|\n| x | one two three four |", 20, "name │ what it is\n─────┼──────────────\nx    │ one two three\n     │ four"},
		"table folds":        {"| one | two | three |\n|---|---|---|\n| aaaaaaaaaaaa | bbbbbbbbbbbb | cccccccccc |", 15, "one:\naaaaaaaaaaaa\ntwo:\nbbbbbbbbbbbb\nthree:\ncccccccccc"},
		"wide script":        {"日本語のテキスト", 6, "日本語\nのテキ\nスト"},
		"broken wide line":   {"日本\n語", 20, "日本語"},
		"html":               {"<div>\nx\n</div>", 20, "<div>\nx\n</div>"},
		"entity and escape":  {`&lt;a&gt; \*b\*`, 20, "<a> *b*"},
		"control characters": {"a\x1b[31mb\x1b]0;t\x07c", 20, "abc"},
		"math stays text":    {"$$\\int_0^1 x$$", 20, "$$\\int_0^1 x$$"},
		"image":              {"![alt](p.png)", 30, "image: alt (p.png)"},
		"unknown language":   {"```nosuch\nx = 1\n", 20, "  x = 1"},
	} {
		if got := plainLines(c.src, c.width); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}

func TestCodeIsColoured(t *testing.T) {
	t.Parallel()
	for lang, c := range map[string][2]string{
		"go":     {`x := "s" // c`, "x := \x1b[32m\"s\"\x1b[m \x1b[90m// c\x1b[m"},
		"python": {"def f(): return None", "\x1b[34mdef\x1b[m \x1b[94mf\x1b[m(): \x1b[34mreturn\x1b[m \x1b[31mNone\x1b[m"},
		"json":   {`{"a": 1, "b": "c"}`, "{\x1b[33m\"a\"\x1b[m: \x1b[35m1\x1b[m, \x1b[33m\"b\"\x1b[m: \x1b[32m\"c\"\x1b[m}"},
		"yaml":   {"a-b: true # x", "\x1b[33ma-b\x1b[m: \x1b[31mtrue\x1b[m \x1b[90m# x\x1b[m"},
		"sh":     {`echo "$x" $y # z`, "echo \x1b[32m\"$x\"\x1b[m \x1b[31m$y\x1b[m \x1b[90m# z\x1b[m"},
		"html":   {`<a href="x">t</a>`, "\x1b[34m<a\x1b[m \x1b[33mhref\x1b[m=\x1b[32m\"x\"\x1b[m\x1b[34m>\x1b[mt\x1b[34m</a>\x1b[m"},
		"diff":   {"+new", "\x1b[32m+new\x1b[m"},
		"rust":   {"fn f<'a>(x: &'a str) { 'c' }", "\x1b[34mfn\x1b[m f<'a>(x: &'a \x1b[36mstr\x1b[m) { \x1b[32m'c'\x1b[m }"},
		"sql":    {"SELECT a FROM t", "\x1b[34mSELECT\x1b[m a \x1b[34mFROM\x1b[m t"},
	} {
		h := NewHighlighter(lang, testStyles().Syntax)
		if got := cells.Render(h.Line(c[0])); got != c[1] {
			t.Errorf("%s: %q, want %q", lang, got, c[1])
		}
	}
}

func TestStringsAndCommentsGoOnInTheNextLine(t *testing.T) {
	t.Parallel()
	h := NewHighlighter("go", testStyles().Syntax)
	h.Line("/* a")
	if got := cells.Render(h.Line("b */ func")); got != "\x1b[90mb */\x1b[m \x1b[34mfunc\x1b[m" {
		t.Errorf("got %q", got)
	}
}

func TestHighlighterKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom([]string{"go", "py", "json", "yaml", "sh", "html", "diff", "rs", "sql", "toml", "css", "lua", "make", ""}).Draw(t, "lang")
		h := NewHighlighter(lang, testStyles().Syntax)
		for range 3 {
			line := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", " ", `"`, "'", "`", "/*", "*/", "//", "#", "--", "[[", "\\", "$", "${", "@", "<", ">", "=", ":", "1.5", "漢", "func", "<!--", "-->", "-"}), 0, 12).Draw(t, "line"), "")
			got := ""
			for _, s := range h.Line(line) {
				got += s.Text
			}
			if got != line {
				t.Fatalf("%s: %q became %q", lang, line, got)
			}
		}
	})
}

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"a/b.go": "go", "Dockerfile": "dockerfile", "x.unknown": "", "Makefile": "makefile", `c:\x.TSX`: "tsx", "noext": ""} {
		if got := LanguageOf(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func streamed(pieces []string, opts Options) []string {
	s := NewStream(opts)
	for _, p := range pieces {
		s.Append(p)
		s.Lines()
	}
	s.Close()
	finished, open := s.Lines()
	return append(slices.Clone(finished), open...)
}

func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, src string, pieces []string, width int,
) {
	t.Helper()
	opts := Options{Width: width, Styles: testStyles(), Hyperlinks: true}
	whole, got := Render(src, opts), streamed(pieces, opts)
	if !slices.Equal(whole, got) {
		t.Fatalf("streamed differs from whole at width %d\nsource %q\npieces %q\nwhole:\n%q\nstreamed:\n%q", width, src, pieces, whole, got)
	}
	for _, l := range whole {
		if w := cells.Width(ansi.Strip(l)); w > max(width, 2) {
			t.Fatalf("line %q is %d cells wide, limit %d (source %q)", ansi.Strip(l), w, width, src)
		}
	}
}

// fragments are the pieces from which the property test builds texts: starts of blocks, and text that turns one
// block into another.
var fragments = []string{
	"word ", "two words", "\n", "\n\n", "# ", "## h\n", "- ", "* item\n", "  - nested\n", "1. ", "2) x\n", "    indented\n", "> ", "> quote\n", ">> deep\n",
	"```\n", "```go\n", "~~~\n", "````\n", "  ```\n", "x := 1\n", "---\n", "===\n", "***\n", "| a | b |\n", "|---|---|\n", "|:-:|--:|\n", "| c |\n",
	"[ref]: http://x.y\n", "[ref]", "[l](http://u.v \"t\")", "`code`", "``", "*", "**", "_", "~~", "<div>\n", "</div>\n", "<!-- ", "-->", "<b>", "&amp;", "\\", "\t",
	"漢字", "👩‍👩‍👧", "é", "- [ ] task\n", "- [x] done\n", "10. ten\n", "!", "![i](p)", "http://a.b/c ", "a@b.c ", "    ", "  \n", "\\\n", "+ plus\n", "   ", "-\n", "1.\n", "#\n", "<script>\n", "</script>\n",
}

func TestStreamedEqualsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 40).Draw(t, "pieces")
		width := rapid.SampledFrom([]int{1, 2, 3, 7, 20, 80}).Draw(t, "width")
		src := strings.Join(pieces, "")
		if rapid.Bool().Draw(t, "bytewise") {
			pieces = strings.Split(src, "")
		}
		compare(t, src, pieces, width)
	})
}

func FuzzStream(f *testing.F) {
	f.Add("# a\n\n- b\n- c\n\n```go\nx\n```\n| a |\n|---|\n| b |\n", uint8(20), uint8(3))
	for _, frag := range fragments {
		f.Add("- x\n"+frag+frag+"y\n", uint8(9), uint8(1))
	}
	f.Fuzz(func(t *testing.T, src string, width, step uint8) {
		src = clean(text.Strip(src))
		if len(src) > 600 {
			return
		}
		var pieces []string
		n := int(step%7) + 1
		for i := 0; i < len(src); {
			end := min(i+n, len(src))
			for end < len(src) && !utf8.RuneStart(src[end]) {
				end++
			}
			pieces = append(pieces, src[i:end])
			i = end
		}
		compare(t, src, pieces, int(width%100)+1)
	})
}

func TestSplitEscapeSequencesNeverShow(t *testing.T) {
	t.Parallel()
	s := NewStream(Options{Width: 40})
	for _, b := range []byte("a\x1b[31mred\x1b[0m \x1b]0;title\x07\xe6\xbc\xa2 end") {
		s.Append(string([]byte{b}))
		s.Lines()
	}
	s.Close()
	if got, _ := s.Lines(); len(got) != 1 || got[0] != "ared 漢 end" {
		t.Errorf("got %q", got)
	}
}

func TestRestyleRendersForTheNewWidth(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		src := "# T\n\none two three\n\n- a b c d\n- e\n\n```go\nfunc main\n"
		s := NewStream(Options{Width: 40, Styles: testStyles()})
		s.Append(src)
		s.Lines()
		if closed {
			s.Close()
		}
		s.Restyle(Options{Width: 8, Styles: testStyles()})
		finished, open := s.Lines()
		got := append(slices.Clone(finished), open...)
		if want := Render(src, Options{Width: 8, Styles: testStyles()}); !slices.Equal(got, want) {
			t.Errorf("closed %v: %q, want %q", closed, got, want)
		}
	}
}

func TestFinishedLinesNeverChange(t *testing.T) {
	t.Parallel()
	src := document(6000)
	s := NewStream(Options{Width: 60, Styles: testStyles()})
	var before []string
	for i := 0; i < len(src); i += 13 {
		s.Append(src[i:min(i+13, len(src))])
		finished, _ := s.Lines()
		if len(finished) < len(before) || !slices.Equal(finished[:len(before)], before) {
			t.Fatalf("finished lines changed after %d bytes", i)
		}
		before = slices.Clone(finished)
	}
	if len(before) < 50 {
		t.Errorf("only %d lines were finished early", len(before))
	}
}

// document returns about n bytes of Markdown such as models write.
func document(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Step %d\n\nThe function `load%d` reads the file and gives **all** lines that match, see [the docs](https://example.org/%d) for more about it. It is called twice.\n\n", i, i, i)
		b.WriteString("- first point with some text that is long enough to wrap once or twice\n- second *point*\n  - nested point\n- third point\n\n")
		b.WriteString("```go\nfunc load(path string) ([]string, error) {\n\tdata, err := os.ReadFile(path) // whole\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"load: %w\", err)\n\t}\n\treturn strings.Split(string(data), \"\\n\"), nil\n}\n```\n\n")
		if i%3 == 0 {
			b.WriteString("| name | kind | what |\n|---|---|---|\n| a | int | the first one of all |\n| b | string | the second |\n\n")
		}
	}
	return b.String()[:n]
}

// wholeSteps returns document without the last, incomplete step.
func wholeSteps(n int) string {
	s := document(n)
	return s[:strings.LastIndex(s, "## Step")]
}

func TestDeltaCostsTheSameLateInAnAnswer(t *testing.T) {
	allocs := func(n int) float64 {
		base, more := wholeSteps(n), document(4<<10)
		return testing.AllocsPerRun(3, func() {
			s := NewStream(Options{Width: 100, Styles: testStyles()})
			s.Append(base)
			s.Lines()
			for i := 0; i+20 <= len(more); i += 20 {
				s.Append(more[i : i+20])
				s.Lines()
			}
		}) - testing.AllocsPerRun(3, func() {
			s := NewStream(Options{Width: 100, Styles: testStyles()})
			s.Append(base)
			s.Lines()
		})
	}
	early, late := allocs(1<<10), allocs(64<<10)
	t.Attr("allocations-ratio", fmt.Sprintf("%.3f", late/early))
	if late > early*1.5 {
		t.Errorf("4 KB of deltas allocate %.0f times after 64 KB and %.0f after 1 KB", late, early)
	}
}

func BenchmarkWhole(b *testing.B) {
	for _, kb := range []int{4, 64} {
		src := document(kb << 10)
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Render(src, Options{Width: 100, Styles: testStyles()})
			}
		})
	}
}

// BenchmarkDelta measures the cost of one delta of 20 bytes after the first KB and after 64 KB of one answer.
func BenchmarkDelta(b *testing.B) {
	for _, kb := range []int{1, 64} {
		base, more := wholeSteps(kb<<10), wholeSteps(max(kb, 8)<<10)
		b.Run(fmt.Sprintf("after%dKB", kb), func(b *testing.B) {
			b.ReportAllocs()
			var s *Stream
			at := len(more)
			for b.Loop() {
				if at+20 > len(more) {
					b.StopTimer()
					s = NewStream(Options{Width: 100, Styles: testStyles()})
					s.Append(base)
					s.Lines()
					at = 0
					b.StartTimer()
				}
				s.Append(more[at : at+20])
				s.Lines()
				at += 20
			}
		})
	}
}

// BenchmarkOpenCode measures a delta inside a long code block that is still open.
func BenchmarkOpenCode(b *testing.B) {
	for _, kb := range []int{1, 64} {
		base := "```go\n" + strings.Repeat("x := compute(y, \"text\") // note\n", kb<<10/32)
		b.Run(fmt.Sprintf("after%dKB", kb), func(b *testing.B) {
			s := NewStream(Options{Width: 100, Styles: testStyles()})
			s.Append(base)
			s.Lines()
			for b.Loop() {
				s.Append("x := y(1) // z w v\n")
				s.Lines()
			}
		})
	}
}

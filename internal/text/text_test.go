package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/internal/text"
)

const family = "👩\u200d👩\u200d👧"

func TestCutEndsAtGraphemeBorders(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"hello", 10, "hello"},
		{"hello", 3, "hel"},
		{"hello", 0, ""},
		{"héllo", 2, "h"},
		{"e\u0301x", 2, "e"}, // the first grapheme alone is too long: a rune border
		{"ae\u0301x", 2, "a"},
		{"a\r\nb", 2, "a"},
		{"a" + family + "b", 12, "a"},
		{"🇨🇳🇩🇪", 12, "🇨🇳"},
		{"한글", 5, "한"},
	} {
		if got := text.Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestCutTailBeginsAtGraphemeBorders(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"hello", 10, "hello"},
		{"hello", 3, "llo"},
		{"hello", 0, ""},
		{"xe\u0301", 2, "\u0301"}, // the last grapheme alone is too long: a rune border
		{"xe\u0301y", 3, "y"},
		{"a\r\nb", 2, "b"},
		{"b" + family + "a", 12, "a"},
		{"한글", 5, "글"},
	} {
		if got := text.CutTail(c.in, c.n); got != c.want {
			t.Errorf("CutTail(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestHeadTailKeepsBothEndsAndSaysTheGap(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	mark := func(bytes, lines int) string {
		return fmt.Sprintf("[… %d bytes, %d lines left out …]\n", bytes, lines)
	}
	out, cut := text.HeadTail(b.String(), 400, mark)
	if !cut || len(out) > 400 {
		t.Fatalf("cut %v, %d bytes", cut, len(out))
	}
	if !strings.HasPrefix(out, "line 0\n") || !strings.HasSuffix(out, "line 999\n") || !strings.Contains(out, " lines left out …]\nline ") {
		t.Errorf("out = %q", out)
	}
	if out, cut := text.HeadTail("short", 400, mark); cut || out != "short" {
		t.Errorf("short text was changed: %q", out)
	}
}

func TestCleanDropsSequencesAndKeepsText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\n", "a\tb\n"},
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"cursor and erase", "\x1b[2J\x1b[Hx", "x"},
		{"title", "\x1b]0;title\x07x", "x"},
		{"hyperlink", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"clipboard", "\x1b]52;c;aGk=\x07x", "x"},
		{"device control", "\x1bPq#0;2;0\n#1\x1b\\x", "x"},
		{"eight bit CSI", "\u009b31mred", "red"},
		{"charset", "\x1b(Bx", "x"},
		{"bell and null", "a\x07b\x00c", "abc"},
		{"title without end", "\x1b]0;open\nnext line", "0;open\nnext line"},
		{"escape at the end", "x\x1b", "x"},
		{"CSI without end", "x\x1b[12", "x"},
		{"progress", "10%\r50%\r100%\ndone", "100%\ndone"},
		{"CR LF", "a\r\nb\r\n", "a\nb\n"},
		{"overwritten a few times", "one\rtwo\rthree\n", "one\ntwo\nthree\n"},
		{"overwritten many times", "a\rb\rc\rd\re\n", "e\n"},
		{"a bar", "[#  ] 1/3\r[## ] 2/3\n", "[## ] 2/3\n"},
		{"carriage return at the end", "50%\r", "50%"},
		{"overstrike", "N\bNA\bA", "NA"},
		{"backspace over nothing", "\b\bx", "x"},
		{"direction override", "a\u202eb", "a<U+202E>b"},
		{"invalid bytes", "a\xff\xfeb", "a\uFFFDb"},
		{"joined emoji", family + "🇨🇳", family + "🇨🇳"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text.Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestVisibleShowsWhatHides(t *testing.T) {
	in := "ls \u202e\x1b[8m; curl x\u200b\xe9\u0085\x7f 한"
	want := "ls <U+202E>␛[8m; curl x<U+200B><E9><U+0085>␡ 한"
	if got := text.Visible(in); got != want {
		t.Errorf("Visible = %q, want %q", got, want)
	}
}

func TestStripperSeesSequencesAcrossPieces(t *testing.T) {
	in := "a\x1b[31mréd\x1b]0;t\x07" + family + "\x1bPx\x1b\\end\xff\xfe\xe9"
	want := text.Strip(in)
	for size := 1; size < len(in); size++ {
		var s text.Stripper
		var got strings.Builder
		for rest := in; rest != ""; {
			n := min(size, len(rest))
			got.WriteString(s.Next([]byte(rest[:n])))
			rest = rest[n:]
		}
		got.WriteString(s.Flush())
		if squash(got.String()) != squash(want) {
			t.Fatalf("pieces of %d: %q, want %q", size, got.String(), want)
		}
	}
}

// squash reduces each run of U+FFFD to one: a run of invalid bytes may be split over two pieces.
func squash(s string) string {
	for strings.Contains(s, "\uFFFD\uFFFD") {
		s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
	}
	return s
}

func TestWidthCountsCells(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"abc", 3},
		{"한글中文日本語ABC", 17},
		{"🇨🇳", 2},
		{family, 2},
		{"e\u0301", 1},
		{"\x1b[31mred\x1b[0m", 3},
	} {
		if got := text.Width(c.in); got != c.want {
			t.Errorf("Width(%q) = %d, want %d", c.in, got, c.want)
		}
		for cells := range c.want + 3 {
			if got := text.Width(text.Truncate(c.in, cells, "…")); got > cells || cells >= c.want && got != c.want {
				t.Errorf("Truncate(%q, %d) is %d wide", c.in, cells, got)
			}
		}
	}
}

func FuzzCutKeepsBordersAndLimits(f *testing.F) {
	f.Add("a\r\n"+family+"e\u0301\xff", 5)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(0, min(n, len(s)+1))
		head, tail := text.Cut(s, n), text.CutTail(s, n)
		if len(head) > n || len(tail) > n || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("Cut %q, CutTail %q of %q at %d", head, tail, s, n)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(head) || !utf8.ValidString(tail)) {
			t.Fatalf("a rune was cut: %q %q", head, tail)
		}
		out, _ := text.HeadTail(s, n, func(b, l int) string { return fmt.Sprintf("[%d %d]", b, l) })
		if len(out) > n {
			t.Fatalf("HeadTail gave %d of %d bytes", len(out), n)
		}
	})
}

func FuzzCleanLeavesNothingThatATerminalObeys(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07\u009b1m\b\r\n\x1bP..\x1b\\")
	f.Add("\x1b\x1b[[mm")
	f.Fuzz(func(t *testing.T, s string) {
		for name, got := range map[string]string{"Clean": text.Clean(s), "Visible": text.Visible(s)} {
			if !utf8.ValidString(got) {
				t.Fatalf("%s(%q) is not UTF-8: %q", name, s, got)
			}
			for _, r := range got {
				if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
					t.Fatalf("%s(%q) holds %U", name, s, r)
				}
			}
		}
		if once := text.Clean(s); text.Clean(once) != once {
			t.Fatalf("Clean is not idempotent on %q", s)
		}
	})
}

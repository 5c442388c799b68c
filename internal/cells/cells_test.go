package cells

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func text(lines [][]Span) []string {
	var out []string
	for _, l := range lines {
		s := ""
		for _, p := range l {
			s += p.Text
		}
		out = append(out, s)
	}
	return out
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 8, "one two|three"},
		{"one two", 7, "one two"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a abcdefghij", 4, "a|abcd|efgh|ij"},
		{"日本語のテキスト", 6, "日本語|のテキ|スト"},
		{"日本語。", 6, "日本|語。"},
		{"x\n\ny", 5, "x||y"},
		{"", 5, ""},
		{"👩‍👩‍👧👩‍👩‍👧", 2, "👩‍👩‍👧|👩‍👩‍👧"},
		{"ab 漢字 cd", 5, "ab 漢|字 cd"},
		{"cafe\u0301 au lait", 7, "cafe\u0301 au|lait"},
		{"漢", 1, "漢"},
		{"in /home/ada/src/project/main.go now", 16, "in|/home/ada/src/|project/main.go|now"},
		{"see https://example.org/a/b", 16, "see|https://|example.org/a/b"},
		{"x/abcdefghijk/y", 6, "x/|abcdef|ghijk/|y"},
		{"//////////", 4, "////|////|//"},
	} {
		if got := strings.Join(text(Wrap([]Span{{Text: c.in}}, c.width)), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestWrapKeepsStylesAcrossSpans(t *testing.T) {
	got := Wrap([]Span{{Text: "plain bo", Style: "1"}, {Text: "ld next", Style: "2"}}, 10)
	if want := "plain bold|next"; strings.Join(text(got), "|") != want {
		t.Fatalf("got %q", text(got))
	}
	if r := Render(got[0]); r != "\x1b[1mplain bo\x1b[m\x1b[2mld\x1b[m" {
		t.Errorf("rendered %q", r)
	}
}

func TestWrapAndFoldNeverOverflowNorLoseText(t *testing.T) {
	alphabet := []string{"a", "b", " ", "  ", "\n", "漢", "한", "👩‍👩‍👧", "🇨🇳", "e\u0301", "。", "-", "long", "/", "a/b"}
	rapid.Check(t, func(t *rapid.T) {
		var spans []Span
		for range rapid.IntRange(0, 5).Draw(t, "spans") {
			parts := rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(t, "parts")
			spans = append(spans, Span{Text: strings.Join(parts, ""), Style: Style(rapid.SampledFrom([]string{"", "1"}).Draw(t, "style"))})
		}
		width := rapid.IntRange(1, 12).Draw(t, "width")
		all := ""
		for _, s := range spans {
			all += s.Text
		}
		squeeze := strings.NewReplacer(" ", "", "\n", "")
		for name, lines := range map[string][][]Span{"wrap": Wrap(spans, width), "fold": Fold(spans, width)} {
			joined := ""
			for _, l := range lines {
				if w := SpansWidth(l); w > max(width, 2) || w > width && len(text([][]Span{l})[0]) > 0 && width > 1 {
					t.Fatalf("%s: line %q is %d cells wide, limit %d", name, text([][]Span{l})[0], w, width)
				}
				joined += text([][]Span{l})[0]
			}
			if squeeze.Replace(joined) != squeeze.Replace(all) {
				t.Fatalf("%s lost text: %q from %q", name, joined, all)
			}
			if name == "fold" && joined != strings.ReplaceAll(all, "\n", "") {
				t.Fatalf("fold lost blanks: %q from %q", joined, all)
			}
		}
	})
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{{"hello", 5, "hello"}, {"hello", 4, "hel…"}, {"漢字漢字", 5, "漢字…"}, {"漢字", 2, "…"}, {"x", 0, ""}} {
		if got := Fit(c.in, c.w); got != c.want {
			t.Errorf("Fit(%q,%d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
	if got := FitStart("/a/long/path", 6); got != "…/path" {
		t.Errorf("FitStart = %q", got)
	}
}

func TestExpandTabs(t *testing.T) {
	if got := ExpandTabs("a\tb\n\t漢\tc", 4); got != "a   b\n    漢  c" {
		t.Errorf("got %q", got)
	}
}

func TestTargetsOfLinksEndNoSequence(t *testing.T) {
	for _, evil := range []string{"\x1b\\", "\x07", "\u009c", "\x9c\x1b", "\n", "\x00", "\x1b]52;c;eA==\x07"} {
		if got := Render([]Span{{Text: "x", Link: "http://h/" + evil}}); strings.Contains(got, evil) && evil != "\x1b\\" || strings.Count(got, "\x1b\\") > 2 || strings.Contains(got, "http") {
			t.Errorf("%q: %q", evil, got)
		}
	}
	if got := Render([]Span{{Text: "x", Link: "http://h/a"}}); !strings.Contains(got, "]8;;http://h/a\x1b") {
		t.Errorf("%q", got)
	}
}

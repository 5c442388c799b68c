package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// naive finds matching lines one by one.
func naive(re *regexp.Regexp, data string) (lines []string) {
	number := 0
	for l := range strings.Lines(data) {
		number++
		l = strings.TrimSuffix(l, "\n")
		l = strings.TrimSuffix(l, "\r")
		if loc := re.FindStringIndex(l); loc != nil {
			lines = append(lines, fmt.Sprintf("%d:%d:%s", number, loc[0]+1, strings.ToValidUTF8(l, "\uFFFD")))
		}
	}
	return lines
}

// scanAll searches data with a buffer of a given size, read in small pieces.
func scanAll(p *Pattern, data string, size int) (lines []string, total int) {
	s := &scanner{matcher: newMatcher(p), limit: 1 << 20, width: normalLine, buf: make([]byte, size)}
	r := s.pass(context.Background(), &pieces{data: []byte(data), size: size/2 + 1}, true, true) // the bytes as they are
	for _, m := range r.matches {
		lines = append(lines, fmt.Sprintf("%d:%d:%s", m.Line, m.Column, m.Text))
	}
	return lines, r.total
}

// pieces returns data in reads of a few bytes.
type pieces struct {
	data []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b[:min(len(b), p.size)], p.data)
	p.data = p.data[n:]
	if n == 0 {
		return bytes.NewReader(nil).Read(b)
	}
	return n, nil
}

func compare(t *testing.T, pattern string, literal bool, data string) {
	t.Helper()
	p, err := Compile(pattern, literal)
	if err != nil || strings.ContainsRune(strings.ToLower(pattern), '\uFFFD') || strings.Contains(strings.ToLower(pattern), "fffd") {
		return // to regexp a byte that is not UTF-8 is U+FFFD; to us it is that byte
	}
	source := pattern
	if literal {
		source = regexp.QuoteMeta(pattern)
	}
	re := regexp.MustCompile(source)
	want := naive(re, data)
	for _, size := range []int{16, 64, 1 << 10} {
		got, total := scanAll(p, data, size)
		if total != len(want) || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("pattern %q, buffer %d, data %q\ngot  %q (%d)\nwant %q", pattern, size, data, got, total, want)
		}
	}
}

func TestEveryEngineAgreesWithRegexpLineByLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	patterns := []string{
		"a", "ab", "abc", "abcd", "^a", "a$", "^$", "^", "$", ".", "", `\ba`, `a\b`, `\Bb`, `\bab\b`, "a|b", "ab|cd|xyz", "(?i)abk", "(?i)ſa", "(?i)é", "[a-c]+d", "a.*d",
		"a+b?c*", "(ab){2}", "é", ".é", "[^a]", "\r", "a\r", "\ra", "x{0}", `\w+\s\w`, "(?i)straße|kab", `^\s*a`, `\r`, "a\\\\", "[é-ü]", "(?s).", "k", "(?i)k", `\pL\pN`, "(?-s)a.b", `\Aab`, `d\z`, "(?m)^ab$",
	}
	alphabet := []string{"a", "b", "c", "d", "k", "K", "S", "s", " ", "\t", "é", "ü", "ß", "\u212a", "ſ", "\xff", "\xc3", "1", "\n", "\n", "\r\n", "\r", "ab", "abc", "xyz", "\\"}
	for range 100 {
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		for _, p := range patterns {
			compare(t, p, false, b.String())
			if p != "" {
				compare(t, p, true, b.String())
			}
		}
	}
}

func FuzzEnginesAgree(f *testing.F) {
	f.Add(`\b[a-f]{2}`, "ab cd\nxef\r\n")
	f.Add(`(?i)k|^é*$`, "K\u212a\n\né\n")
	f.Add("\r", "\r")
	f.Fuzz(func(t *testing.T, pattern, data string) {
		if len(pattern) > 40 || len(data) > 300 {
			return
		}
		compare(t, pattern, false, data)
	})
}

func TestTableStaysBoundedAndGivesUp(t *testing.T) {
	p, err := Compile(`[ab][^\n]{14}x`, false)
	if err != nil {
		t.Fatal(err)
	}
	m := newMatcher(p)
	m.need = nil
	rng := rand.New(rand.NewPCG(3, 3))
	data := make([]byte, 1<<16)
	for i := range data {
		data[i] = "abcdefgh\n"[rng.IntN(9)]
	}
	for range 20 {
		m.reset(data)
		for from := 0; ; {
			_, end, ok := m.find(data, from)
			if !ok {
				break
			}
			from = end + 1
		}
		if n := len(m.table.states); n > maxDFAStates+2 {
			t.Fatalf("%d states", n)
		}
	}
	compare(t, `[ab][^\n]{14}x`, false, strings.Repeat("abcdefghabcdefghxabcdefgh\n", 5))
}

func TestLinesLongerThanTheBufferAreSearchedInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a buffer of 4 MiB")
	}
	before := 2*maxBuf - 3 // across a cut if pieces did not overlap
	data := "head\n" + strings.Repeat("x", before) + "needle" + strings.Repeat("y", maxBuf) + "\ntail needle\n" + strings.Repeat("z", maxBuf-5) + "needle and needle"
	p, err := Compile("needle", false)
	if err != nil {
		t.Fatal(err)
	}
	s := &scanner{matcher: newMatcher(p), limit: 10, width: normalLine, buf: make([]byte, bufSize)}
	r := s.scan(context.Background(), strings.NewReader(data), false)
	var got []string
	for _, m := range r.matches {
		got = append(got, fmt.Sprintf("%d:%d", m.Line, m.Column))
	}
	want := fmt.Sprintf("2:%d 3:6 4:%d", before+1, maxBuf-4)
	if r.total != 3 || strings.Join(got, " ") != want {
		t.Errorf("%d: %q, want %q", r.total, got, want)
	}
	if len(s.buf) > maxBuf {
		t.Errorf("the buffer grew to %d", len(s.buf))
	}
}

func TestExcerptKeepsTheMatchInSight(t *testing.T) {
	line := []byte(strings.Repeat("é", 1000) + "needle" + strings.Repeat("é", 1000))
	at := bytes.Index(line, []byte("needle"))
	got := Excerpt(line, at, at+6, normalLine)
	if !strings.HasPrefix(got, "…é") || !strings.HasSuffix(got, "é…") || !strings.Contains(got, "needle") || strings.Contains(got, "\uFFFD") || len(got) > normalLine+10 {
		t.Errorf("got %q", got)
	}
}

func TestRequiredLiterals(t *testing.T) {
	for pattern, want := range map[string]string{
		"foo.*barbaz": "barbaz", "foo|bar": "foo bar", "a*": "", "(?i)todo": "todo", "x(abc)+y": "abc", "foo(bar|)": "foo", "[xyz]": "x y z", `\d+`: "", "(foo|[0-9])": "",
		"(foo){2,}": "foo",
	} {
		p, err := Compile(pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if p.need != nil {
			for _, f := range p.need.list {
				got = append(got, string(f.text))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s needs %q, want %q", pattern, got, want)
		}
	}
}

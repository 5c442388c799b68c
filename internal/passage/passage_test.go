package passage_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/internal/passage"
)

func shown(list []passage.Passage) string {
	var out []string
	for _, p := range list {
		out = append(out, fmt.Sprintf("%s [%d-%d] %s", p.Heading, p.First, p.Last, strings.ReplaceAll(p.Text, "\n", "/")))
	}
	return strings.Join(out, "\n")
}

func TestDocumentsAreCutByTheirStructure(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 200)
	for _, tc := range []struct{ name, text, want string }{
		{"a.md", "intro\n\n# One\ntext\n\n## Two\n```\n# no heading\n```\n# Three #\nend\n", " [1-1] intro\nOne [3-4] # One/text\nOne › Two [6-9] ## Two/```/# no heading/```\nThree [10-11] # Three #/end"},
		{"a.md", "---\nname: x\n---\nTitle\n=====\nbody\n\nPart\n---\nmore\n", " [1-3] ---/name: x/---\nTitle [4-6] Title/=====/body\nTitle › Part [8-10] Part/---/more"},
		{"a.md", "#no heading\n\n- list\n---\n", " [1-4] #no heading//- list/---"},
		{"a.txt", "one\n\ntwo\n", " [1-3] one//two"},
		{"a.go", "package p\n\n// F does.\nfunc F() {\n\t" + long + "\n}\n\nfunc G() {}\n", " [1-1] package p\nfunc F() [3-6] // F does./func F() {/\t" + long + "/}\nfunc G() {} [8-8] func G() {}"},
		{"a.py", "import x\n\nclass A:\n    def f(self):\n        pass\n", " [1-1] import x\nclass A: [3-5] class A:/    def f(self):/        pass"},
		{"a.md", "", ""},
		{"a.txt", "\n\n \n", ""},
	} {
		if got := shown(passage.Split(tc.name, tc.text)); got != tc.want {
			t.Errorf("%s %.60q:\n%s\nwant\n%s", tc.name, tc.text, got, tc.want)
		}
	}
	if got := shown(passage.Pages([]string{"a\nb\n", "", "c"})); got != "page 1 [1-2] a/b\npage 3 [4-4] c" {
		t.Errorf("pages: %s", got)
	}
}

func TestLongPartsAreCutAtBlankLines(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("a sentence of some length. ", 30)
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "%d %s\n\n", i, paragraph)
	}
	list := passage.Split("a.md", "# Top\n"+text.String())
	if len(list) < 7 || len(list) > 12 {
		t.Errorf("%d passages", len(list))
	}
	for i, p := range list {
		if p.Heading != "Top" || strings.Contains(p.Text[1:], "\n\n0 ") {
			t.Errorf("%d: %q", i, p.Heading)
		}
		if !strings.HasSuffix(p.Text, ". ") {
			t.Errorf("passage %d does not end with its paragraph: %q", i, p.Text[len(p.Text)-20:])
		}
	}
}

// FuzzSplit checks that no text is lost, and that passages are bounded and in order.
func FuzzSplit(f *testing.F) {
	f.Add("a.md", "# a\n\n```\n# b\n")
	f.Add("a.go", "func a() {\n}\n")
	f.Add("x", strings.Repeat("漢", 3000))
	f.Add("a.md", strings.Repeat("x ", 3000)+"\n---\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		letters := func(s string) (n int) {
			for _, r := range s {
				if r > ' ' && r != utf8.RuneError {
					n++
				}
			}
			return n
		}
		total, last := 0, 0
		for _, p := range passage.Split(name, text) {
			if p.First < last || p.Last < p.First || len(p.Text) > 3000 || !utf8.ValidString(p.Text) || !utf8.ValidString(p.Heading) {
				t.Errorf("%d-%d after line %d: %d bytes", p.First, p.Last, last, len(p.Text))
			}
			last = p.First
			total += letters(p.Text)
		}
		if want := letters(strings.ToValidUTF8(text, "\uFFFD")); strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e && r < 0x3000 }) {
			return // white space outside ASCII
		} else if total < want {
			t.Errorf("%d of %d letters", total, want)
		}
	})
}

package frontmatter_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"jcode/internal/frontmatter"
)

func field(t *testing.T, text, key string) frontmatter.Value {
	t.Helper()
	d := frontmatter.Parse([]byte(text))
	f, ok := d.Get(key)
	if !ok {
		t.Fatalf("no key %q in %+v", key, d)
	}
	return f.Value
}

func TestValues(t *testing.T) {
	text := func(s string) frontmatter.Value { return frontmatter.Value{Kind: frontmatter.Text, Text: s} }
	list := func(s ...string) frontmatter.Value { return frontmatter.Value{Kind: frontmatter.List, List: s} }
	tests := []struct {
		name, front string
		want        frontmatter.Value
		problems    int
	}{
		{"plain", "k: some text", text("some text"), 0},
		{"colon in the text", "k: Use when: the user asks. Triggers: a, b", text("Use when: the user asks. Triggers: a, b"), 0},
		{"number stays text", "k: 3000", text("3000"), 0},
		{"version keeps its zero", "k: 1.0", text("1.0"), 0},
		{"flow list", "k: [a, b]", list("a", "b"), 0},
		{"empty list", "k: []", list(), 0},
		{"block list", "k:\n  - a\n  - b: 1", list("a", "{b: 1}"), 0},
		{"list without indent", "k:\n- a\n- b", list("a", "b"), 0},
		{"double quotes", `k: "a: \"b\""`, text(`a: "b"`), 0},
		{"single quotes", "k: 'it''s'", text("it's"), 0},
		{"folded", "k: >-\n  one\n  two\n", text("one two"), 0},
		{"literal", "k: |\n  one\n  two: x\n", text("one\ntwo: x"), 0},
		{"plain over lines", "k: one\n  two: three\n\n  four", text("one two: three\nfour"), 0},
		{"value on the next line", "k:\n  text", text("text"), 0},
		{"comment", "k: text # note", text("text"), 0},
		{"hash that may be a comment", "k: fix #12", text("fix #12"), 1},
		{"unclosed quote", `k: "half`, text(`"half`), 1},
		{"unclosed bracket", "k: [a, b", text("[a, b"), 1},
		{"leading star", "k: *.go files", text("*.go files"), 1},
		{"leading dash word", "k: --help", text("--help"), 0},
		{"unindented continuation", "k: one\ntwo", text("one two"), 1},
		{"null", "k:", frontmatter.Value{Kind: frontmatter.Null}, 0},
		{"tilde", "k: ~", frontmatter.Value{Kind: frontmatter.Null}, 0},
		{"map", "k:\n  a: 1\n  b: [x]", frontmatter.Value{Kind: frontmatter.Map, Map: []frontmatter.Pair{{Key: "a", Value: "1"}, {Key: "b", Value: "[x]"}}}, 0},
		{"quoted key", `"k": v`, text("v"), 0},
		{"tab indent", "k:\n\ttext", text("text"), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole := "---\nbefore: 1\n" + tt.front + "\nafter: 2\n---\nbody\n"
			d := frontmatter.Parse([]byte(whole))
			f, _ := d.Get("k")
			if !reflect.DeepEqual(f.Value, tt.want) {
				t.Errorf("got %#v, want %#v", f.Value, tt.want)
			}
			if len(d.Problems) != tt.problems {
				t.Errorf("problems %v, want %d", d.Problems, tt.problems)
			}
			if a, _ := d.Get("after"); a.Text != "2" {
				t.Error("the key after it was lost")
			}
			if d.Body != "body\n" {
				t.Errorf("body %q", d.Body)
			}
		})
	}
}

func TestEdges(t *testing.T) {
	if got := field(t, "\ufeff---\r\nname: x\r\n---\r\nbody\r\n", "name"); got.Text != "x" {
		t.Errorf("with BOM and CRLF: %#v", got)
	}
	if got := field(t, "---\nAllowed_Tools: a\n---", "allowed-tools"); got.Text != "a" {
		t.Errorf("spelling of the key: %#v", got)
	}
	d := frontmatter.Parse([]byte("---\nname: x\ntext"))
	if d.Closed || len(d.Problems) != 2 {
		t.Errorf("never closed: %+v", d)
	}
	if d := frontmatter.Parse([]byte("# Title\n---\n")); d.Present || d.Body != "# Title\n---\n" || d.BodyLine != 1 {
		t.Errorf("no front matter: %+v", d)
	}
	if d := frontmatter.Parse(nil); d.Present || d.Body != "" {
		t.Errorf("empty: %+v", d)
	}
	d = frontmatter.Parse([]byte("---\na: 1\na: 2\n---\n\nB"))
	if f, _ := d.Get("a"); f.Text != "1" || len(d.Problems) != 1 || d.Problems[0].Line != 3 || d.BodyLine != 5 || d.Body != "\nB" {
		t.Errorf("twice: %+v", d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: b: c\n---\nbody")
	f.Add("---\nk: [a\n- b\n---")
	f.Add("---\nk: &a *a\n  ? x\n---\n\xff")
	f.Add("---\nk: {a: {b: [1, {c: *x}]}}\n---")
	f.Fuzz(func(t *testing.T, text string) {
		d := frontmatter.Parse([]byte(text))
		if !utf8.ValidString(d.Body) {
			t.Error("the body is not UTF-8")
		}
		if d.Present != strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), "---") && d.Present {
			t.Error("front matter out of nothing")
		}
		for _, fl := range d.Fields {
			_ = fl.String()
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := []byte("---\nname: one\ndescription: Does a thing. Use when: somebody asks.\nlicense: MIT\n---\n# Body\n" + strings.Repeat("text\n", 100))
	b.ReportAllocs()
	for b.Loop() {
		frontmatter.Parse(text)
	}
}

func TestBlankLinesAboveAreSkipped(t *testing.T) {
	d := frontmatter.Parse([]byte("\n \t\r\n---\na: 1\nbad\n---\nText\n"))
	f, _ := d.Get("a")
	if !d.Present || !d.Closed || f.Text != "1 bad" || f.Line != 4 || d.Body != "Text\n" || d.BodyLine != 7 {
		t.Errorf("%+v", d)
	}
	if len(d.Problems) != 1 || d.Problems[0].Line != 5 {
		t.Errorf("problems: %+v", d.Problems)
	}
	// Without a closing line, `---` below blank lines is a horizontal rule of the text.
	if d := frontmatter.Parse([]byte("\n---\nText\n")); d.Present || d.Body != "\n---\nText\n" || len(d.Problems) > 0 {
		t.Errorf("%+v", d)
	}
	if d := frontmatter.Parse([]byte("\n\n")); d.Present {
		t.Errorf("%+v", d)
	}
}

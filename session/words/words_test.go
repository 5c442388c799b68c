package words

import (
	"slices"
	"testing"
)

func TestTypedTextBecomesTermsWithoutSyntax(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"":              nil,
		"- *":           nil,
		"go tests":      {`"go"`, `"tests"*`},
		"go tests ":     {`"go"`, `"tests"`},
		`say "hi" OR x`: {`"say"`, `"hi"`, `"OR"`, `"x"*`},
		"日本":            {`"日  本"*`},
	} {
		if got := Terms(typed); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestASnippetBeginsNearTheFirstWordFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set       Set
		doc, line string
		marks     [][2]int
	}{
		{Of("cafe"), "A Café, and a tearoom", "A Café, and a tearoom", [][2]int{{2, 7}}},
		{Of("tea"), "A café\nand a tearoom", "A café and a tearoom", [][2]int{{14, 21}}},
		{WithStems([]string{"run"}), "it was running", "it was running", [][2]int{{7, 14}}},
		{Of("none"), "nothing here", "nothing here", nil},
	} {
		line, marks := c.set.Snippet(c.doc)
		if line != c.line || !slices.Equal(marks, c.marks) {
			t.Errorf("snippet of %q = %q %v, want %q %v", c.doc, line, marks, c.line, c.marks)
		}
	}
}

func TestTheBeginningOfAWordIsWhatItsFormsShare(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"running": "running*", "runs": "runs", "tests": "test*", "go": "go"} {
		if begin := Beginning(word); begin+Prefixed(begin, word) != want {
			t.Errorf("%s: %s%s, want %s", word, begin, Prefixed(begin, word), want)
		}
	}
}

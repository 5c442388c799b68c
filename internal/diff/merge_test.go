package diff_test

import (
	"strings"
	"testing"

	"jcode/internal/diff"
)

func TestMergeKeepsBothChangesOrRefuses(t *testing.T) {
	base := "a\nb\nc\nd\ne\n"
	for _, c := range []struct{ ours, theirs, want string }{
		{"A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"},
		{"A\nb\nc\nd\ne\n", base, "A\nb\nc\nd\ne\n"},
		{base, "a\nc\nd\ne\n", "a\nc\nd\ne\n"},
		{"a\nc\nd\ne\n", "a\nb\nc\nd\ne\nf\n", "a\nc\nd\ne\nf\n"},
		{"A\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "A\nB\nc\nd\ne\n"},             // adjacent lines
		{"A\nb\nc\nd\nE\n", "a\nb\nC\nd\ne\n", "A\nb\nC\nd\nE\n"},             // between
		{"A\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n"},             // the same
		{"a\nb\nx\nc\nd\ne\n", "a\nb\nc\nd\ny\ne\n", "a\nb\nx\nc\nd\ny\ne\n"}, // two places
		{"A\nb\nc\nd\ne\n", "AA\nb\nc\nd\ne\n", ""},
		{"a\nb\nx\nc\nd\ne\n", "a\nb\ny\nc\nd\ne\n", ""},
		{"a\ne\n", "a\nb\nC\nd\ne\n", ""},
		{"", "a\nb\nc\nd\nE\n", ""},
	} {
		got, ok := diff.Merge(base, c.ours, c.theirs)
		if ok != (c.want != "") || got != c.want {
			t.Errorf("%q and %q: %q, %v; want %q", c.ours, c.theirs, got, ok, c.want)
		}
		if back, _ := diff.Merge(base, c.theirs, c.ours); back != got {
			t.Errorf("%q and %q: %q the other way round", c.ours, c.theirs, back)
		}
	}
	if _, ok := diff.Merge(strings.Repeat("x\n", 2<<20), "a", "b"); ok {
		t.Error("merged what is too large to compare")
	}
}

package ranking

import (
	"slices"
	"testing"
)

func ranked(ids ...int64) (out []Scored) {
	for i, id := range ids {
		out = append(out, Scored{id, 10 - float64(i)*0.1})
	}
	return out
}

// The best of one ranking is among the first five, though the other does not know it.
func TestTheBestOfEitherRankingIsKept(t *testing.T) {
	t.Parallel()
	words := ranked(1, 2, 3, 4, 5, 6, 7, 8)
	for _, meaning := range [][]Scored{ranked(99), ranked(99, 98, 97, 96), ranked(99, 1, 2)} {
		got := Fuse(words, meaning, 0.5)
		if !slices.Contains(got[:5], 99) || !slices.Contains(got[:5], 1) || !slices.Contains(got[:5], 2) {
			t.Errorf("%v", got)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
			t.Errorf("twice: %v", got)
		}
	}
	if got := Fuse(words, nil, 0.5); !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("words alone: %v", got)
	}
	if got := Fuse(nil, ranked(4, 2), 0.5); !slices.Equal(got, []int64{4, 2}) {
		t.Errorf("meaning alone: %v", got)
	}
}

func TestWordsOfIdentifiersAreTheirParts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"maxIdleConns": {"maxidleconns", "max", "idle", "conns"}, "read_file": {"readfile", "read", "file"}, "HTTPServer": {"httpserver", "http", "server"},
		"plain": {"plain"}, "": nil, "本語": {"本", "語"}, "-x-": {"x"},
	} {
		if got := Parts(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q", in, got)
		}
	}
	for _, pair := range [][2]string{{"running", "run"}, {"deployed", "deploys"}, {"parsers", "parser"}, {"policies", "policy"}} {
		if Stem(pair[0]) != Stem(pair[1]) {
			t.Errorf("%v: %s, %s", pair, Stem(pair[0]), Stem(pair[1]))
		}
	}
}

package ranking

import (
	"slices"
	"testing"
)

func words(c Concept) (out []string) {
	for _, t := range c {
		out = append(out, t.Word)
	}
	return out
}

func TestAQuestionAlsoMeansWordsThatAreRelated(t *testing.T) {
	t.Parallel()
	for question, want := range map[string][]string{
		"how do I get rid of it": {"remove", "delete"}, "deleting": {"deleting", "remove"}, "shut down": {"shut", "stop"}, "maxIdleConns": {"idle", "unused"}, "the": {"the"}, "二週": {"二", "週"},
	} {
		var all []string
		for _, c := range Concepts(question) {
			all = append(all, words(c)...)
		}
		for _, w := range want {
			if !slices.Contains(all, w) {
				t.Errorf("%q has no %q: %q", question, w, all)
			}
		}
	}
	if got := Concepts(""); got != nil {
		t.Error(got)
	}
}

func TestAWordOfTheQuestionCountsMoreThanARelatedOne(t *testing.T) {
	t.Parallel()
	texts := []Text{{ID: 1, Body: "It can remove a thing.", Fitness: 1}, {ID: 2, Body: "It can delete a thing.", Fitness: 1}, {ID: 3, Body: "Something else.", Fitness: 1}}
	got := Rank(Concepts("delete"), texts, Collection{Texts: 3, In: func(string) int { return 1 }})
	if len(got) != 2 || got[0].ID != 2 || got[1].ID != 1 {
		t.Errorf("%+v", got)
	}
}

// What was learned of a ranking says how many of its first are kept.
func TestARankingThatFindsNothingKeepsNoPlace(t *testing.T) {
	t.Parallel()
	words, meaning := ranked(1, 2, 3, 4, 5, 6), ranked(99, 98, 97)
	for weight, want := range map[float64]int{0: 0, 0.2: 1, 0.5: 2} {
		n := 0
		for _, id := range Fuse(words, meaning, weight)[:5] {
			if id > 90 {
				n++
			}
		}
		if n != want {
			t.Errorf("%.1f: %d among the first five", weight, n)
		}
	}
}

package ranking

import (
	"cmp"
	"math"
	"slices"
)

// kept is how many of the first of either ranking stay among the first of the joined one, as far as there is room.
const (
	kept = 3
	head = 5
)

// Fuse joins a ranking by words with one by meaning, each best first. Their scores are brought to one scale and added,
// with weight for the one by meaning (0 to 1). Whatever the scores, the first three of either take the first five places
// in turns: the best of one ranking is not thrown away because the other does not know it. A ranking that counts less
// than half keeps as many fewer.
func Fuse(words, meaning []Scored, weight float64) []int64 {
	if len(meaning) == 0 || len(words) == 0 {
		return ids(append(slices.Clone(words), meaning...))
	}
	ofMeaning, ofWords := int(math.Round(2*weight*kept)), int(math.Round(2*(1-weight)*kept))
	score := map[int64]float64{}
	var all []int64
	add := func(list []Scored, weight float64) {
		best, least := list[0].Score, list[len(list)-1].Score
		for _, s := range list {
			if _, seen := score[s.ID]; !seen {
				all = append(all, s.ID)
			}
			share := 1.0
			if best > least {
				share = 0.1 + 0.9*(s.Score-least)/(best-least) // the last one is still found
			}
			score[s.ID] += weight * share
		}
	}
	add(words, 1-weight)
	add(meaning, weight)
	slices.SortStableFunc(all, func(a, b int64) int { return cmp.Compare(score[b], score[a]) })
	var first []int64
	for i := range kept {
		for j, list := range [][]Scored{words, meaning} {
			if most := []int{ofWords, ofMeaning}[j]; i < min(len(list), most) && len(first) < head && !slices.Contains(first, list[i].ID) {
				first = append(first, list[i].ID)
			}
		}
	}
	slices.SortStableFunc(first, func(a, b int64) int { return cmp.Compare(score[b], score[a]) })
	out := slices.Clone(first)
	for _, id := range all {
		if !slices.Contains(first, id) {
			out = append(out, id)
		}
	}
	return out
}

func ids(list []Scored) []int64 {
	var out []int64
	for _, s := range list {
		if !slices.Contains(out, s.ID) {
			out = append(out, s.ID)
		}
	}
	return out
}

// Parts returns the parts of the identifiers in a text, such as those of maxIdleConns and read_file, for an index that
// knows only whole words.
func Parts(s string) []string {
	var out []string
	seen := map[string]bool{}
	Each(s, func(word string) {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	})
	return out
}

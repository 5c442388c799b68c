package ranking

import "slices"

// Scored is a text with how well it fits; more is better.
type Scored struct {
	ID    int64
	Score float64
}

// The constants of BM25, and how much a word of a heading counts.
const (
	saturation  = 1.2
	lengthShare = 0.6
	headWeight  = 2
)

// Search returns the texts of a small collection that fit a question best, the best first, at most limit.
func Search(question string, texts []Text, limit int) []Scored {
	in := map[string]int{} // texts that have a stem
	for _, t := range texts {
		stems := map[string]bool{}
		for _, s := range []string{t.Place, t.Heading, t.Body} {
			Each(s, func(word string) { stems[Stem(word)] = true })
		}
		for stem := range stems {
			in[stem]++
		}
	}
	found := Rank(Concepts(question), texts, Collection{Texts: len(texts), In: func(word string) int { return in[Stem(word)] }})
	return slices.Clip(found[:min(limit, len(found))])
}

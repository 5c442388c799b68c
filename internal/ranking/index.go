package ranking

import (
	"cmp"
	"math"
	"slices"
)

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

// Index ranks the texts of a small collection by their words (BM25), in memory. It is not safe for concurrent use.
type Index struct {
	postings map[string]map[int]float64 // term → text → how often
	ids      []int64
	lengths  []float64
	total    float64
}

// NewIndex returns an empty index.
func NewIndex() *Index { return &Index{postings: map[string]map[int]float64{}} }

// Add adds a text with its heading.
func (x *Index) Add(id int64, heading, body string) {
	n := len(x.ids)
	x.ids = append(x.ids, id)
	length := 0.0
	add := func(s string, weight float64) {
		for _, term := range Terms(s) {
			of := x.postings[term]
			if of == nil {
				of = map[int]float64{}
				x.postings[term] = of
			}
			of[n] += weight
			length++
		}
	}
	add(heading, headWeight)
	add(body, 1)
	x.lengths = append(x.lengths, length)
	x.total += length
}

// Search returns the texts that fit a question best, the best first, at most limit.
func (x *Index) Search(question string, limit int) []Scored {
	weights := map[string]float64{}
	for _, term := range Terms(question) {
		weights[term] = 1
	}
	return x.rank(weights, limit)
}

// rank ranks the texts by weighted terms.
func (x *Index) rank(weights map[string]float64, limit int) []Scored {
	scores := map[int]float64{}
	average := x.total / math.Max(1, float64(len(x.ids)))
	for term, weight := range weights {
		of := x.postings[term]
		rare := math.Log(1 + (float64(len(x.ids)-len(of))+0.5)/(float64(len(of))+0.5))
		for n, often := range of {
			norm := saturation * (1 - lengthShare + lengthShare*x.lengths[n]/average)
			scores[n] += weight * rare * often * (saturation + 1) / (often + norm)
		}
	}
	out := make([]Scored, 0, len(scores))
	for n, score := range scores {
		out = append(out, Scored{x.ids[n], score})
	}
	slices.SortFunc(out, func(a, b Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return out[:min(limit, len(out))]
}

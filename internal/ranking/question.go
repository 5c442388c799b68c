package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Term is a word of a question, or one that means much the same.
type Term struct {
	Word   string  // in small letters
	Weight float64 // 1 for a word of the question
}

// Concept is what one word of a question, or a few that belong together, stand for.
type Concept []Term

// relatedWeight is how much a related word counts.
const relatedWeight = 0.4

// maxConcepts bounds what is looked for; a question with more words is text that was pasted.
const maxConcepts = 16

// Concepts returns what a question asks for. Common words are left out unless there are no others.
func Concepts(question string) []Concept {
	var words []string
	Each(question, func(w string) { words = append(words, w) })
	var out []Concept
	seen := map[string]bool{}
	covered := 0 // words before it belong to an expression
	only := !slices.ContainsFunc(words, func(w string) bool { return !Common(w) })
	for i, w := range words {
		c := Concept{}
		had := map[string]bool{Stem(w): true}
		longest := 1
		related(words[i:], func(word string, of int) {
			if of == 1 && Common(w) {
				return
			}
			longest = max(longest, of)
			for part := range strings.SplitSeq(word, "_") {
				if stem := Stem(part); !had[stem] && !Common(part) && !strings.Contains(word, "_") {
					had[stem] = true
					c = append(c, Term{part, relatedWeight})
				}
			}
		})
		if !Common(w) || only {
			c = slices.Insert(c, 0, Term{w, 1})
		}
		stem := Stem(w)
		if longest > 1 {
			stem = strings.Join(words[i:i+longest], " ")
		}
		if i < covered && longest == 1 && Common(w) || len(c) == 0 || seen[stem] || len(out) == maxConcepts {
			continue
		}
		covered = max(covered, i+longest)
		seen[stem] = true
		out = append(out, c)
	}
	return out
}

// Text is a candidate for an answer.
type Text struct {
	ID      int64
	Place   string // where it stands, such as a path
	Heading string
	Body    string
	Fitness float64 // how much it counts for this question, 1 for fully
}

// placeWeight is how much a word of a text's place counts.
const placeWeight = 0.5

// Collection is what Rank must know of all texts.
type Collection struct {
	Texts int
	In    func(word string) int // in how many texts a word occurs
}

// Rank ranks candidates by how well they fit concepts, the best first.
func Rank(concepts []Concept, texts []Text, all Collection) []Scored {
	type wanted struct {
		concept int
		weight  float64
	}
	stems := map[string][]wanted{}
	rare := make([]float64, len(concepts))
	for i, c := range concepts {
		in := 0.0
		for _, t := range c {
			in += t.Weight * float64(all.In(t.Word))
			stems[Stem(t.Word)] = append(stems[Stem(t.Word)], wanted{i, t.Weight})
		}
		in = min(in, float64(all.Texts))
		rare[i] = math.Log(1 + (float64(all.Texts)-in+0.5)/(in+0.5))
	}
	begun := map[string]bool{} // the first letters of the stems: most words of a text are told apart by them
	for stem := range stems {
		begun[stem[:min(len(stem), 2)]] = true
	}
	counts := make([][]float64, len(texts))
	lengths := make([]float64, len(texts))
	average := 0.0
	for n, text := range texts {
		counts[n] = make([]float64, len(concepts))
		count := func(s string, weight float64) (length float64) {
			Each(s, func(word string) {
				length++
				if !begun[word[:min(len(word), 2)]] {
					return
				}
				for _, w := range stems[Stem(word)] {
					counts[n][w.concept] += w.weight * weight
				}
			})
			return length
		}
		count(text.Place, placeWeight)
		count(text.Heading, headWeight)
		lengths[n] = count(text.Body, 1)
		average += lengths[n] / float64(len(texts))
	}
	out := make([]Scored, 0, len(texts))
	for n, text := range texts {
		score := 0.0
		for i, often := range counts[n] {
			norm := saturation * (1 - lengthShare + lengthShare*lengths[n]/average)
			score += rare[i] * often * (saturation + 1) / (often + norm)
		}
		if score == 0 {
			continue
		}
		out = append(out, Scored{text.ID, score * text.Fitness})
	}
	slices.SortStableFunc(out, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

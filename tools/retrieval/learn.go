package retrieval

import (
	"context"
	"slices"
	"strings"

	"jcode/internal/ranking"
	"jcode/session"
)

// The limits of what is learned of an embedding model.
const (
	evenShare    = 0.5 // of the ranking by meaning where nothing is learned
	learnedOf    = 24  // passages
	learnedFrom  = 100 // a collection with fewer passages is too small to learn from
	questionMost = 14  // words of a question that is made of a passage
	questionMin  = 6
)

// learn finds out how much an embedding model counts for a collection: of questions that are made of its passages, how
// many find theirs by their embedding, and how many by their words. It does so once, and again when the collection has
// changed much.
func (r *Room) learn(ctx context.Context, e Embedder, owner string, passages int) error {
	known, err := r.opts.Index.Weights(ctx, []string{owner}, e.Model())
	if err != nil || passages < learnedFrom {
		return err
	}
	if len(known) > 0 && passages < 2*known[0].Passages && 2*passages > known[0].Passages {
		return nil
	}
	sample, err := r.opts.Index.Sample(ctx, owner, e.Model(), 4*learnedOf)
	if err != nil {
		return err
	}
	var of []session.Passage
	var questions []string
	for _, p := range sample {
		if q := madeOf(p.Text); q != "" && len(questions) < learnedOf {
			of, questions = append(of, p), append(questions, q)
		}
	}
	if len(questions) == 0 {
		return nil
	}
	vectors, err := e.Embed(ctx, questions)
	if err != nil || len(vectors) != len(questions) {
		return err // it is learned when the model answers again
	}
	byWords, byMeaning := 0.0, 0.0
	for i, q := range questions {
		words, err := r.opts.Index.Search(ctx, []string{owner}, q, 5, func(p session.Passage) float64 { return fitness(q, p) })
		if err != nil {
			return err
		}
		near, err := r.nearest(ctx, []string{owner}, e.Model(), vectors[i], 5)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(words, func(p session.Passage) bool { return p.ID == of[i].ID }) {
			byWords++
		}
		if slices.ContainsFunc(near, func(s ranking.Scored) bool { return s.ID == of[i].ID }) {
			byMeaning++
		}
	}
	w := session.Weight{Owner: owner, Share: evenShare, Passages: passages}
	if byWords+byMeaning > 0 {
		w.Share = byMeaning / (byWords + byMeaning)
	}
	return r.opts.Index.PutWeight(ctx, w, e.Model())
}

// share returns how much the ranking by meaning counts for collections.
func (r *Room) share(ctx context.Context, owners []string) (float64, error) {
	e, err := r.openEmbedder()
	if e == nil || err != nil {
		return 0, nil //nolint:nilerr // it was said when the index was made
	}
	known, err := r.opts.Index.Weights(ctx, owners, e.Model())
	if err != nil || len(known) == 0 {
		return evenShare, err
	}
	passages, sum := 0, 0.0
	for _, w := range known {
		passages += w.Passages
		sum += w.Share * float64(w.Passages)
	}
	return sum / float64(max(1, passages)), nil
}

// madeOf makes a question of a passage: a sentence of its middle. It is "" if there is none.
func madeOf(text string) string {
	var sentences []string
	for line := range strings.SplitSeq(text, "\n") {
		for sentence := range strings.SplitSeq(strings.TrimLeft(line, "/*#|- \t"), ". ") {
			words := strings.Fields(sentence)
			if len(words) >= questionMin {
				sentences = append(sentences, strings.Join(words[:min(len(words), questionMost)], " "))
			}
		}
	}
	if len(sentences) == 0 {
		return ""
	}
	return sentences[len(sentences)/2]
}

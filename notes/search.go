package notes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"jcode/internal/ranking"
)

// Embedder computes embeddings of texts, one for each.
type Embedder interface {
	// Model returns the name of the model with its provider.
	Model() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Close ends idle connections.
	Close()
}

// The limits of a search by meaning.
const (
	embedBatch = 64
	embedWait  = 10 * time.Second
	nearShare  = 0.5 // of the ranking by meaning
	ranked     = 50  // of each ranking
)

// Search returns the notes that fit a question best, the best first, at most limit; also those that have faded, and
// never one with a secret. They are ranked by their meaning as well where there is a model for it; why says why that
// did not work, "" if it did.
func (s *Store) Search(ctx context.Context, question string, limit int, about ...About) (found []Note, why string) {
	list, _ := s.List(about...)
	list = slices.DeleteFunc(list, func(n Note) bool { return n.Secret })
	texts := make([]ranking.Text, len(list))
	for i, n := range list {
		texts[i] = ranking.Text{ID: int64(i), Heading: n.Topic, Body: n.Text, Fitness: 1}
	}
	words := ranking.Search(question, texts, ranked)
	near, err := s.near(ctx, question, list)
	if err != nil {
		why = "(ranked by words alone: " + err.Error() + ")"
	}
	for _, id := range ranking.Fuse(words, near, nearShare) {
		if len(found) < limit {
			found = append(found, list[id])
		}
	}
	return found, why
}

// near ranks notes by their embeddings; nil without a model.
func (s *Store) near(ctx context.Context, question string, list []Note) ([]ranking.Scored, error) {
	if s.opts.Embedder == nil || len(list) == 0 {
		return nil, nil
	}
	e, err := s.opts.Embedder()
	if e == nil || err != nil {
		return nil, err
	}
	defer e.Close()
	ctx, cancel := context.WithTimeout(ctx, embedWait)
	defer cancel()
	known, err := s.embedded(ctx, e, append([]string{question}, textsOf(list)...))
	if err != nil {
		return nil, err
	}
	var out []ranking.Scored
	for i, n := range list {
		out = append(out, ranking.Scored{ID: int64(i), Score: cosine(known[question], known[embedText(n)])})
	}
	slices.SortStableFunc(out, func(a, b ranking.Scored) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(ranked, len(out))], nil
}

// embedText is what is embedded of a note.
func embedText(n Note) string { return n.Topic + ": " + n.Text }

func textsOf(list []Note) (out []string) {
	for _, n := range list {
		out = append(out, embedText(n))
	}
	return out
}

// embedded returns the embeddings of texts. Those of notes are kept for the next search; the first text is a question.
func (s *Store) embedded(ctx context.Context, e Embedder, texts []string) (map[string][]float32, error) {
	s.mu.Lock()
	if s.model != e.Model() {
		s.model, s.vectors = e.Model(), nil
	}
	out := map[string][]float32{}
	var missing []string
	for _, t := range texts {
		if v, had := s.vectors[t]; had {
			out[t] = v
		} else if !slices.Contains(missing, t) {
			missing = append(missing, t)
		}
	}
	s.mu.Unlock()
	for batch := range slices.Chunk(missing, embedBatch) {
		vectors, err := e.Embed(ctx, batch)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(batch) {
			return nil, fmt.Errorf("the embedding model %s returned %d embeddings for %d texts", e.Model(), len(vectors), len(batch))
		}
		for i, v := range vectors {
			out[batch[i]] = v
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vectors = make(map[string][]float32, len(out)) // those of notes that are gone are not kept
	for t, v := range out {
		if t != texts[0] {
			s.vectors[t] = v
		}
	}
	return out, nil
}

// cosine returns how near two embeddings are; those of different lengths are far.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return -1
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return -1
	}
	return dot / math.Sqrt(aa*bb)
}

package notes

import "jcode/internal/ranking"

// Found is a note that a search found.
type Found struct {
	Note  Note
	Score float64
}

// Search returns the notes that fit a question best, the best first, at most limit; also those that have faded, and
// never one with a secret.
func (s *Store) Search(question string, limit int, about ...About) []Found {
	list, _ := s.List(about...)
	index := ranking.NewIndex()
	for i, n := range list {
		if !n.Secret {
			index.Add(int64(i), n.Topic, n.Text)
		}
	}
	var out []Found
	for _, hit := range index.Search(question, limit) {
		out = append(out, Found{list[hit.ID], hit.Score})
	}
	return out
}

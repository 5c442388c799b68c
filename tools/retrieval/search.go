package retrieval

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/passage"
	"jcode/internal/paths"
	"jcode/internal/ranking"
	"jcode/session"
	"jcode/tools"
)

// The widths of a search.
const (
	defaultTop = 6
	maxTop     = 20
	candidates = 50 // of each ranking
	perFile    = 2  // passages of one document before others follow
	firstWait  = 30 * time.Second
	newerWait  = 2 * time.Second
)

// Hit is a passage that was found.
type Hit struct {
	Path    string `json:"path"`
	Heading string `json:"heading,omitempty"`
	First   int    `json:"first_line"`
	Last    int    `json:"last_line"`
	Text    string `json:"text"`
	Note    string `json:"note,omitempty"`
}

// Search returns the passages of the collections in use that fit a query best, and what the
// reader must know of the index ("" for nothing).
func (r *Room) Search(ctx context.Context, query string, top int) (hits []Hit, note string, err error) {
	if top <= 0 {
		top = defaultTop
	}
	top = min(top, maxTop)
	r.look() // what was written a moment ago counts
	note = r.await(ctx)
	r.mu.Lock()
	owners := r.owners()
	r.mu.Unlock()
	if len(owners) == 0 {
		return nil, "", tools.Errorf(tools.KindIO, "there are no documents in this conversation: use grep and read, or ask the user to add some with /docs add")
	}
	byWords, err := r.opts.Index.Search(ctx, owners, query, candidates, func(p session.Passage) float64 { return fitness(query, p) })
	if err != nil {
		return nil, "", err
	}
	found := map[int64]session.Passage{}
	words := make([]ranking.Scored, len(byWords))
	for i, p := range byWords {
		found[p.ID], words[i] = p, ranking.Scored{ID: p.ID, Score: p.Score}
	}
	near, why := r.byMeaning(ctx, owners, query)
	if why != "" {
		note = strings.TrimSpace(note + "\n" + why)
	}
	share, err := r.share(ctx, owners)
	if err != nil {
		return nil, "", err
	}
	ranked := ranking.Fuse(words, near, share)
	if err := r.fetchMissing(ctx, ranked, found); err != nil {
		return nil, "", err
	}
	best := map[int64]bool{}
	for _, list := range [][]ranking.Scored{words, near} {
		if len(list) > 0 {
			best[list[0].ID] = true
		}
	}
	return r.choose(ranked, found, best, top), note, nil
}

// await waits for a first index, and a moment for a newer one.
func (r *Room) await(ctx context.Context) (note string) {
	r.mu.Lock()
	owners := r.owners()
	r.mu.Unlock()
	limit := newerWait
	if there, err := r.opts.Index.Any(ctx, owners...); err == nil && !there {
		limit = firstWait
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	line := ""
	if err := r.Wait(wait, func(s string) { line = s }); err != nil {
		return "(the index is not complete yet: " + line + ")"
	}
	return ""
}

// byMeaning returns passages by their embeddings; nil if there are none. why says why they can't
// be used.
func (r *Room) byMeaning(ctx context.Context, owners []string, query string) (near []ranking.Scored, why string) {
	e, err := r.openEmbedder()
	if e == nil || err != nil {
		return nil, "" // it was said when the index was made
	}
	vectors, err := e.Embed(ctx, []string{query})
	if err == nil && len(vectors) == 1 {
		near, err = r.nearest(ctx, owners, e.Model(), vectors[0], candidates)
	}
	if err != nil {
		return nil, "(ranked by words alone: " + err.Error() + ")"
	}
	return near, ""
}

// The weights of passages of source files for a question in prose: its words are in their comments and names by chance
// more often than in a page.
const (
	sourceFitness = 0.7
	testFitness   = 0.4
)

// fitness returns how much a passage of a file counts for a question. For a question that names an identifier, all
// files count the same.
func fitness(query string, p session.Passage) float64 {
	path := p.Path
	name := strings.ToLower(filepath.Base(path))
	switch {
	case paths.IsAddress(path) || asksForSource(query):
		return 1
	case strings.Contains(name, "_test.") || strings.Contains(name, ".test.") || strings.HasPrefix(name, "test_") || strings.Contains(filepath.ToSlash(path), "/testdata/"):
		return testFitness
	case passage.Markdown(name):
		return 1
	}
	switch filepath.Ext(name) {
	case "", ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".html", ".htm", ".xhtml", ".pdf":
		return 1
	}
	return sourceFitness + (1-sourceFitness)*prose(p.Text)
}

// prose returns the share of a source passage that is comments.
func prose(text string) float64 {
	comments, all := 0, 1
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		all += len(line)
		if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "/*") || strings.HasPrefix(line, "--") || strings.HasPrefix(line, ";;") {
			comments += len(line)
		}
	}
	return float64(comments) / float64(all)
}

// asksForSource reports whether a question has a word as only source has them: readFile, max_steps, f().
func asksForSource(query string) bool {
	return slices.ContainsFunc(strings.Fields(query), func(w string) bool {
		w = strings.Trim(w, ".,?!:;\"'")
		return strings.ContainsAny(w, "_(){}=") || !strings.ContainsAny(w, "-'’:/.") && len(ranking.Parts(w)) > 1
	})
}

func (r *Room) fetchMissing(ctx context.Context, ids []int64, found map[int64]session.Passage) error {
	var missing []int64
	for _, id := range ids {
		if _, ok := found[id]; !ok {
			missing = append(missing, id)
		}
	}
	list, err := r.opts.Index.Passages(ctx, missing)
	for _, p := range list {
		found[p.ID] = p
	}
	return err
}

// choose returns the best passages, with at most a few of one document before those of others, apart from the best of a
// ranking. Documents that may no longer be read are left out.
func (r *Room) choose(ranked []int64, found map[int64]session.Passage, best map[int64]bool, top int) []Hit {
	var hits, later []Hit
	of := map[string]int{}
	for _, id := range ranked {
		p, ok := found[id]
		if !ok || !paths.IsAddress(p.Path) && r.opts.Denied(p.Path) != "" {
			continue
		}
		h := Hit{Path: r.shown(p.Path), Heading: p.Heading, First: p.First, Last: p.Last, Text: p.Text, Note: p.Problem}
		if of[p.Path]++; of[p.Path] > perFile && !best[id] {
			later = append(later, h)
			continue
		}
		hits = append(hits, h)
	}
	hits = append(hits, later...)
	return hits[:min(top, len(hits))]
}

// look begins to look for changes of all collections that are not looked at already, unless that was stopped.
func (r *Room) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.using {
		if k.done == nil && !errors.Is(k.state.err, errStopped) {
			k.settled = false
			indexing{r, k}.refresh(false)
		}
	}
}

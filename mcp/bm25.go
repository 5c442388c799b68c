package mcp

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// The usual constants of BM25.
const (
	bmK = 1.2
	bmB = 0.75
	// nameWeight is the weight of a word in a tool's name relative to one in its description.
	nameWeight = 3
)

// search ranks tools by BM25 over name and description. A query word also matches words
// that begin with it.
func search(all []foundTool, query, server string, limit int) []foundTool {
	words := splitWords(query)
	type document struct {
		tool   foundTool
		counts map[string]int
		length int
	}
	var docs []document
	total := 0
	for _, f := range all {
		if server != "" && f.server != server {
			continue
		}
		d := document{tool: f, counts: map[string]int{}}
		for _, w := range splitWords(f.server + " " + f.info.Name) {
			d.counts[w] += nameWeight
			d.length += nameWeight
		}
		for _, w := range splitWords(f.info.Title + " " + f.info.Description) {
			d.counts[w]++
			d.length++
		}
		total += d.length
		docs = append(docs, d)
	}
	if len(docs) == 0 || len(words) == 0 {
		return nil
	}
	average := float64(total) / float64(len(docs))
	scores := make([]float64, len(docs))
	for _, word := range words {
		frequency := make([]float64, len(docs))
		found := 0
		for i, d := range docs {
			for w, n := range d.counts {
				switch {
				case w == word:
					frequency[i] += float64(n)
				case len(word) >= 3 && strings.HasPrefix(w, word):
					frequency[i] += float64(n) / 2
				}
			}
			if frequency[i] > 0 {
				found++
			}
		}
		idf := math.Log(1 + (float64(len(docs)-found)+0.5)/(float64(found)+0.5))
		for i, f := range frequency {
			scores[i] += idf * f * (bmK + 1) / (f + bmK*(1-bmB+bmB*float64(docs[i].length)/average))
		}
	}
	order := make([]int, 0, len(docs))
	for i := range docs {
		if scores[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var out []foundTool
	for _, i := range order[:min(limit, len(order))] {
		out = append(out, docs[i].tool)
	}
	return out
}

// splitWords returns lower-case words, split at camelCase, digits and punctuation.
func splitWords(s string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return out
}

package shell

import (
	"slices"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds how many words one word with braces is expanded to; those of more are read as a wildcard.
const maxBraces = 256

// braced returns the words to which bash expands a word with braces: {a,b}, {1..3}. Plain shells leave it as it is.
func braced(w *syntax.Word) (out []word) {
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(split) {
		return nil
	}
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(out) == maxBraces {
			return []word{anyBraces(split)}
		}
		out = append(out, readPlain(one))
	}
	return out
}

// anyBraces reads each brace expression of a word as a wildcard.
func anyBraces(w *syntax.Word) word {
	star := &syntax.Word{Parts: slices.Clone(w.Parts)}
	for i, part := range star.Parts {
		if _, ok := part.(*syntax.BraceExp); ok {
			star.Parts[i] = &syntax.Lit{Value: "*"}
		}
	}
	return readPlain(star)
}

// spread returns words in which those with braces are replaced by what they expand to; none if there are no braces.
func spread(words []word) (out []word) {
	if !slices.ContainsFunc(words, func(w word) bool { return w.braces != nil }) {
		return nil
	}
	for _, w := range words {
		if w.braces == nil {
			out = append(out, w)
		}
		out = append(out, w.braces...)
	}
	return out
}

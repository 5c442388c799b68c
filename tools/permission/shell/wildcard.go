package shell

import (
	"path/filepath"
	"slices"
	"strings"
)

// forms returns a command's words in each form in which the program may get them: as written, and with the
// file names that wildcards expand to. The program sees only those: one may be a flag, a list of more words,
// or the text to search for, and a second one the file to write.
func (a *analysis) forms(words []word) (out [][]word, why string) {
	out = [][]word{words}
	if !slices.ContainsFunc(words[1:], func(w word) bool { return w.glob }) {
		return out, ""
	}
	for _, dir := range a.dirs {
		if dir == "" {
			continue // unknown: anything relative to it asks
		}
		form, found := words[:1:1], false
		for _, w := range words[1:] {
			names, ok := a.stood(dir, w)
			switch {
			case !ok:
				return nil, w.text + " matches too many files to check each"
			case len(names) == 0:
				form = append(form, w)
				continue
			}
			found = true
			for _, name := range names {
				form = append(form, word{text: name, several: len(names) > 1})
			}
		}
		if found {
			out = append(out, form)
		}
	}
	return out, ""
}

// stood returns the names that replace a word with a wildcard in a folder; none if the word stays as it is.
func (a *analysis) stood(dir string, w word) (names []string, ok bool) {
	text, known := a.expandTilde(w.text)
	if !w.glob || w.dynamic || w.tilde && !known {
		return nil, true
	}
	if !w.tilde {
		text = w.text
	}
	first := strings.IndexAny(text, "*?[")
	if first < 0 {
		return nil, true
	}
	before := text[:strings.LastIndexByte(text[:first], '/')+1]
	full := lexical(dir, text)
	hits, ok := a.expandGlob(full)
	for _, h := range hits {
		rest, err := filepath.Rel(fixedPart(full), h)
		if err != nil {
			return nil, false
		}
		names = append(names, before+filepath.ToSlash(rest))
	}
	return names, ok
}

// becomesFlag reports whether a wildcard matches a file whose name begins with a dash.
func (a *analysis) becomesFlag(w word) bool {
	if at := strings.IndexAny(w.text, "*?["); at < 0 || at > 0 && w.text[0] != '-' {
		return false
	}
	first, _, _ := strings.Cut(w.text, "/")
	for _, dir := range a.dirs {
		hits, ok := a.disk.matching(dir, first)
		if !ok || slices.ContainsFunc(hits, func(h string) bool { return strings.HasPrefix(filepath.Base(h), "-") }) {
			return true
		}
	}
	return false
}

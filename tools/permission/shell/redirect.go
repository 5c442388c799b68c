package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirections returns what the redirections of a command mean for it.
func (a *analysis) redirections(list []*syntax.Redirect) around {
	at := around{input: a.input}
	for _, r := range list {
		if r.Hdoc == nil && r.Word != nil {
			at.text += " " + shown(r)
		}
		a.redirect(&at, r)
	}
	return at
}

func shown(r *syntax.Redirect) string {
	number := ""
	if r.N != nil {
		number = r.N.Value
	}
	return number + r.Op.String() + source(r.Word)
}

// redirect adds one redirection.
func (a *analysis) redirect(at *around, r *syntax.Redirect) {
	does := useOf(r.Op)
	if does.reads() {
		at.input = written
	}
	if r.Hdoc != nil && a.within(r.Hdoc) {
		at.doubts("its here-document runs commands")
	}
	if r.Hdoc != nil && !readsOnly(r.Hdoc.Parts) {
		at.doubts("its here-document computes something that can't be checked")
	}
	if r.Word != nil && a.within(r.Word) {
		at.doubts("it redirects to what a command prints")
	}
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		at.doubts("it sets a variable")
	}
	if does == readsText {
		return
	}
	w := readWord(r.Word)
	switch {
	case w.dynamic || w.glob:
		a.redirectUnknown(at, does, w)
	case does == readsFile:
		at.opens = append(at.opens, a.targets(w)...)
		if why := a.outside(w); why != "" && at.unread == "" {
			at.unread = why
		}
	case (does == copiesIn || does == copiesOut) && (w.text == "-" || isNumber(strings.TrimSuffix(w.text, "-"))):
	case w.text == "/dev/null" || w.text == "/dev/stdout" || w.text == "/dev/stderr":
	default:
		at.doubts("it writes to %s", w.text)
		paths := a.targets(w)
		at.touches, at.changes = append(at.touches, paths...), append(at.changes, paths...)
		if does == opensFile {
			at.opens = append(at.opens, paths...)
		}
	}
}

// redirectUnknown adds a redirection to a file whose name depends on the moment.
func (a *analysis) redirectUnknown(at *around, does use, w word) {
	paths := a.targets(a.known(w))
	if does == readsFile {
		at.opens = append(at.opens, paths...)
	} else {
		at.changes = append(at.changes, paths...)
	}
	for _, one := range w.braces {
		paths := a.targets(a.known(one))
		at.opens, at.changes = append(at.opens, paths...), append(at.changes, paths...)
	}
	at.doubts("it redirects to a file that is not known before")
}

// use is what a redirection does with its word.
type use int

const (
	writesFile use = iota
	readsFile
	opensFile // to read and to write
	readsText // a here-document
	copiesIn  // a number of an open file, or a file
	copiesOut
)

func useOf(op syntax.RedirOperator) use {
	switch op {
	case syntax.RdrIn:
		return readsFile
	case syntax.RdrInOut:
		return opensFile
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return readsText
	case syntax.DplIn:
		return copiesIn
	case syntax.DplOut:
		return copiesOut
	}
	return writesFile
}

// reads reports whether a redirection gives a command its input.
func (u use) reads() bool { return u != writesFile && u != copiesOut }

func isNumber(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

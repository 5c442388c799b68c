package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirected is what redirections mean for the command that has them.
type redirected struct {
	doubt   string
	reads   string // why one of them must not be read
	touches []string
	opens   []string // resolved paths that are certainly read
	changes []string // resolved paths that are written
	feeds   bool     // the input is in the line or in a file
	text    string
}

func (a *analysis) redirections(list []*syntax.Redirect) redirected {
	var out redirected
	doubt := func(format string, args ...any) {
		if out.doubt == "" {
			out.doubt = fmt.Sprintf(format, args...)
		}
	}
	for _, r := range list {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
			out.feeds = true
		}
		if r.Hdoc == nil && r.Word != nil {
			out.text += " "
			if r.N != nil {
				out.text += r.N.Value
			}
			out.text += r.Op.String() + source(r.Word)
		}
		if r.Hdoc != nil && a.within(r.Hdoc) {
			doubt("its here-document runs commands")
		}
		if r.Hdoc != nil && !readsOnly(r.Hdoc.Parts) {
			doubt("its here-document computes something that can't be checked")
		}
		if r.Word != nil && a.within(r.Word) {
			doubt("it redirects to what a command prints")
		}
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			doubt("it sets a variable")
		}
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
			continue
		}
		w := readWord(r.Word)
		if w.dynamic || w.glob {
			if r.Op == syntax.RdrIn {
				out.opens = append(out.opens, a.targets(a.known(w))...)
			} else {
				out.changes = append(out.changes, a.targets(a.known(w))...)
			}
			for _, one := range w.braces {
				out.opens, out.changes = append(out.opens, a.targets(a.known(one))...), append(out.changes, a.targets(a.known(one))...)
			}
			doubt("it redirects to a file that is not known before")
			continue
		}
		switch r.Op {
		case syntax.RdrIn:
			out.opens = append(out.opens, a.targets(w)...)
			if why := a.outside(w); why != "" && out.reads == "" {
				out.reads = why
			}
		case syntax.DplIn, syntax.DplOut:
			if w.text == "-" || isNumber(strings.TrimSuffix(w.text, "-")) {
				continue
			}
			fallthrough
		default:
			if w.text == "/dev/null" || w.text == "/dev/stdout" || w.text == "/dev/stderr" {
				continue
			}
			doubt("it writes to %s", w.text)
			out.touches = append(out.touches, a.targets(w)...)
			out.changes = append(out.changes, a.targets(w)...)
			if r.Op == syntax.RdrInOut {
				out.opens = append(out.opens, a.targets(w)...)
			}
		}
	}
	return out
}

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

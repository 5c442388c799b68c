package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (a *analysis) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		a.stmt(s)
	}
}

func (a *analysis) stmt(s *syntax.Stmt) {
	if s.Coprocess || s.Disown {
		a.doubt("it detaches a command")
	}
	at := a.redirections(s.Redirs)
	call, ok := s.Cmd.(*syntax.CallExpr)
	if ok {
		a.call(call, at)
		return
	}
	for _, why := range []string{at.doubt, at.unread} {
		if why != "" {
			a.doubt("%s", why)
		}
	}
	if len(at.touches)+len(at.opens) > 0 {
		a.wordless(redirection, at.doubt, at.files)
	}
	a.compound(s.Cmd)
}

// compound visits a command that is not a simple command.
func (a *analysis) compound(c syntax.Command) {
	switch c := c.(type) {
	case nil:
	case *syntax.BinaryCmd:
		at := a.folders
		a.stmt(c.X)
		if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
			a.stmt(c.Y)
			return
		}
		// Each side of a pipe is its own process.
		was := a.input
		a.folders, a.input = at, piped
		a.stmt(c.Y)
		a.folders, a.input = at, was
	case *syntax.Block:
		a.stmts(c.Stmts)
	case *syntax.Subshell:
		at := a.folders
		a.stmts(c.Stmts)
		a.folders = at
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			a.stmts(c.Cond)
			a.stmts(c.Then)
		}
	case *syntax.WhileClause:
		a.twice(func() { a.stmts(c.Cond); a.stmts(c.Do) })
	case *syntax.ForClause:
		a.loop(c)
	case *syntax.CaseClause:
		a.plain(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				a.plain(p)
			}
			a.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		a.doubt("time runs another command")
		if c.Stmt != nil {
			a.stmt(c.Stmt)
		}
	case *syntax.FuncDecl:
		a.doubt("it defines a function, so names mean other things afterwards")
		a.stmt(c.Body)
	default: // arithmetic, [[ ]], let, declare, coproc: they can run and assign things
		a.doubt("it uses a construct that can't be checked")
		a.within(c)
	}
}

// twice visits the body of a loop, and visits it again if it changed the folder: its second round begins
// where the first one ended. Commands found twice are kept once.
func (a *analysis) twice(body func()) {
	n, dirs := len(a.line.Commands), len(a.dirs)
	body()
	if len(a.dirs) != dirs {
		a.line.Commands = a.line.Commands[:n]
		body()
	}
}

func (a *analysis) loop(c *syntax.ForClause) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select {
		a.doubt("it uses a construct that can't be checked")
		a.within(c.Loop)
		a.stmts(c.Do)
		return
	}
	if name := iter.Name.Value; name != strings.ToLower(name) {
		a.doubt("it sets the variable %s", name) // PATH and similar
	}
	for _, w := range iter.Items {
		a.within(w)
		if read := readWord(w); read.dynamic && !read.simple {
			a.doubt("it expands to words that are not known before")
		} else if why := a.outside(read); why != "" {
			a.doubt("%s", why)
		}
	}
	a.twice(func() { a.stmts(c.Do) })
}

// plain visits a word that is compared, and doubts one that does more than read variables: arithmetic runs
// what is in the index of a variable.
func (a *analysis) plain(w *syntax.Word) {
	if !a.within(w) && !readsOnly(w.Parts) {
		a.doubt("it computes something that can't be checked")
	}
}

// tame reports whether words are known, and can't be read as flags, as several words, or as a variable with
// an index.
func tame(items []*syntax.Word) bool {
	for _, item := range items {
		w := readWord(item)
		if w.dynamic || w.glob || strings.HasPrefix(w.text, "-") || strings.ContainsAny(w.text, "$`[*? \t\n") {
			return false
		}
	}
	return len(items) > 0
}

// within visits the commands in a node's substitutions; found reports whether there were any.
func (a *analysis) within(n syntax.Node) (found bool) {
	if n == nil {
		return false
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		var stmts []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			stmts = n.Stmts
		case *syntax.ProcSubst:
			stmts = n.Stmts
		case *syntax.Stmt:
			a.stmt(n)
			return false
		default:
			return true
		}
		found = true
		at := a.folders
		a.stmts(stmts)
		a.folders = at
		return false
	})
	return found
}

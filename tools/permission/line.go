package permission

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"jcode/tools/permission/repository"
)

// Line is a shell text taken apart into its simple commands.
type Line struct {
	// Text is the whole text, blanks around taken away.
	Text string
	// Commands are the simple commands in the order in which they stand, those inside
	// substitutions and wrappers included.
	Commands []Command
	// Doubt says why the line as a whole is not vouched for, "" when each of its simple
	// commands stands for itself.
	Doubt string
	// Opaque is set when the text could not be taken apart at all.
	Opaque bool

	elsewhere bool     // it runs outside the workspace
	git       bool     // a git command of it was vouched for
	beyond    []string // folders outside the workspace that this git needs
	ruled     bool     // rules forbid reading some files
	reads     []string // the files that were judged and may be read
	hidden    []string // tracked files that rules forbid
}

// Command is one simple command of a line.
type Command struct {
	// Text is the command as a rule would name it.
	Text string
	// ReadOnly says that it changes nothing, by the table of commands.
	ReadOnly bool
	// Why gives the reason for ReadOnly, or against it.
	Why string
	// Doubt says why rules with wildcards don't vouch for it: an assignment, a
	// redirection, a substitution, another command inside.
	Doubt string
	// Inner commands run inside a substitution or a wrapper.
	Inner bool

	words   []word
	wrapper bool
	wrapped int      // 1 + the index of the wrapper that holds it, else 0
	later   [][]word // what it may run besides, as far as that is known
	exact   bool     // the words say it all: no expansion, redirection or assignment
	pin     pin      // what a grant of it is tied to
	touches []string // resolved paths that the words and redirections may name
	opens   []string // of these, what it reads for certain
	changes []string // and what it may well change
}

// scene is where a line would run.
type scene struct {
	places places
	dir    string
	// denied says which rule forbids reading a path, "" if none; ruled whether there is
	// any such rule.
	denied func(path string) string
	ruled  bool
	// look says what git would find in a folder.
	look func(dir string) repository.Finding
	// alias says what an alias of git stands for in a folder. It is nil where nobody needs
	// to know: without rules that restrict commands.
	alias func(dir, name string) string
}

// analyse takes a line apart. It never fails: what it can't read is opaque.
func analyse(text string, at scene) Line {
	a := &analysis{scene: at, dirs: []string{at.dir}}
	a.line.ruled = at.ruled
	a.line.Text = strings.TrimSpace(text)
	a.text(a.line.Text)
	return a.line
}

// joinArgv writes an argument list as a shell would read it.
func joinArgv(argv []string) string {
	words := make([]word, len(argv))
	for i, s := range argv {
		words[i] = static(s)
	}
	return join(words)
}

// analyseArgv judges a command that no shell reads.
func analyseArgv(argv []string, at scene) Line {
	a := &analysis{scene: at, dirs: []string{at.dir}, noShell: true}
	a.line.ruled = at.ruled
	words := make([]word, len(argv))
	for i, s := range argv {
		words[i] = static(s)
	}
	a.line.Text = join(words)
	if len(argv) > 0 {
		a.command(words, "")
		a.line.Commands[0].later = a.later(&a.line.Commands[0], false, nil)
	}
	return a.line
}

type analysis struct {
	scene
	line  Line
	dirs  []string // where the commands may find themselves
	moved bool     // a cd came before
	depth int      // inside sh -c
	inner int      // inside a substitution or wrapper
	holds int      // 1 + the index of the wrapper around
	fed   bool     // the input comes from another command of the line

	loops   map[string]bool // variables that the line sets to what may be more than a word
	items   map[string]bool // variables that the line sets to words which are judged there
	noShell bool            // no shell reads the words
}

// doubt notes why the line is not vouched for. What stands inside a wrapper's text is
// that wrapper's affair: nobody vouches for one but to the letter.
func (a *analysis) doubt(format string, args ...any) {
	if a.line.Doubt == "" && a.depth == 0 {
		a.line.Doubt = fmt.Sprintf(format, args...)
	}
}

// text parses a shell text and visits it.
func (a *analysis) text(src string) {
	if why := unreadable(src); why != "" {
		a.opaque(why)
		return
	}
	file, err := parse(src, syntax.LangBash)
	if errors.Is(err, errImpatient) {
		a.opaque(err.Error())
		return
	}
	posix, posixErr := parse(src, syntax.LangPOSIX)
	switch {
	case err != nil && posixErr != nil:
		a.opaque("it is no complete shell command: " + parseReason(posixErr))
		return
	case err != nil:
		a.doubt("bash and sh read it differently")
		file = posix
	case posixErr != nil || printed(file) != printed(posix):
		a.doubt("bash and sh read it differently")
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		iter, ok := n.(*syntax.WordIter)
		if !ok {
			return true
		}
		if a.items == nil {
			a.items = map[string]bool{}
		}
		a.items[iter.Name.Value] = len(iter.Items) > 0
		if !tame(iter.Items) {
			if a.loops == nil {
				a.loops = map[string]bool{}
			}
			a.loops[iter.Name.Value] = true
		}
		return true
	})
	a.stmts(file.Stmts)
}

func (a *analysis) opaque(why string) {
	a.line.Opaque = true
	a.doubt("%s", why)
}

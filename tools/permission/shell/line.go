package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"jcode/tools/permission/repository"
)

// Line is a shell text split into its simple commands.
type Line struct {
	// Text is the whole text without surrounding white space.
	Text string
	// Commands are the simple commands in the order in which they occur, including those inside substitutions
	// and wrappers.
	Commands []Command
	// Doubt says why the line as a whole is not vouched for; "" when each of its simple commands is judged on
	// its own.
	Doubt string
	// Opaque is set when the text could not be parsed at all.
	Opaque bool

	// Git says that a git command of the line was vouched for. Beyond are folders outside the workspace that
	// this git needs, Hidden are files that it tracks and rules forbid.
	Git            bool
	Beyond, Hidden []string
	// Ruled says that rules forbid reading some files; Reads are then the files that it may read.
	Ruled bool
	Reads []string
}

// OnlyReads reports whether the whole line is vouched for.
func (l Line) OnlyReads() bool {
	if l.Doubt != "" || len(l.Commands) == 0 {
		return false
	}
	for _, c := range l.Commands {
		if !c.ReadOnly {
			return false
		}
	}
	return true
}

// Command is one simple command of a line.
type Command struct {
	// Text is the command as a rule would name it.
	Text string
	// ReadOnly says that the command changes nothing, according to the table of commands.
	ReadOnly bool
	// Why is the reason for ReadOnly, or against it.
	Why string
	// Doubt says why rules with wildcards don't vouch for it: an assignment, a redirection, a substitution,
	// another command inside.
	Doubt string
	// Wrapper commands run another command contained in their words; Wrapped is 1 + the index of the wrapper
	// that contains a command, or 0.
	Wrapper bool
	Wrapped int
	// Pin is what a grant for it is tied to.
	Pin Pin
	// Script is the resolved file that it runs: a program named by its path, or the script of an interpreter;
	// "" if that is not known.
	Script string
	// Touches are the resolved paths that its words and redirections may name. Of these it certainly reads
	// Opens, and may change Changes.
	Touches, Opens, Changes []string

	words []word
	later [][]word // what else it may run, as far as that is known
	form  form
}

// RunsScript returns the file that the command runs, if its words are all that decides what it does: no
// assignment, redirection or expansion. Else "".
func (cmd Command) RunsScript() string {
	if cmd.form != complete {
		return ""
	}
	return cmd.Script
}

// Places are the folders by which a line's paths are judged.
type Places interface {
	// Roots are the workspace's folders, Start is where jcode was started, Home is the person's. All are
	// resolved.
	Roots() []string
	Start() string
	Home() string
	// Inside reports whether a resolved path is in the workspace.
	Inside(path string) bool
	// Show writes a path as a person would.
	Show(path string) string
}

// Scene describes where a line would run.
type Scene struct {
	Places Places
	Dir    string
	// Bash says that bash reads the line, otherwise sh does.
	Bash bool
	// Denied returns the rule that forbids reading a path, "" if none; Ruled reports whether there is any such
	// rule.
	Denied func(path string) string
	Ruled  bool
	// Look returns what git would find in a folder.
	Look func(dir string) repository.Finding
	// Alias returns the expansion of a git alias in a folder. It is nil if nobody needs it: without rules that
	// restrict commands.
	Alias func(dir, name string) string
}

// Analyse parses a line. It never fails: what it can't read is opaque.
func Analyse(text string, at Scene) Line {
	a := newAnalysis(at)
	a.whole(text)
	return a.line
}

// AnalyseArgv judges a command that no shell parses.
func AnalyseArgv(argv []string, at Scene) Line {
	a := newAnalysis(at)
	a.noShell = true
	words := make([]word, len(argv))
	for i, s := range argv {
		words[i] = static(s)
	}
	a.line.Text = join(words)
	if len(argv) > 0 {
		a.command(words, around{})
	}
	return a.line
}

type analysis struct {
	Scene
	disk *disk
	line Line
	folders
	input  input // of the commands that follow, unless they redirect it
	depth  int   // inside sh -c
	inside int   // 1 + the index of the wrapper around

	loops   map[string]bool // variables that the line may set to more than one word
	items   map[string]bool // variables that the line sets to words which are judged there
	noShell bool            // no shell parses the words
}

// folders are where a command may run. They are as before after a subshell, a pipe and a substitution.
type folders struct {
	dirs  []string
	moved bool // a cd came before
}

func newAnalysis(at Scene) *analysis {
	return &analysis{Scene: at, disk: newDisk(), folders: folders{dirs: []string{at.Dir}}, line: Line{Ruled: at.Ruled}}
}

// whole visits a line.
func (a *analysis) whole(text string) {
	a.line.Text = strings.TrimSpace(text)
	a.text(a.line.Text)
}

// doubt records why the line is not vouched for. A doubt inside a wrapper's text belongs to the wrapper: a
// wrapper is only ever allowed verbatim.
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
		a.opaque("it is not a complete shell command: " + parseReason(posixErr))
		return
	case err != nil:
		a.doubt("bash and sh read it differently")
		file = posix
	case posixErr == nil && printed(file) == printed(posix):
	case a.Bash && a.depth == 0 && ofBash(src):
	default:
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

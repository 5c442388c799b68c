package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// input is where a command reads from, as far as the line says.
type input int

const (
	inherited input = iota // from whoever runs the line
	piped                  // from another command of the line
	written                // from a file, or from text in the line
)

// form is how much of what a command does its words say.
type form int

const (
	accompanied form = iota // not all: an assignment, a redirection, a substitution or the input takes part
	expanded                // all of it, once those words are known that depend on the moment
	complete                // all of it
)

// around is what stands around the words of a simple command.
type around struct {
	files
	doubt  string // why the words alone don't say what it does
	unread string // why a file that it would read must not be read unasked
	input  input
	steers bool   // git's configuration is among the assignments
	text   string // the redirections as written
}

// files are resolved paths: those that may be named, those of them that are certainly read, and those that are changed.
type files struct{ touches, opens, changes []string }

func (at *around) doubts(format string, args ...any) {
	if at.doubt == "" {
		at.doubt = fmt.Sprintf(format, args...)
	}
}

// call visits a simple command.
func (a *analysis) call(c *syntax.CallExpr, at around) {
	for _, as := range c.Assigns {
		name := ""
		if as.Name != nil {
			name = as.Name.Value
		}
		at.doubts("it sets the variable %s", name)
		at.steers = at.steers || strings.HasPrefix(name, "GIT_CONFIG")
		a.within(as)
	}
	words := make([]word, 0, len(c.Args))
	substituted := false
	for _, w := range c.Args {
		substituted = a.within(w) || substituted
		words = append(words, readWord(w))
	}
	if substituted {
		at.doubts("it runs a command inside another (substitution)")
	}
	if len(words) == 0 {
		text := redirection
		if len(c.Assigns) > 0 {
			text = source(c)
		}
		if doubt := cmp.Or(at.doubt, at.unread); doubt != "" || len(at.opens) > 0 {
			a.wordless(text, doubt, at.files)
		}
		return
	}
	n := len(a.line.Commands)
	a.command(words, at)
	if cmd := &a.line.Commands[n]; at.doubt != "" || cmd.form != complete && hasDynamic(words) {
		cmd.Text = strings.TrimSpace(source(c) + at.text)
	}
}

// redirection is the text of a command that is nothing else.
const redirection = "a redirection"

// wordless appends what has no words: assignments, or redirections of nothing or of a compound command.
func (a *analysis) wordless(text, doubt string, f files) {
	c := Command{Text: text, ReadOnly: doubt == "", Why: cmp.Or(doubt, "it only reads"), Doubt: doubt, Wrapped: a.inside}
	c.has(f)
	a.line.Commands = append(a.line.Commands, c)
}

func (cmd *Command) has(f files) {
	cmd.Touches = append(cmd.Touches, f.touches...)
	cmd.Opens = append(cmd.Opens, f.opens...)
	cmd.Changes = append(cmd.Changes, f.changes...)
}

// command judges one simple command and appends it, then those inside it.
func (a *analysis) command(words []word, at around) {
	name, known := program(words[0])
	c := Command{words: words, Text: join(words), Wrapped: a.inside, Wrapper: known && isWrapper(name, words)}
	c.Doubt = cmp.Or(at.doubt, unclear(words, known))
	if c.Wrapper && c.Doubt == "" {
		c.Doubt = name + " runs another command"
	}
	c.ReadOnly, c.Why = a.readOnly(name, c)
	a.name(&c, name, known)
	if !c.ReadOnly {
		a.acts(&c, name, known)
	}
	c.later = a.later(&c, at)
	c.has(at.files)
	c.weigh(at)
	a.line.Commands = append(a.line.Commands, c)
	if name == "cd" {
		a.chdir(words)
	}
	if c.Wrapper {
		a.unwrap(name, words)
	}
}

// unclear says why words don't say which command they are; "" if they do. Variables alone are no doubt: most programs
// only read whatever those say.
func unclear(words []word, known bool) string {
	for _, w := range words {
		if w.dynamic && !w.simple {
			return "its arguments cannot be determined in advance"
		}
	}
	if !known {
		return "its program cannot be determined in advance"
	}
	return ""
}

// acts records what is known of a command that may do more than read: the file that it runs, what a grant for it is
// tied to, the paths that it may change.
func (a *analysis) acts(c *Command, name string, known bool) {
	if known {
		c.Pin, c.Script = a.pinOf(name, c.words), a.script(name, c.words)
	}
	for _, w := range c.words[1:] {
		for _, p := range generous(a.known(w)) {
			c.Touches = append(c.Touches, a.targets(p.word)...)
		}
	}
	if known && name == "git" {
		c.Touches = append(c.Touches, a.configured(c.words[1:])...)
	}
}

// weigh completes a command's judgement by what stands around its words, and finds its form.
func (cmd *Command) weigh(at around) {
	obeys := cmd.Wrapper || interprets(cmd.words[0].text) // what it reads
	why := ""
	switch {
	case at.unread != "":
		cmd.ReadOnly, why = false, at.unread
	case cmd.ReadOnly || cmd.Doubt != "" && !cmd.Wrapper:
	case at.input == written:
		why = "its input is in the line"
	case at.input == piped && isShell(cmd.words[0].text):
		why = "it runs what another command hands it"
	case at.input == piped && obeys:
		why = "its input comes from another command"
	}
	if why != "" {
		cmd.Why, cmd.Doubt = why, why
	}
	switch {
	case at.doubt != "" || at.unread != "" || at.input == written || at.input == piped && obeys:
		cmd.form = accompanied
	case slices.ContainsFunc(cmd.words, func(w word) bool { return w.dynamic }):
		cmd.form = expanded
	default:
		cmd.form = complete
	}
}

// later returns what a command may run that its words don't say: what a shell or xargs reads as input, what
// git is configured for on the command line.
func (a *analysis) later(c *Command, at around) (out [][]word) {
	unknown := word{dynamic: true}
	name, _ := program(c.words[0])
	switch {
	case isShell(name) && at.input != inherited:
		out = append(out, []word{unknown})
	case name == "xargs" || name == "parallel":
		for _, s := range suffixes(c.words) {
			out = append(out, append(s[:len(s):len(s)], unknown))
		}
	}
	if name == "git" {
		out = append(out, a.meant(c.words)...)
	}
	if words := spread(c.words); len(words) > 0 {
		out = append(out, words)
		if name, _ := program(words[0]); name == "git" {
			out = append(out, a.meant(words)...)
		}
	}
	if at.steers || c.Wrapper && name == "git" {
		out = append(out, []word{static("git"), unknown})
	}
	return out
}

// name records the files that a command's words certainly name.
func (a *analysis) name(c *Command, program string, known bool) {
	words := make([]word, len(c.words))
	for i, w := range c.words {
		words[i] = a.known(w)
	}
	var list []named
	row, looks := table(program)
	if looks = looks && known && (row.check == nil || row.check(words) == ""); looks {
		list = a.paths(row, words)
		if words := spread(words); len(words) > 0 {
			list = append(list, a.paths(row, words)...)
		}
	} else {
		for _, w := range spread(words) {
			list = append(list, parts(a.known(w))...)
		}
		for _, w := range words[1:] {
			list = append(list, parts(w)...)
		}
	}
	for _, p := range list {
		if !p.sure {
			continue
		}
		paths := a.targets(p.word)
		c.Opens = append(c.Opens, paths...)
		if !looks {
			c.Changes = append(c.Changes, paths...)
		}
	}
}

// known returns a word with the variables replaced whose values are known before it runs.
func (a *analysis) known(w word) word {
	if !w.simple || !w.dynamic || a.loops != nil {
		return w
	}
	text := w.template
	for _, v := range w.vars {
		value := ""
		switch {
		case v == "HOME":
			value = a.Places.Home()
		case v == "PWD" && len(a.dirs) == 1 && !a.moved:
			value = a.dirs[0]
		}
		if value == "" || w.bare && strings.ContainsAny(value, " \t\n*?[") {
			return w
		}
		text = strings.Replace(text, "\x00"+v+"\x00", value, 1)
	}
	w.text, w.dynamic, w.simple = text, false, false
	return w
}

// program returns the name by which a command's program is known: without its folder if that is one of the
// system's.
func program(w word) (name string, known bool) {
	if w.dynamic || w.glob || w.tilde || w.text == "" {
		return w.text, false
	}
	for _, dir := range []string{"/bin/", "/usr/bin/"} {
		if rest, ok := strings.CutPrefix(w.text, dir); ok && !strings.Contains(rest, "/") && rest != "" {
			return rest, true
		}
	}
	return w.text, true
}

// chdir follows a cd as far as its target is known.
func (a *analysis) chdir(words []word) {
	a.moved = true
	if len(words) != 2 || words[1].dynamic || words[1].glob || words[1].tilde || strings.HasPrefix(words[1].text, "-") {
		a.dirs = append(a.dirs, "") // anywhere
		return
	}
	now := a.dirs
	for _, d := range now {
		if d == "" {
			continue
		}
		// cd removes ".." textually, unless told otherwise.
		for _, next := range []string{a.climb(d, words[1].text), lexical(d, words[1].text)} {
			if !slices.Contains(a.dirs, next) {
				a.dirs = append(a.dirs[:len(a.dirs):len(a.dirs)], next)
			}
		}
	}
	if len(a.dirs) > 8 {
		a.dirs = []string{""}
	}
}

package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call visits a simple command.
func (a *analysis) call(c *syntax.CallExpr, redirs redirected) {
	doubt := redirs.doubt
	add := func(format string, args ...any) {
		if doubt == "" {
			doubt = fmt.Sprintf(format, args...)
		}
	}
	for _, as := range c.Assigns {
		name := ""
		if as.Name != nil {
			name = as.Name.Value
		}
		add("it sets the variable %s", name)
		a.within(as)
	}
	words := make([]word, 0, len(c.Args))
	substituted := false
	for _, w := range c.Args {
		substituted = a.within(w) || substituted
		words = append(words, readWord(w))
	}
	if substituted {
		add("it runs a command inside another (substitution)")
	}
	if len(words) == 0 {
		text := "a redirection"
		if len(c.Assigns) > 0 {
			text = source(c)
		}
		readOnly := doubt == "" && redirs.reads == ""
		if readOnly && len(redirs.opens) == 0 {
			return
		}
		if doubt == "" {
			doubt = redirs.reads
		}
		a.line.Commands = append(a.line.Commands, Command{Text: text, ReadOnly: readOnly, Why: orReads(doubt), Doubt: doubt, Touches: redirs.touches, Opens: redirs.opens, Changes: redirs.changes, Wrapped: a.holds})
		return
	}
	n := len(a.line.Commands)
	a.command(words, doubt)
	cmd := &a.line.Commands[n]
	cmd.later = a.later(cmd, redirs.feeds, c.Assigns)
	cmd.Touches = append(cmd.Touches, redirs.touches...)
	cmd.Opens = append(cmd.Opens, redirs.opens...)
	cmd.Changes = append(cmd.Changes, redirs.changes...)
	switch {
	case redirs.reads != "":
		cmd.ReadOnly, cmd.Why, cmd.Doubt = false, redirs.reads, redirs.reads
	case cmd.ReadOnly || cmd.Doubt != "" && !cmd.Wrapper:
	case redirs.feeds:
		cmd.Doubt = "its input is in the line"
		cmd.Why = cmd.Doubt
	case a.fed && (cmd.Wrapper || interprets(words[0].text)):
		cmd.Doubt = "its input comes from another command"
		cmd.Why = cmd.Doubt
	}
	cmd.exact = cmd.exact && !redirs.feeds && doubt == "" && redirs.reads == "" && !(a.fed && (cmd.Wrapper || interprets(words[0].text)))
	if doubt != "" || !cmd.exact && hasDynamic(words) {
		cmd.Text = strings.TrimSpace(source(c) + redirs.text)
	}
}

// later returns what a command may run that its words don't say: what a shell or xargs reads as input, what
// git is configured for on the command line.
func (a *analysis) later(c *Command, feeds bool, assigns []*syntax.Assign) (out [][]word) {
	unknown := word{dynamic: true}
	name, _ := program(c.words[0])
	switch {
	case isShell(name) && (feeds || a.fed):
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
	steered := c.Wrapper && name == "git"
	for _, as := range assigns {
		steered = steered || as.Name != nil && strings.HasPrefix(as.Name.Value, "GIT_CONFIG")
	}
	if steered {
		out = append(out, []word{static("git"), unknown})
	}
	return out
}

// command judges one simple command and appends it, then those inside it.
func (a *analysis) command(words []word, doubt string) {
	c := Command{words: words, Text: join(words), Doubt: doubt, Wrapped: a.holds, exact: true}
	for _, w := range words {
		c.exact = c.exact && !w.dynamic
		if w.dynamic && !w.simple && c.Doubt == "" {
			c.Doubt = "its arguments cannot be determined in advance"
		}
	}
	name, known := program(words[0])
	if !known && c.Doubt == "" {
		c.Doubt = "its program cannot be determined in advance"
	}
	c.Wrapper = known && isWrapper(name, words)
	if c.Wrapper && c.Doubt == "" {
		c.Doubt = name + " runs another command"
	}
	c.ReadOnly, c.Why = a.readOnly(name, c)
	a.name(&c, name, known)
	if known && !c.ReadOnly {
		c.Pin = a.pinOf(name, words)
		c.Script = a.script(name, words)
	}
	if !c.ReadOnly {
		for _, w := range words[1:] {
			for _, p := range generous(a.known(w)) {
				c.Touches = append(c.Touches, a.targets(p.word)...)
			}
		}
		if known && name == "git" {
			c.Touches = append(c.Touches, a.configured(words[1:])...)
		}
	}
	a.line.Commands = append(a.line.Commands, c)
	if name == "cd" {
		a.chdir(words)
	}
	if c.Wrapper {
		a.unwrap(name, words)
	}
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

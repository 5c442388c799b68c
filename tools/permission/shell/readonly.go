package shell

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/tools/permission/repository"
)

// readOnly judges a command by the table. why is the reason either way.
func (a *analysis) readOnly(name string, c Command) (ok bool, why string) {
	row, known := table(name)
	switch {
	case c.Doubt != "":
		return false, c.Doubt
	case !known:
		return false, "it is not known to only read"
	}
	words := c.words
	for _, w := range words[1:] {
		if w.dynamic && !(row.free && w.simple) {
			return false, "its arguments cannot be determined in advance"
		}
		if w.glob && !row.free && a.becomesFlag(w) {
			return false, "a wildcard may match a name that begins with -"
		}
		if row.evaluates && (w.glob || w.dynamic && a.chosen(w)) {
			return false, "the shell may evaluate one of its words"
		}
	}
	if why := a.misplaced(name, words[0].text); why != "" {
		return false, why
	}
	forms, why := a.forms(words)
	if why != "" {
		return false, why
	}
	for _, words := range forms {
		if row.check == nil {
			break
		}
		if why := row.check(words); why != "" {
			return false, why
		}
	}
	if name == "git" {
		if a.moved || !a.atRoot() {
			return false, "git runs what another folder's repository is configured for"
		}
		found := a.Look(a.disk.real(a.Dir))
		if found.Why != "" {
			return false, found.Why
		}
		a.line.Git, a.line.Beyond = true, found.Beyond
		if tellsAddresses(words[1:]) && keyInRemotes(a.disk.real(a.Dir)) {
			return false, "an address of a remote holds a key"
		}
		if why := a.forbidden(words, found); why != "" {
			return false, why
		}
	}
	for _, words := range forms {
		if why := a.opened(row, words); why != "" {
			return false, why
		}
	}
	return true, "it only reads"
}

// forbidden says why git may print what rules forbid to read: files that it tracks. Those are hidden from it
// in any case.
func (a *analysis) forbidden(words []word, found repository.Finding) string {
	if !a.Ruled || found.Tracked == nil {
		return ""
	}
	for _, path := range found.Tracked() {
		if rule := a.Denied(path); rule != "" {
			a.line.Hidden = append(a.line.Hidden, path)
		}
	}
	tracked := len(a.line.Hidden) > 0
	here, nested, whole := a.deniedHere()
	for _, path := range here {
		if !slices.Contains(a.line.Hidden, path) {
			a.line.Hidden = append(a.line.Hidden, path)
		}
	}
	switch {
	case !gitPrints(words[1:]):
	case !whole:
		return "there are too many files here to check each against the rules that forbid reading"
	case len(here) > 0 && searchesUntracked(words[1:]):
		return "it reads files that git does not track, and " + a.Places.Show(here[0]) + " is covered by the rule " + a.Denied(here[0])
	case nested != "":
		return "it may print " + a.Places.Show(nested) + " of a submodule, which is covered by the rule " + a.Denied(nested)
	case entersSubmodules(words[1:]) && a.hasSubmodules():
		return "it may print files of submodules that rules forbid to read"
	}
	if tracked && gitPrints(words[1:]) {
		return "it may print " + a.Places.Show(a.line.Hidden[0]) + ", which is covered by the rule " + a.Denied(a.line.Hidden[0])
	}
	return ""
}

// opened says why the files that a command would open must not be read unasked.
func (a *analysis) opened(row reads, words []word) string {
	if row.enters {
		defer func(was bool) { a.Ruled = was }(a.Ruled)
		a.Ruled = false
	}
	operand := false
	files := row.files || row.filesWith != "" && hasFlag(words[1:], row.filesWith, "--magic-file")
	for _, p := range a.paths(row, words) {
		if why := a.outside(p.word); why != "" {
			return why
		}
		for _, ending := range row.endings {
			longer := p.word
			longer.text += ending
			if why := a.outside(longer); why != "" && p.text != "" {
				return why
			}
		}
		if files && a.folder(p.word) {
			return "it would go through a whole folder"
		}
		operand = operand || p.operand
	}
	if row.here && !operand {
		return a.outside(static("."))
	}
	return ""
}

// paths returns what may be a path among a command's words.
func (a *analysis) paths(row reads, words []word) []named {
	if !row.free {
		return flagsOf(base(words[0].text), words[1:]).paths(words[1:])
	}
	var out []named
	for i, w := range words[1:] {
		if w.glob || row.names != nil && row.names(words, i+1) {
			if w = a.known(w); w.dynamic && w.simple && a.staysInside(w) {
				continue
			}
			out = append(out, named{word: w, sure: true, operand: true})
		}
	}
	return out
}

// staysInside reports whether a word with unknown variables leads nowhere but where the variables lead: a
// variable alone is the person's own or was judged where the loop sets it, and so is what follows one that a
// loop sets.
func (a *analysis) staysInside(w word) bool {
	if w.text == "" && len(w.vars) == 1 {
		return true
	}
	first := strings.HasPrefix(w.template, "\x00"+w.vars[0]+"\x00")
	return (!first || a.items[w.vars[0]]) && !strings.HasPrefix(w.text, "~") && !strings.Contains(w.text, "..") && (first || !strings.HasPrefix(w.text, "/"))
}

// chosen reports whether a word's value may come from the line itself, from the names of files, or be split
// into several words.
func (a *analysis) chosen(w word) bool {
	for _, v := range w.vars {
		switch {
		case v == "?" || v == "#" || v == "$" || v == "!": // numbers
		case a.loops[v], strings.HasPrefix(v, "BASH"), v == "_", v == "DIRSTACK", strings.Trim(v, "0123456789@*-") == "":
			return true
		case w.bare && (v == "PWD" || v == "OLDPWD"):
			return true
		}
	}
	return false
}

// misplaced says why a program that is named without its folder is not the one that the table knows: the
// search path leads to one that a call may have changed, or to a shim that picks the real one by the contents
// of the folder.
func (a *analysis) misplaced(name, written string) string {
	if strings.Contains(written, "/") || builtin(name) && !a.noShell {
		return ""
	}
	for full := range a.onPath(name) {
		switch filepath.Dir(full) {
		case "/bin", "/usr/bin", "/sbin", "/usr/sbin":
			return ""
		}
		if a.ofWorkspace(full) {
			return "the program " + name + " is the project's own: " + a.Places.Show(full)
		}
		if slices.Contains(strings.Split(filepath.ToSlash(full), "/"), "shims") {
			return "which " + name + " runs depends on files of the project"
		}
	}
	return ""
}

// onPath returns the programs that a name may lead to on the search path: several if that depends on the
// folder in which the command runs.
func (a *analysis) onPath(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			hit := false
			for _, at := range a.dirs {
				full := filepath.Join(dir, name)
				if !filepath.IsAbs(dir) {
					full = filepath.Join(at, dir, name)
				}
				if info, err := a.disk.stat(full); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
					continue
				}
				if hit = true; !yield(full) {
					return
				}
			}
			if hit && filepath.IsAbs(dir) {
				return
			}
		}
	}
}

// ofWorkspace reports whether a program, or its folder, is in the workspace.
func (a *analysis) ofWorkspace(full string) bool {
	return a.Places.Inside(a.disk.real(full)) || a.Places.Inside(a.disk.real(filepath.Dir(full)))
}

// builtin reports whether a command of the table is a shell builtin.
func builtin(name string) bool {
	switch name {
	case ":", "true", "false", "echo", "pwd", "printf", "test", "[", "exit", "break", "continue", "type", "cd", "command":
		return true
	}
	return false
}

// folder reports whether a word names a folder.
func (a *analysis) folder(w word) bool {
	for _, dir := range a.dirs {
		if info, err := a.disk.stat(a.climb(dir, w.text)); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// atRoot reports whether the command runs where jcode was started or in one of the workspace's own folders.
func (a *analysis) atRoot() bool {
	if dir := a.disk.real(a.Dir); dir != "" && dir == a.Places.Start() {
		return true
	}
	for _, r := range a.Places.Roots() {
		if r == a.disk.real(a.Dir) {
			return true
		}
	}
	return false
}

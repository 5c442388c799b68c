package permission

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// checker says why a command with these words changes something or may; "" means that it
// only reads. words[0] is the program.
type checker func(words []word) string

// reads is one row of the table of commands that only read.
type reads struct {
	check checker
	// free programs don't open files named by their arguments: those may be anything.
	free bool
	// pattern programs take a text first that is no path, unless a flag gives it.
	pattern bool
	// here programs read the folder in which they run when they are given no other.
	here bool
	// files programs take files: of two folders diff would follow the links in them.
	files bool
	// enters programs only go to a folder.
	enters bool
	// evaluates programs are of the shell, and may take a word for a flag or a variable
	// whose index is run.
	evaluates bool
}

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
			return false, "its words are not known before it runs"
		}
		if w.glob && !row.free && a.becomesFlag(w) {
			return false, "a wildcard may stand for a name that begins with -"
		}
		if row.evaluates && (w.glob || w.dynamic && a.chosen(w)) {
			return false, "the shell may evaluate one of its words"
		}
	}
	if why := a.misplaced(name, words[0].text); why != "" {
		return false, why
	}
	if row.check != nil {
		if why := row.check(words); why != "" {
			return false, why
		}
	}
	if name == "git" {
		if a.moved || !a.atRoot() {
			return false, "git runs what another folder's repository is configured for"
		}
		if why := repositoryRuns(resolve(a.dir)); why != "" {
			return false, why
		}
	}
	if why := a.opened(row, words); why != "" {
		return false, why
	}
	return true, "it only reads"
}

// opened says why the files that a command would open are not for reading unasked.
func (a *analysis) opened(row reads, words []word) string {
	args := words[1:]
	if row.pattern && !hasFlag(args, "ef", "--regexp", "--file", "--files") {
		for i, w := range args {
			if !strings.HasPrefix(w.text, "-") {
				args = append(args[:i:i], args[i+1:]...)
				break
			}
		}
	}
	if row.enters {
		defer func(was bool) { a.ruled = was }(a.ruled)
		a.ruled = false
	}
	named := false
	for _, w := range args {
		if row.free && !w.glob {
			continue
		}
		if why := a.outside(w); why != "" {
			return why
		}
		if row.files && a.folder(w) {
			return "it would go through a whole folder"
		}
		named = named || !strings.HasPrefix(w.text, "-")
	}
	if row.here && !named {
		return a.outside(static("."))
	}
	return ""
}

// becomesFlag reports whether a wildcard stands for a file whose name begins with a dash.
func (a *analysis) becomesFlag(w word) bool {
	if strings.IndexAny(w.text, "*?[") != 0 {
		return false
	}
	first, _, _ := strings.Cut(w.text, "/")
	for _, dir := range a.dirs {
		hits, ok := matching(dir, first)
		if !ok || slices.ContainsFunc(hits, func(h string) bool { return strings.HasPrefix(filepath.Base(h), "-") }) {
			return true
		}
	}
	return false
}

// chosen reports whether a word's value may come from the line itself, from the names of
// files, or be cut into several words.
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

// misplaced says why a program that is named without its folder is not the one that the
// table knows: the search path leads to one that a call may have changed, or to one that
// takes the real one from what stands in the folder.
func (a *analysis) misplaced(name, written string) string {
	if strings.Contains(written, "/") || builtin(name) && !a.noShell {
		return ""
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, at := range a.dirs {
			full := filepath.Join(dir, name)
			if !filepath.IsAbs(dir) {
				full = filepath.Join(at, dir, name)
			}
			if info, err := os.Stat(full); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
				continue
			}
			switch filepath.Dir(full) {
			case "/bin", "/usr/bin", "/sbin", "/usr/sbin":
				return ""
			}
			if a.places.inside(resolve(full)) || a.places.inside(resolve(filepath.Dir(full))) {
				return "the program " + name + " is the workspace's own: " + a.places.show(full)
			}
			if slices.Contains(strings.Split(filepath.ToSlash(full), "/"), "shims") {
				return "which " + name + " runs depends on files of the workspace"
			}
			if filepath.IsAbs(dir) {
				return ""
			}
		}
	}
	return ""
}

// builtin reports whether shells have a command of the table themselves.
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
		if info, err := os.Stat(climb(dir, w.text)); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// atRoot reports whether the command runs in one of the workspace's own folders.
func (a *analysis) atRoot() bool {
	for _, r := range a.places.roots {
		if r == resolve(a.dir) {
			return true
		}
	}
	return false
}

// hasFlag reports whether words hold one of the letters in a cluster of short flags, or
// one of the long flags, also abbreviated or with a value.
func hasFlag(words []word, letters string, long ...string) bool {
	for _, w := range words {
		// A "--" ends nothing here: it may be the value of the flag before it.
		s := w.text
		if !strings.HasPrefix(s, "-") || s == "-" || s == "--" {
			continue
		}
		if s[1] != '-' {
			if strings.ContainsAny(s[1:], letters) {
				return true
			}
			continue
		}
		name, _, _ := strings.Cut(s, "=")
		for _, l := range long {
			if name == l || len(name) > 2 && strings.HasPrefix(l, name) {
				return true
			}
		}
	}
	return false
}

// without short flags and long flags that write, run or follow.
func no(letters string, long ...string) checker {
	return func(words []word) string {
		if hasFlag(words[1:], letters, long...) {
			return "one of its flags writes, runs something or follows links"
		}
		return ""
	}
}

// operands counts the words that are no flags.
func operands(words []word) (n int) {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w.text, "-") || w.text == "-" {
			n++
		}
	}
	return n
}

// inputLast allows one operand, and nothing after it: some systems take whatever follows,
// a flag included, for the file to write.
func inputLast(words []word) string {
	for i, w := range words[1:] {
		if (!strings.HasPrefix(w.text, "-") || w.text == "-") && i+2 < len(words) {
			return "a further operand would be written"
		}
	}
	return ""
}

// only allows just these arguments.
func only(args ...string) checker {
	return func(words []word) string {
	next:
		for _, w := range words[1:] {
			for _, ok := range args {
				if w.text == ok {
					continue next
				}
			}
			return "not all of its arguments are known to only read"
		}
		return ""
	}
}

// version allows asking a tool for its version and nothing else.
func version(words []word) string {
	if len(words) == 2 {
		switch words[1].text {
		case "--version", "-version", "-V":
			return ""
		}
	}
	return "it runs code"
}

// table gives the row of a program.
func table(name string) (reads, bool) {
	switch name {
	case ":", "true", "false", "echo", "pwd", "yes", "which", "whereis", "basename", "dirname",
		"whoami", "id", "groups", "logname", "tty", "uname", "arch", "nproc", "uptime", "free", "users", "locale", "getconf", "lscpu", "cal":
		return reads{free: true}, true
	case "printf", "test", "[", "seq", "sleep", "expr", "exit", "break", "continue":
		return reads{free: true, check: plainWords, evaluates: true}, true
	case "type":
		return reads{free: true}, true
	case "printenv":
		return reads{free: true}, true
	case "env":
		return reads{free: true, check: only()}, true
	case "ls", "du", "dir", "vdir":
		return reads{here: true, check: no("", "--files0-from")}, true
	case "cat", "head", "tail", "wc", "nl", "tac", "rev", "cut", "paste", "tr", "fold", "fmt", "expand", "unexpand", "column", "comm", "join", "od", "hexdump",
		"realpath", "readlink", "stat", "df", "base32", "zcat", "bzcat", "xzcat", "cmp", "pr", "tsort", "factor":
		return reads{check: no("", "--files0-from")}, true
	case "strings":
		return reads{check: atFile}, true
	case "jq":
		return reads{check: jq}, true
	case "cksum", "sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "md5", "shasum":
		return reads{check: no("c", "--check")}, true // it would read whatever a list names
	case "base64": // BSD's takes an output file
		return reads{check: no("oD", "--output")}, true
	case "file":
		return reads{check: no("Cf", "--compile", "--files-from")}, true // a list may name anything
	case "cd":
		return reads{enters: true, check: goesTo}, true
	case "uniq":
		return reads{check: inputLast}, true
	case "hostname":
		return reads{free: true, check: only("-s", "-I")}, true // the others ask a name server
	case "date":
		return reads{free: true, check: date}, true
	case "ps":
		// The letter e without a dash, or after others, shows environments.
		return reads{free: true, check: only("aux", "ax", "-ef", "-e", "-A", "-a", "-f")}, true
	case "sort":
		return reads{check: no("oT", "--output", "--temporary-directory", "--compress-program", "--files0-from")}, true
	case "diff":
		return reads{files: true, check: no("rl", "--recursive", "--paginate")}, true
	case "tree":
		return reads{here: true, check: no("oRl", "--output")}, true
	case "grep", "egrep", "fgrep":
		return reads{pattern: true, check: no("RSO", "--dereference-recursive"), here: true}, true
	case "rg":
		return reads{pattern: true, here: true, check: no("Lz", "--pre", "--hostname-bin", "--search-zip", "--follow")}, true
	case "find":
		return reads{here: true, check: find}, true
	case "sed":
		return reads{pattern: true, check: sed}, true
	case "git":
		return reads{check: git}, true
	case "node", "deno", "python", "python3", "ruby", "perl", "php", "java", "javac", "gcc", "g++", "clang", "make", "cmake", "gh", "curl", "wget":
		return reads{free: true, check: version}, true
	case "command":
		return reads{free: true, check: commandV}, true
	}
	return reads{}, false
}

// plainWords refuses what a shell may evaluate when a builtin takes it for a variable or a
// number: the index of x[$(…)] is run. -v names a variable.
func plainWords(words []word) string {
	for _, w := range words[1:] {
		if strings.ContainsAny(w.text, "`$") && !w.dynamic {
			return "the shell may evaluate one of its words"
		}
	}
	return no("v")(words)
}

// atFile refuses words that stand for a file with more words in it.
func atFile(words []word) string {
	for _, w := range words[1:] {
		if strings.HasPrefix(w.text, "@") {
			return "it takes its arguments from a file"
		}
	}
	return ""
}

// jq refuses programs that take in other files, which they may look for anywhere.
func jq(words []word) string {
	for _, w := range words[1:] {
		if strings.Contains(w.text, "import") || strings.Contains(w.text, "include") {
			return "it may take in other files"
		}
	}
	return no("fL", "--from-file", "--library-path", "--run-tests")(words)
}

// goesTo takes a cd with just the folder.
func goesTo(words []word) string {
	if operands(words) != 1 || len(words) != 2 || words[1].text == "-" || words[1].glob {
		return "it is not known where it leads"
	}
	return ""
}

func commandV(words []word) string {
	if len(words) == 3 && (words[1].text == "-v" || words[1].text == "-V") {
		return ""
	}
	return "it runs another command"
}

func date(words []word) string {
	for i := 1; i < len(words); i++ {
		s := words[i].text
		switch {
		case strings.HasPrefix(s, "+"), s == "-u", s == "--utc", s == "-R", strings.HasPrefix(s, "-I"), strings.HasPrefix(s, "--iso-8601"),
			strings.HasPrefix(s, "--rfc-"), strings.HasPrefix(s, "--date="):
		case s == "-d" && i+1 < len(words):
			i++
		default:
			return "it may set the clock"
		}
	}
	return ""
}

// findTests are the words of find that only look; all others ask.
func find(words []word) string {
	for _, w := range words[1:] {
		s := w.text
		if !strings.HasPrefix(s, "-") {
			continue
		}
		switch s {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-regextype", "-type", "-maxdepth", "-mindepth", "-size", "-empty",
			"-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-perm", "-user", "-group", "-uid", "-gid", "-not", "-o", "-or", "-a", "-and",
			"-prune", "-print", "-print0", "-printf", "-ls", "-true", "-false", "-P", "-depth", "-mount", "-xdev", "-quit", "-links", "-inum",
			"-executable", "-readable", "-writable", "-nouser", "-nogroup", "-daystart":
		default:
			if len(s) > 1 && (s[1] >= '0' && s[1] <= '9') { // -mtime -7
				continue
			}
			return "not all of its tests are known to only read"
		}
	}
	return ""
}

// sedPrint are the scripts that only print lines: 5p, 1,20p, $p, /word/p.
var sedPrint = regexp.MustCompile(`^(\d+|\$|/[\w .-]+/)(,\s*(\d+|\$|\+\d+|/[\w .-]+/))?p$`)

func sed(words []word) string {
	quiet, script := false, false
	for _, w := range words[1:] {
		s := w.text
		switch {
		case s == "-n" || s == "--quiet" || s == "--silent":
			quiet = true
		case s == "-E" || s == "-r":
		case strings.HasPrefix(s, "-"):
			return "sed can write files and run commands"
		case !script:
			if !sedPrint.MatchString(s) {
				return "sed can write files and run commands"
			}
			script = true
		}
	}
	if !quiet || !script {
		return "sed can write files and run commands"
	}
	return ""
}

package shell

import (
	"strings"

	"jcode/internal/pattern"
)

// checker says why a command with these words changes something or may; "" means that it only reads. words[0]
// is the program.
type checker func(words []word) string

// reads is one row of the table of commands that only read.
type reads struct {
	check checker
	// free programs don't open files named by their arguments, which may be anything.
	free bool
	// names reports whether a word of a free program nevertheless names a file.
	names func(words []word, i int) bool
	// here programs read the folder in which they run when no other is given.
	here bool
	// files programs take files: given two folders, diff would follow the links in them.
	files bool
	// filesWith are flags that make a program recurse into a folder.
	filesWith string
	// endings are suffixes that a program appends to a file name that it does not find.
	endings []string
	// enters programs only change the folder.
	enters bool
	// evaluates programs belong to the shell, and may take a word for a flag or for a variable whose index is
	// run.
	evaluates bool
}

// hasFlag reports whether words contain one of the letters in a cluster of short flags, or one of the long
// flags, also abbreviated or with a value.
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

// no refuses the given short and long flags: those that write, run or follow.
func no(letters string, long ...string) checker {
	return func(words []word) string {
		if hasFlag(words[1:], letters, long...) {
			return "one of its flags writes, runs something or follows links"
		}
		return ""
	}
}

// operands counts the words that are not flags.
func operands(words []word) (n int) {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w.text, "-") || w.text == "-" {
			n++
		}
	}
	return n
}

// inputLast allows one operand, and nothing after it: some systems take whatever follows, even a flag, for
// the output file.
func inputLast(words []word) string {
	for i, w := range words[1:] {
		if (!strings.HasPrefix(w.text, "-") || w.text == "-") && i+2 < len(words) {
			return "a further operand would be written"
		}
	}
	return ""
}

// only allows exactly these arguments.
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

// version allows asking a tool for its version and nothing else; does is what else the tool is there for.
func version(does string) checker {
	return func(words []word) string {
		if len(words) == 2 {
			switch words[1].text {
			case "--version", "-version", "-V":
				return ""
			}
		}
		return does
	}
}

// table returns the row of a program.
func table(name string) (reads, bool) {
	switch name {
	case ":", "true", "false", "echo", "pwd", "yes", "basename", "dirname", "tr",
		"whoami", "id", "groups", "logname", "tty", "uname", "arch", "nproc", "free", "locale", "cal":
		return reads{free: true}, true
	case "which", "type", "getconf":
		return reads{free: true, names: withSlash}, true
	case "whereis":
		return reads{free: true, check: no("BMSf"), names: withSlash}, true
	case "lscpu":
		return reads{free: true, check: no("s", "--sysroot")}, true
	case "uptime", "users": // they take a file
		return reads{}, true
	case "test", "[":
		return reads{free: true, check: plainWords, evaluates: true, names: tested}, true
	case "printf", "seq", "sleep", "expr", "exit", "break", "continue":
		return reads{free: true, check: plainWords, evaluates: true}, true
	case "printenv":
		return reads{free: true}, true
	case "env":
		return reads{free: true, check: only()}, true
	case "ls", "du", "dir", "vdir":
		return reads{here: true, check: no("L", "--files0-from", "--dereference")}, true
	case "cat", "head", "tail", "wc", "nl", "tac", "rev", "cut", "paste", "fold", "fmt", "expand", "unexpand", "column", "comm", "join", "od", "hexdump",
		"realpath", "readlink", "stat", "df", "base32", "cmp", "pr", "tsort", "factor":
		return reads{check: no("", "--files0-from")}, true
	case "zcat", "bzcat", "xzcat":
		// They would recurse into folders, read the files that a list names, or accept any ending.
		return reads{check: no("rS", "--recursive", "--files", "--files0", "--suffix"), endings: []string{".gz", ".z", "-z", ".Z", ".bz2", ".xz"}}, true
	case "strings":
		return reads{check: atFile}, true
	case "jq":
		return reads{check: jq}, true
	case "cksum", "sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "md5", "shasum":
		return reads{check: no("c", "--check")}, true // it would read whatever a list names
	case "base64": // BSD's takes an output file
		return reads{check: no("oD", "--output")}, true
	case "file":
		return reads{check: no("Cfp", "--compile", "--files-from", "--preserve-date"), filesWith: "m", endings: []string{".mgc"}}, true // a list may name anything
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
		return reads{here: true, check: no("oRl", "--output", "--info", "--gitfile", "--infofile")}, true // it would print files and follow links
	case "grep", "egrep", "fgrep":
		return reads{check: no("RSO", "--dereference-recursive"), here: true}, true
	case "rg":
		return reads{here: true, check: no("Lz", "--pre", "--hostname-bin", "--search-zip", "--follow")}, true
	case "find":
		return reads{here: true, check: find}, true
	case "sed":
		return reads{check: sed}, true
	case "awk", "gawk", "mawk":
		return reads{check: awk}, true
	case "git":
		return reads{check: git}, true
	case "node", "deno", "python", "python3", "ruby", "perl", "php", "java", "make", "cmake":
		return reads{free: true, check: version("it runs code")}, true
	case "javac", "gcc", "g++", "clang":
		return reads{free: true, check: version("it writes what it compiles")}, true
	case "gh", "curl", "wget":
		return reads{free: true, check: version("it uses the network")}, true
	case "command":
		return reads{free: true, check: commandV, names: withSlash}, true
	}
	return reads{}, false
}

// plainWords refuses what a shell may evaluate when a builtin takes it for a variable or a number: the index
// of x[$(…)] is run. -v names a variable.
func plainWords(words []word) string {
	for _, w := range words[1:] {
		if strings.ContainsAny(w.text, "`$") && !w.dynamic {
			return "the shell may evaluate one of its words"
		}
	}
	return no("v")(words)
}

// withSlash finds words that are used as paths, not looked up on the search path.
func withSlash(words []word, i int) bool {
	return strings.Contains(words[i].text, "/") || words[i].tilde
}

// tested finds the words of a test that name the files it checks.
func tested(words []word, i int) bool {
	switch words[i-1].text {
	case "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-G", "-h", "-k", "-L", "-N", "-O", "-p", "-r", "-s", "-S", "-u", "-w", "-x", "-nt", "-ot", "-ef":
		return true
	}
	if i+1 < len(words) {
		switch words[i+1].text {
		case "-nt", "-ot", "-ef":
			return true
		}
	}
	return false
}

// atFile refuses words that name a file with more words in it.
func atFile(words []word) string {
	for _, w := range words[1:] {
		if strings.HasPrefix(w.text, "@") {
			return "it takes its arguments from a file"
		}
	}
	return ""
}

// jqTakes finds the directives with which a jq program loads another file, and the filter that reads what one
// contains.
var jqTakes = pattern.Lazy(`(^|[;\s])(import|include)([\s"#]|$)|modulemeta`)

// jq refuses programs that load other files, which they may look for anywhere.
func jq(words []word) string {
	for _, w := range words[1:] {
		if jqTakes().MatchString(w.text) {
			return "it may take in other files"
		}
	}
	return no("fL", "--from-file", "--library-path", "--run-tests")(words)
}

// goesTo accepts a cd with just the folder.
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

// find accepts tests that only look; everything else asks.
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

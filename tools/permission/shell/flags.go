package shell

import (
	"os"
	"slices"
	"strings"

	"jcode/internal/system"
)

// flags is what is known about a program's flags: enough to tell words that are plain text, by which the
// program opens no file, from all others. An unknown word is treated as a path.
type flags struct {
	// plain are short flags without a value, text those whose value is not a file, glued those whose optional
	// value is not a file and is part of the same word. All mean the same on all systems.
	plain, text, glued string
	// longPlain, longText and longFile are long flags, written in full: without a value or with one after "="
	// only, with a value that is not a file, and with a value that is. The values of the last two may be words
	// of their own.
	longPlain, longText, longFile []string
	// counts is set when letters after a number are units (head -5c), not flags.
	counts bool
	// permutes is set when the program itself accepts flags after operands. Others leave that to getopt, which
	// does so only on some systems.
	permutes bool
	// pattern is set when the first operand is a text, unless one of the flags in gives (short) or givesLong
	// supplies it.
	pattern   bool
	gives     string
	givesLong []string
	// exact programs have flags that are whole words and are checked one by one.
	exact bool
}

// named is a word, or a part of one, that may be a path.
type named struct {
	word
	// sure parts are certain; others are a guess about what follows a flag.
	sure bool
	// operand words are certainly what the program was told to process.
	operand bool
}

// paths returns what may be a path among the words after the program.
func (s flags) paths(args []word) []named {
	r := flagReader{flags: s, args: args, given: !s.pattern, known: true, permuted: s.permutes || getoptPermutes()}
	operands := false // "--" was read: no flags follow
	for ; r.i < len(args); r.i++ {
		switch w := args[r.i]; {
		case operands && !s.exact:
			r.operand(w)
		case w.text == "--" && !w.dynamic:
			operands = true
		case w.text == "-" && !w.dynamic:
		case s.exact && strings.HasPrefix(w.text, "-"):
		case strings.HasPrefix(w.text, "--"):
			r.long(w)
		case strings.HasPrefix(w.text, "-"):
			r.short(w)
		default:
			r.operand(w)
		}
	}
	return r.out
}

// flagReader reads the words of a command.
type flagReader struct {
	flags
	args []word
	i    int
	out  []named

	given bool // the text to search for was given
	// taken is the operand that was taken for the text. A later flag may supply the text instead, and then the
	// operand is a file.
	taken *word
	known bool // all flags so far were known
	// unclear says that an unknown flag may have supplied the text.
	unclear bool
	// permuted says that flags after operands are flags; begun that an operand was read.
	permuted, begun bool
	// unsure counts the operands that may be the text, or the value of an unknown flag: they are checked, but it
	// is not certain that the program processes them.
	unsure int
}

func (r *flagReader) doubt() {
	r.known, r.unsure = false, r.unsure+1
	r.reconsider(false)
}

// give records that a flag supplies the text to search for.
func (r *flagReader) give() {
	r.given = true
	r.reconsider(true)
}

// mayGive records that a flag may supply the text: as an abbreviation, or on another system.
func (r *flagReader) mayGive() {
	r.unclear = true
	r.reconsider(false)
}

// maybe checks a word that may be a path, but is not certainly a file.
func (r *flagReader) maybe(w word) {
	for _, p := range parts(w) {
		r.out = append(r.out, named{word: p.word})
	}
}

// reconsider checks the operand that was taken for the text as a file.
func (r *flagReader) reconsider(sure bool) {
	if r.taken == nil {
		return
	}
	for _, p := range operandParts(*r.taken) {
		r.out = append(r.out, named{word: p.word, sure: p.sure && sure, operand: p.operand && sure})
	}
	if sure {
		r.taken = nil
	}
}

// value skips the next word if it is certainly one word, and returns it. After an unknown flag this flag may
// itself be a value, and the word an operand; after an operand both may be operands.
func (r *flagReader) value() (w word, ok bool) {
	if r.i+1 < len(r.args) {
		if w = r.args[r.i+1]; !w.glob && (!w.dynamic || w.simple && !w.bare) {
			r.i++
			if !r.known || r.begun && !r.permuted {
				r.maybe(w)
			}
			return w, true
		}
	}
	r.doubt()
	return w, false
}

// file treats the next word as a file.
func (r *flagReader) file() {
	if w, ok := r.value(); ok {
		r.out = append(r.out, parts(w)...)
	}
}

func (r *flagReader) long(w word) {
	name, _, has := strings.Cut(w.text[2:], "=")
	gives := slices.Contains(r.givesLong, name)
	if gives {
		r.give()
	}
	switch {
	case slices.Contains(r.longText, name):
		if !has {
			r.value()
		}
		return
	case slices.Contains(r.longFile, name):
		if !has {
			r.file()
		}
	case gives, slices.Contains(r.longPlain, name):
	case has:
		r.mayGive()
	default:
		r.doubt()
	}
	r.out = append(r.out, parts(w)...)
}

func (r *flagReader) short(w word) {
	rest := w.text[1:]
	if rest == "" { // "-$N": the flags are not known
		r.doubt()
		return
	}
	if r.counts && strings.IndexByte(digits, rest[0]) >= 0 {
		if strings.Trim(rest, digits) != "" {
			r.doubt()
			r.out = append(r.out, clusters(w, rest)...)
		}
		return
	}
	if rest = strings.TrimLeft(rest, r.plain); rest == "" || strings.IndexByte(r.glued, rest[0]) >= 0 {
		return
	}
	gives := strings.IndexByte(r.gives, rest[0]) >= 0
	if gives {
		r.give()
	}
	switch text := strings.IndexByte(r.text, rest[0]) >= 0; {
	case text && len(rest) == 1:
		r.value()
		return
	case text:
		return
	case gives && len(rest) == 1:
		r.file()
	case !gives:
		r.doubt()
	}
	r.out = append(r.out, clusters(w, rest)...)
}

func (r *flagReader) operand(w word) {
	r.begun = true
	if w.several {
		r.maybe(w) // another one of them may be here
	}
	switch {
	case !r.given && r.known && !r.unclear:
		r.given, r.taken = true, &w
	case r.pattern && (!r.given || r.unsure > 0):
		if r.unsure > 0 {
			r.unsure--
		} else {
			r.given = true
		}
		r.maybe(w)
	case r.unsure > 0: // it may be the value of the unknown flag
		r.unsure--
		r.out = append(r.out, parts(w)...)
	default:
		r.out = append(r.out, operandParts(w)...)
	}
}

// operandParts is parts for a word that the program processes.
func operandParts(w word) []named {
	out := parts(w)
	out[0].operand = true
	return out
}

// clusters returns what may follow a short flag in its own word: any prefix of letters and digits may be more
// flags, and the remainder a value.
func clusters(w word, rest string) (out []named) {
	for i := range len(rest) {
		part := w
		part.text = rest[i:]
		out = append(out, named{word: part})
		for _, p := range parts(part)[1:] {
			out = append(out, named{word: p.word})
		}
		if strings.IndexByte(wordBytes, rest[i]) < 0 {
			break
		}
	}
	return out
}

// parts returns a word and what may be a path in it: after "=", around ":" and after "@".
func parts(w word) []named {
	out := []named{{word: w, sure: true}}
	add := func(text string, tilde bool) {
		if text != "" && len(out) < maxParts {
			part := w
			part.text, part.tilde = text, tilde
			out = append(out, named{word: part, sure: !strings.HasPrefix(w.text, "-") || len(out) == 1})
		}
	}
	for i := range len(w.text) {
		rest := w.text[i+1:]
		switch w.text[i] {
		case '=':
			add(rest, strings.HasPrefix(rest, "~"))
		case ':':
			add(rest, strings.HasPrefix(rest, "~")) // some shells expand the home folder there, too
			add(w.text[:i], w.tilde)
		case '@':
			if i == 0 {
				add(rest, false)
			}
		default:
			continue
		}
		if end := strings.IndexByte(rest, ':'); end > 0 { // a list of files
			add(rest[:end], strings.HasPrefix(rest, "~"))
		}
	}
	return out
}

// generous returns everything that may be a path in a word of an unknown program.
func generous(w word) []named {
	if len(w.text) > 2 && w.text[0] == '-' && w.text[1] != '-' {
		return append(parts(w), clusters(w, w.text[1:])...)
	}
	return parts(w)
}

const digits = "0123456789"

// getoptPermutes reports whether the system's programs accept flags after operands: those of Linux do, unless
// they are told to be as strict as POSIX.
func getoptPermutes() bool {
	_, strict := os.LookupEnv("POSIXLY_CORRECT")
	return system.GNUTools() && !strict
}

// maxParts bounds the parts of one word; a word with more is not vouched for.
const maxParts = 64

// flagsOf returns what is known about a program's flags.
func flagsOf(name string, args []word) flags {
	switch name {
	case "grep", "egrep", "fgrep":
		f := flags{
			pattern: true, gives: "ef", givesLong: []string{"regexp", "file"}, plain: "EFGPivwxyhHnrsqlLcobaUzZT0123456789", text: "eABCm",
			longFile:  []string{"file", "exclude-from"},
			longText:  []string{"regexp", "max-count", "after-context", "before-context", "label", "include", "exclude", "exclude-dir", "binary-files", "devices", "directories"},
			longPlain: []string{"ignore-case", "no-ignore-case", "invert-match", "word-regexp", "line-regexp", "count", "color", "colour", "files-without-match", "files-with-matches", "only-matching", "quiet", "silent", "no-messages", "byte-offset", "with-filename", "no-filename", "line-number", "initial-tab", "null", "null-data", "text", "recursive", "extended-regexp", "fixed-strings", "basic-regexp", "perl-regexp", "line-buffered", "binary", "version", "help"},
		}
		if system.GNUTools() { // BSD's takes the number after "=" only
			f.longText = append(f.longText, "context")
		}
		return f
	case "rg":
		return flags{
			permutes: true, pattern: true, gives: "ef", givesLong: []string{"regexp", "file", "files", "type-list"}, longFile: []string{"file", "ignore-file"}, plain: "abcFhHiIlnNopPqsSuUvVwx0.", text: "eABCEgjmMrtTd",
			longText:  []string{"regexp", "glob", "iglob", "max-count", "max-columns", "max-depth", "after-context", "before-context", "context", "threads", "replace", "type", "type-not", "type-add", "type-clear", "encoding", "sort", "sortr", "color", "colors", "engine", "dfa-size-limit", "regex-size-limit", "max-filesize", "context-separator", "field-context-separator", "field-match-separator", "path-separator"},
			longPlain: []string{"hidden", "no-ignore", "no-ignore-vcs", "no-ignore-parent", "no-ignore-global", "no-ignore-dot", "no-ignore-files", "ignore-case", "smart-case", "case-sensitive", "fixed-strings", "files-with-matches", "files-without-match", "count", "count-matches", "line-number", "no-line-number", "no-heading", "heading", "with-filename", "no-filename", "only-matching", "invert-match", "word-regexp", "line-regexp", "multiline", "multiline-dotall", "pcre2", "text", "trim", "vimgrep", "json", "stats", "unrestricted", "no-messages", "quiet", "column", "byte-offset", "null", "null-data", "pretty", "one-file-system", "passthru", "crlf", "debug", "trace", "no-config", "block-buffered", "line-buffered", "glob-case-insensitive", "include-zero", "max-columns-preview", "no-unicode", "binary", "version", "help", "stop-on-nonmatch"},
		}
	case "sed":
		return flags{pattern: true, plain: "nErsuz", longPlain: []string{"quiet", "silent"}}
	case "awk", "gawk", "mawk":
		return flags{pattern: true, permutes: true, text: "F"}
	case "find":
		return flags{exact: true}
	case "sort":
		return flags{plain: "bdfghiMnRrVcCmsuz", text: "ktS", longText: []string{"key", "field-separator", "buffer-size", "parallel", "batch-size"}}
	case "cut":
		return flags{plain: "ns", text: "bcdf", longText: []string{"bytes", "characters", "delimiter", "fields", "output-delimiter"}}
	case "head", "tail":
		return flags{counts: true, plain: "qvzfFr", text: "nc", longText: []string{"lines", "bytes"}}
	case "wc":
		return flags{plain: "clmLw"}
	case "uniq":
		return flags{plain: "cdDiuz", text: "fs", longText: []string{"skip-fields", "skip-chars", "check-chars"}}
	case "ls":
		return flags{
			plain: "aAbcdfFghHiklmnopqQrRsStuUvxXZ1", longText: []string{"ignore", "hide", "width", "tabsize", "quoting-style", "indicator-style", "block-size", "time-style", "format", "sort", "time"},
			longPlain: []string{"all", "almost-all", "author", "escape", "ignore-backups", "color", "colour", "directory", "dired", "classify", "file-type", "full-time", "group-directories-first", "no-group", "human-readable", "si", "hyperlink", "inode", "kibibytes", "numeric-uid-gid", "literal", "quote-name", "reverse", "recursive", "size", "zero", "context", "show-control-chars", "hide-control-chars"},
		}
	case "du":
		return flags{
			plain: "abchHklmsSx0", text: "d", longText: []string{"exclude", "max-depth", "threshold", "block-size", "time-style"},
			longPlain: []string{"all", "apparent-size", "bytes", "total", "human-readable", "summarize", "null", "count-links", "one-file-system", "separate-dirs", "si", "inodes", "time"},
		}
	case "tree":
		return flags{permutes: true, plain: "adfxpsughDFnCACqNQrtUvXJ", text: "LPI", longPlain: []string{"dirsfirst", "filesfirst", "gitignore", "noreport", "prune", "matchdirs", "ignore-case", "du", "si", "inodes", "device", "nolinks", "metafirst", "help", "version"}}
	case "od":
		return flags{plain: "abcdfilosxv", text: "AjNt"}
	case "diff":
		return flags{plain: "abBcdeEinNpqsTtuwyZ", text: "UC"}
	case "stat":
		return flags{plain: "Lfnqrsx", longText: []string{"format", "printf"}}
	case "git":
		return gitFlags(args)
	}
	return flags{}
}

// gitFlags knows the subcommands that search for a text.
func gitFlags(args []word) flags {
	args = skipGlobal(args)
	if len(args) == 0 {
		return flags{}
	}
	switch args[0].text {
	case "log", "show", "diff", "whatchanged", "rev-list":
		return flags{permutes: true, plain: "pusztwbacmrR", text: "SGnl", glued: "UMBC", longText: []string{"grep", "author", "committer", "since", "until", "after", "before", "max-count", "skip", "diff-filter", "diff-algorithm", "decorate-refs", "decorate-refs-exclude", "word-diff-regex", "ws-error-highlight"}}
	case "for-each-ref", "branch", "tag":
		return flags{permutes: true, longText: []string{"format", "sort", "count"}}
	}
	return flags{permutes: true}
}

package skills

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/internal/paths"
	"jcode/internal/text"
)

// piece is one part of a template: literal text, or a placeholder. Inserted text is never
// expanded again.
type piece struct {
	kind pieceKind
	text string // literal text, the shell line, or the path; both may contain arguments
	raw  string // for file: as it is written, behind the @
	n    int    // for word
}

type pieceKind int

const (
	literal   pieceKind = iota
	arguments           // $ARGUMENTS
	word                // $1, $2, …
	shell               // !`line`
	file                // @path
)

// template is the parsed body of a command file.
type template []piece

// parseTemplate parses a command's body. `\$` and `\@` are the bare characters.
func parseTemplate(body string) template {
	var t template
	start := 0
	add := func(end int, p piece, next int) {
		if start < end {
			t = append(t, piece{text: body[start:end]})
		}
		t = append(t, p)
		start = next
	}
	for i := 0; i < len(body); {
		rest := body[i:]
		switch {
		case body[i] == '\\' && len(rest) > 1 && (rest[1] == '$' || rest[1] == '@'):
			add(i, piece{text: rest[1:2]}, i+2)
			i += 2
			continue
		case body[i] == '$':
			if p, n := parameter(rest); n > 0 {
				add(i, p, i+n)
				i += n
				continue
			}
		case strings.HasPrefix(rest, "!`"):
			if end := strings.IndexByte(rest[2:], '`'); end > 0 && !strings.Contains(rest[2:2+end], "\n") {
				add(i, piece{kind: shell, text: rest[2 : 2+end]}, i+end+3)
				i += end + 3
				continue
			}
		case body[i] == '@' && startsWord(body[:i]):
			if path, n := mentioned(rest[1:]); n > 0 {
				add(i, piece{kind: file, text: path, raw: rest[1 : 1+n]}, i+1+n)
				i += 1 + n
				continue
			}
		}
		i++
	}
	if start < len(body) {
		t = append(t, piece{text: body[start:]})
	}
	return t
}

// parameter parses $ARGUMENTS or $N at the start of s. n is its length, 0 if it is neither.
func parameter(s string) (p piece, n int) {
	const all = "$ARGUMENTS"
	if strings.HasPrefix(s, all) && (len(s) == len(all) || !isWordByte(s[len(all)])) {
		return piece{kind: arguments}, len(all)
	}
	n = 1
	for n < len(s) && n < 4 && '0' <= s[n] && s[n] <= '9' {
		p.n = 10*p.n + int(s[n]-'0')
		n++
	}
	if p.n == 0 || s[1] == '0' {
		return piece{}, 0
	}
	p.kind = word
	return p, n
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// startsWord reports whether a word may begin after before. The @ of an e-mail address starts
// none.
func startsWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || unicode.IsSpace(r) || strings.ContainsRune("([{\"'<:", r)
}

// mentioned returns the path behind an @ at the start of s, and the length of what is written. A path contains a
// letter, a digit or a parameter.
func mentioned(s string) (path string, n int) {
	path, n = paths.Mention(s, "()[]{}\"'`<>,;|")
	if !strings.ContainsFunc(path, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return "", 0
	}
	return path, n
}

// uses reports whether the template inserts arguments anywhere.
func (t template) uses() bool {
	for _, p := range t {
		if p.kind == arguments || p.kind == word {
			return true
		}
		if (p.kind == shell || p.kind == file) && parseParameters(p.text).uses() {
			return true
		}
	}
	return false
}

// shellLines returns the command lines as they are written.
func (t template) shellLines() []string {
	var out []string
	for _, p := range t {
		if p.kind == shell {
			out = append(out, p.text)
		}
	}
	return out
}

// parseParameters parses a text in which only parameters are special.
func parseParameters(s string) template {
	var t template
	for s != "" {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			break
		}
		if p, n := parameter(s[i:]); n > 0 {
			t = append(t, piece{text: s[:i]}, p)
			s = s[i+n:]
			continue
		}
		t = append(t, piece{text: s[:i+1]})
		s = s[i+1:]
	}
	return append(t, piece{text: s})
}

// given holds a command's arguments.
type given struct {
	all   string
	words []string
}

func parseArguments(args string) given {
	args = strings.TrimSpace(args)
	return given{all: args, words: splitWords(args)}
}

func (g given) word(n int) string {
	if n > len(g.words) {
		return ""
	}
	return g.words[n-1]
}

// splitWords splits arguments at spaces; quotes keep a word together.
func splitWords(s string) []string {
	var words []string
	var b strings.Builder
	var quote rune
	open := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case (r == '"' || r == '\'') && !open: // an apostrophe inside a word is just that
			quote, open = r, true
		case unicode.IsSpace(r):
			if open {
				words = append(words, b.String())
				b.Reset()
				open = false
			}
		default:
			open = true
			b.WriteRune(r)
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}

// plain inserts arguments unchanged.
func (t template) plain(g given) string {
	var b strings.Builder
	for _, p := range t {
		switch p.kind {
		case arguments:
			b.WriteString(g.all)
		case word:
			b.WriteString(g.word(p.n))
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// The limits of what one command inserts.
const (
	maxShellOutput = 16 << 10
	maxFileText    = 48 << 10
	maxInserts     = 20
)

// expand fills in the template: it runs commands and reads files, in order.
func (t template) expand(ctx context.Context, host Host, g given, rules []string) (string, error) {
	var b, files strings.Builder
	inserts := 0
	insert := func() error { // text that only looks like a mention inserts nothing
		if inserts++; inserts > maxInserts {
			return fmt.Errorf("the command contains more than %d files and shell lines", maxInserts)
		}
		return nil
	}
	for _, p := range t {
		switch p.kind {
		case literal:
			b.WriteString(p.text)
		case arguments:
			b.WriteString(g.all)
		case word:
			b.WriteString(g.word(p.n))
		case shell:
			if err := insert(); err != nil {
				return "", err
			}
			line, err := shellText(p.text, g)
			if err != nil {
				return "", err
			}
			out, err := host.Shell(ctx, ShellLine{Text: line, Allow: rules, Approved: line == p.text})
			if err != nil {
				return "", fmt.Errorf("run `%s`: %w", text.Visible(line), err)
			}
			b.WriteString(bounded(text.Clean(out), maxShellOutput))
		case file:
			path := parseParameters(p.text).plain(g)
			if path == "" {
				continue
			}
			if !namesFile(p.text, path) && !host.HasFile(path) {
				b.WriteString("@" + parseParameters(p.raw).plain(g)) // text, such as a decorator or the name of a package
				continue
			}
			if err := insert(); err != nil {
				return "", err
			}
			b.WriteString(path)
			body, err := host.ReadFile(ctx, path)
			if err != nil {
				return "", fmt.Errorf("put in @%s: %w", path, err)
			}
			fmt.Fprintf(&files, "\n\n<file path=%q>\n%s\n</file>", filepath.ToSlash(path), bounded(body, maxFileText))
		}
	}
	return b.String() + files.String(), nil
}

// namesFile reports whether what follows an @ can only be meant as a file: an explicit path, or one with an
// argument in it. `@$1="$2"` is code.
func namesFile(written, path string) bool {
	if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") {
		return true
	}
	return parseParameters(written).uses() && !strings.ContainsAny(written, "=<>(){}[]|;:,*?!^")
}

// bounded returns the head and the tail of a text of more than n bytes.
func bounded(s string, n int) string {
	s, _ = text.HeadTail(strings.TrimRight(s, "\n"), n, func(left, _ int) string {
		return fmt.Sprintf("\n[… %d bytes left out …]\n", left)
	})
	return s
}

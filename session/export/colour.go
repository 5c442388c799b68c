package export

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A small colouring of code: comments, strings, numbers, keywords and called names, by the
// language's family. It never changes a byte of the text.

// language is what the colouring knows of one.
type language struct {
	line     []string    // what begins a comment to the end of the line
	block    [][2]string // what begins and ends a comment
	quotes   string      // what begins a string that ends on its line
	long     []string    // what begins and ends a string over lines
	keywords string      // separated by spaces
	folds    bool        // keywords in any case
}

const (
	cLike  = "break case continue default do else enum for goto if return static struct switch while const void int char float double long short unsigned signed sizeof typedef union extern"
	ooLike = cLike + " abstract boolean bool byte catch class extends final finally implements import instanceof interface new null package private protected public super this throw throws try true false var string override virtual namespace using template auto nullptr let in is as"
)

// families returns the languages by their names in a code fence.
func families(name string) (language, bool) {
	slashes := language{line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}
	hashes := language{line: []string{"#"}, quotes: `"'`}
	with := func(l language, keywords string, long ...string) (language, bool) {
		l.keywords, l.long = keywords, long
		return l, true
	}
	switch strings.ToLower(name) {
	case "go", "golang":
		return with(slashes, "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota any error string int int64 byte rune bool float64 uint", "`")
	case "js", "javascript", "jsx", "ts", "typescript", "tsx", "mjs":
		return with(slashes, "async await break case catch class const continue debugger default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private protected public readonly return static super switch this throw true try type typeof undefined var void while yield string number boolean any", "`")
	case "c", "h":
		return with(slashes, cLike+" #include #define #if #ifdef #ifndef #endif NULL inline volatile bool true false")
	case "cpp", "c++", "cc", "hpp", "java", "cs", "csharp", "kotlin", "kt", "scala", "swift", "dart", "php":
		return with(slashes, ooLike+" func fun val def object trait guard self nil override lateinit when echo function foreach", `"""`)
	case "rust", "rs":
		l := slashes
		l.quotes = `"` // an apostrophe is a lifetime too
		return with(l, "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while String Vec Option Result Some None Ok Err u8 u32 u64 i32 i64 usize bool str")
	case "py", "python", "python3":
		return with(hashes, "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield self match case", `"""`, "'''")
	case "rb", "ruby":
		return with(hashes, "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require attr_accessor")
	case "sh", "bash", "zsh", "shell", "console", "fish", "make", "makefile", "dockerfile":
		return with(hashes, "if then else elif fi case esac for while until do done in function return local export set unset exit source alias cd echo FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR ARG")
	case "lua":
		return with(language{line: []string{"--"}, block: [][2]string{{"--[[", "]]"}}, quotes: `"'`}, "and break do else elseif end false for function goto if in local nil not or repeat return then true until while", "[[")
	case "sql", "sqlite", "postgresql", "mysql":
		l, _ := with(language{line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`}, "add all alter and as asc begin between by case check commit constraint create cross delete desc distinct drop else end exists foreign from full group having if in index inner insert integer into is join key left like limit not null on or order outer primary real references right rollback select set table text then transaction union unique update using values view when where with")
		l.folds = true
		return l, true
	case "json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "properties":
		l := hashes
		if strings.HasPrefix(strings.ToLower(name), "json") {
			l = slashes
		}
		return with(l, "true false null yes no on off")
	case "html", "xml", "svg", "vue":
		return with(language{block: [][2]string{{"<!--", "-->"}}, quotes: `"`}, "DOCTYPE html head body div span script style")
	case "css", "scss", "less":
		return with(slashes, "important media import supports keyframes from to")
	}
	return language{}, false
}

// colour writes source as HTML, coloured where the language is known.
func colour(b *strings.Builder, name, source string) {
	if n := strings.ToLower(name); n == "diff" || n == "patch" {
		colourDiff(b, source)
		return
	}
	l, ok := families(name)
	if !ok {
		b.WriteString(html.EscapeString(source))
		return
	}
	words := map[string]bool{}
	for w := range strings.FieldsSeq(l.keywords) {
		words[w] = true
	}
	for len(source) > 0 {
		n, class := l.token(source, words)
		paint(b, class, source[:n])
		source = source[n:]
	}
}

func paint(b *strings.Builder, class, s string) {
	if class == "" {
		b.WriteString(html.EscapeString(s))
		return
	}
	b.WriteString(`<span class="` + class + `">` + html.EscapeString(s) + "</span>")
}

// token returns the length of the piece that source begins with, at least 1, and its class.
func (l language) token(source string, words map[string]bool) (n int, class string) {
	for _, c := range l.block {
		if strings.HasPrefix(source, c[0]) {
			return through(source, len(c[0]), c[1]), "c"
		}
	}
	for _, c := range l.line {
		if strings.HasPrefix(source, c) {
			if i := strings.IndexByte(source, '\n'); i >= 0 {
				return i, "c"
			}
			return len(source), "c"
		}
	}
	for _, q := range l.long {
		if strings.HasPrefix(source, q) {
			return through(source, len(q), strings.ReplaceAll(q, "[", "]")), "s"
		}
	}
	if strings.IndexByte(l.quotes, source[0]) >= 0 {
		return quoted(source), "s"
	}
	r, size := utf8.DecodeRuneInString(source)
	if unicode.IsDigit(r) {
		return span(source, func(r rune) bool { return wordRune(r) || r == '.' }), "n"
	}
	if !wordRune(r) && r != '#' && r != '@' {
		return size, ""
	}
	n = size + span(source[size:], wordRune)
	word := source[:n]
	switch {
	case words[word] || l.folds && words[strings.ToLower(word)]:
		return n, "k"
	case strings.HasPrefix(source[n:], "("):
		return n, "f"
	}
	return n, ""
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// span returns the length of the runes at the beginning that fit.
func span(s string, fits func(rune) bool) int {
	for i, r := range s {
		if !fits(r) {
			return i
		}
	}
	return len(s)
}

// through returns the length up to and including the end mark, or all if there is none.
func through(s string, from int, end string) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// quoted returns the length of a string on one line; a backslash escapes.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(s)
}

func colourDiff(b *strings.Builder, source string) {
	for line := range strings.Lines(source) {
		text := strings.TrimSuffix(line, "\n")
		class := ""
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
			class = "k"
		case strings.HasPrefix(text, "+"):
			class = "a"
		case strings.HasPrefix(text, "-"):
			class = "r"
		case strings.HasPrefix(text, "@@"):
			class = "n"
		}
		paint(b, class, text)
		b.WriteString(line[len(text):])
	}
}

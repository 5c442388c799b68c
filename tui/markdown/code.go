package markdown

import (
	"path"
	"strings"

	"jcode/internal/cells"
)

// Syntax holds the styles of the parts of code. The zero value shows code plain.
type Syntax struct {
	Plain, Keyword, Type, Function, String, Number, Comment, Constant, Attribute, Inserted, Deleted, Meta cells.Style
}

// Highlighter colours code line by line; it remembers comments and strings that continue on the next line.
// Copies are independent.
type Highlighter struct {
	lang   *language
	styles Syntax
	open   *region // the region that an earlier line left open
}

// NewHighlighter returns a highlighter for a language, named as in a code block or by a file ending; code in
// an unknown language stays plain.
func NewHighlighter(lang string, styles Syntax) *Highlighter {
	return &Highlighter{lang: findLanguage(lang), styles: styles}
}

// LanguageOf returns the language of a file by its name, or "".
func LanguageOf(file string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if l := findLanguage(base); l != nil {
		return base
	}
	ext := strings.TrimPrefix(path.Ext(base), ".")
	if findLanguage(ext) != nil {
		return ext
	}
	return ""
}

func findLanguage(name string) *language {
	name = strings.ToLower(name)
	if i := strings.IndexAny(name, ",{: "); i > 0 {
		name = name[:i]
	}
	if name == "" {
		return nil
	}
	for i := range languages {
		if hasWord(languages[i].names, name) {
			return &languages[i]
		}
	}
	return nil
}

// hasWord reports whether a list of words separated by spaces contains word.
func hasWord(list, word string) bool {
	for at := 0; ; {
		i := strings.Index(list[at:], word)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(word)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		at = i + 1
	}
}

// Line colours one line without its newline.
func (h *Highlighter) Line(line string) []cells.Span {
	if h.lang == nil {
		return []cells.Span{{Text: line, Style: h.styles.Plain}}
	}
	s := scanner{h: h, text: line}
	switch h.lang.kind {
	case kindDiff:
		s.diffLine()
	case kindMarkup:
		s.markupLine()
	default:
		s.codeLine()
	}
	return s.out
}

// scanner walks over one line.
type scanner struct {
	h    *Highlighter
	text string
	pos  int
	out  []cells.Span
}

// take moves n bytes to the output.
func (s *scanner) take(n int, style cells.Style) {
	if n <= 0 {
		return
	}
	part := s.text[s.pos : s.pos+n]
	s.pos += n
	if last := len(s.out) - 1; last >= 0 && s.out[last].Style == style {
		// The parts are adjacent in the line, so that they can be joined without a copy.
		from := s.pos - n - len(s.out[last].Text)
		s.out[last].Text = s.text[from:s.pos]
		return
	}
	s.out = append(s.out, cells.Span{Text: part, Style: style})
}

func (s *scanner) rest() string { return s.text[s.pos:] }

// region moves to the end of an open comment or string.
func (s *scanner) region(r *region, from int) {
	style := s.h.styles.String
	if r.comment {
		style = s.h.styles.Comment
	}
	rest := s.rest()
	for i := from; i < len(rest); i++ {
		if r.escape && rest[i] == '\\' {
			i++
			continue
		}
		if strings.HasPrefix(rest[i:], r.close) {
			s.h.open = nil
			s.take(i+len(r.close), style)
			return
		}
	}
	s.h.open = nil
	if r.multi {
		s.h.open = r
	}
	s.take(len(rest), style)
}

func (s *scanner) codeLine() {
	if s.h.open != nil {
		s.region(s.h.open, 0)
	}
	l, st := s.h.lang, &s.h.styles
	if l.keys {
		s.key()
	}
	if l.hashMeta && strings.HasPrefix(strings.TrimLeft(s.rest(), " "), "#") {
		s.take(len(s.rest()), st.Meta)
	}
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == ' ':
			s.take(1, st.Plain)
		case s.comment(), s.regionStart():
		case c >= '0' && c <= '9':
			s.take(numberLen(s.rest()), st.Number)
		case wordByte(c):
			s.word()
		case c == '@' && l.at && s.pos+1 < len(s.text) && wordByte(s.text[s.pos+1]):
			s.take(1+wordLen(s.text[s.pos+1:], ""), st.Attribute)
		case c == '$' && l.dollar:
			s.take(dollarLen(s.rest()), st.Constant)
		default:
			s.take(1, st.Plain)
		}
	}
}

// comment consumes a comment that extends to the end of the line.
func (s *scanner) comment() bool {
	for _, mark := range s.h.lang.line {
		if !strings.HasPrefix(s.rest(), mark) {
			continue
		}
		if mark == "#" && s.pos > 0 && s.text[s.pos-1] != ' ' && s.text[s.pos-1] != ';' {
			continue // `$#`, `a#b`
		}
		s.take(len(s.rest()), s.h.styles.Comment)
		return true
	}
	return false
}

// regionStart consumes a string or block comment.
func (s *scanner) regionStart() bool {
	for i := range s.h.lang.regions {
		r := &s.h.lang.regions[i]
		if !strings.HasPrefix(s.rest(), r.open) {
			continue
		}
		if s.h.lang.kind == kindJSON && s.jsonKey() {
			return true
		}
		if r.open == "'" && s.h.lang.lifetimes && !charLiteral(s.rest()) {
			continue
		}
		s.region(r, len(r.open))
		return true
	}
	return false
}

// charLiteral tells 'x' from a lifetime such as 'a.
func charLiteral(t string) bool {
	if len(t) < 3 {
		return false
	}
	if t[1] == '\\' {
		return true
	}
	c, _ := cells.Next(t[1:])
	return strings.HasPrefix(t[1+len(c):], "'")
}

// jsonKey consumes a string that is followed by a colon.
func (s *scanner) jsonKey() bool {
	t := s.rest()
	for i := 1; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case '"':
			if !strings.HasPrefix(strings.TrimLeft(t[i+1:], " "), ":") {
				return false
			}
			s.take(i+1, s.h.styles.Attribute)
			return true
		}
	}
	return false
}

// key consumes the name at the start of a line of YAML, TOML, INI or an environment file.
func (s *scanner) key() {
	t := s.rest()
	start := len(t) - len(strings.TrimLeft(t, " -"))
	end := start + wordLen(t[start:], "-./\"' ")
	switch {
	case start < len(t) && t[start] == '[':
		s.take(len(t), s.h.styles.Meta)
	case end > start && end < len(t) && strings.IndexByte(s.h.lang.keyEnd, t[end]) >= 0:
		s.take(start, s.h.styles.Plain)
		s.take(end-start, s.h.styles.Attribute)
	}
}

func (s *scanner) word() {
	l, st := s.h.lang, &s.h.styles
	n := wordLen(s.rest(), "")
	w := s.rest()[:n]
	look := w
	if l.fold {
		look = strings.ToLower(w)
	}
	next := s.rest()[n:]
	switch {
	case hasWord(l.keywords, look):
		s.take(n, st.Keyword)
	case hasWord(l.types, look):
		s.take(n, st.Type)
	case hasWord(l.constants, look):
		s.take(n, st.Constant)
	case strings.HasPrefix(next, "(") && !l.noCalls:
		s.take(n, st.Function)
	case l.upper && w[0] >= 'A' && w[0] <= 'Z':
		s.take(n, st.Type)
	default:
		s.take(n, st.Plain)
	}
}

func (s *scanner) diffLine() {
	st := &s.h.styles
	style := st.Plain
	switch {
	case strings.HasPrefix(s.text, "+++"), strings.HasPrefix(s.text, "---"), strings.HasPrefix(s.text, "diff "),
		strings.HasPrefix(s.text, "index "), strings.HasPrefix(s.text, "@@"):
		style = st.Meta
	case strings.HasPrefix(s.text, "+"):
		style = st.Inserted
	case strings.HasPrefix(s.text, "-"):
		style = st.Deleted
	}
	s.take(len(s.text), style)
}

// markupLine colours HTML and XML: comments, tags, attributes and their values.
func (s *scanner) markupLine() {
	st := &s.h.styles
	if s.h.open != nil {
		s.region(s.h.open, 0)
	}
	inTag := false
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case !inTag && s.regionStart():
		case !inTag && c == '<':
			s.take(1+wordLen(s.rest()[1:], "/!?:-."), st.Keyword)
			inTag = true
		case inTag && (c == '>' || c == '/' || c == '?'):
			s.take(1, st.Keyword)
			inTag = c != '>'
		case inTag && (c == '"' || c == '\''):
			end := strings.IndexByte(s.text[s.pos+1:], c)
			if end < 0 {
				end = len(s.text) - s.pos - 2
			}
			s.take(end+2, st.String)
		case inTag && wordByte(c):
			s.take(wordLen(s.rest(), ":-.@"), st.Attribute)
		default:
			s.take(1, st.Plain)
		}
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// wordLen measures the word at the start of s; extra are more bytes that it may contain.
func wordLen(s, extra string) int {
	n := 0
	for n < len(s) && (wordByte(s[n]) || strings.IndexByte(extra, s[n]) >= 0) {
		n++
	}
	return n
}

func numberLen(s string) int {
	n := 0
	for n < len(s) && (wordByte(s[n]) || s[n] == '.' && n+1 < len(s) && s[n+1] >= '0' && s[n+1] <= '9') {
		n++
	}
	return n
}

// dollarLen measures a variable: $name, ${name}, $1, $?.
func dollarLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	if s[1] == '{' {
		if end := strings.IndexByte(s, '}'); end > 0 {
			return end + 1
		}
		return 2
	}
	if n := wordLen(s[1:], ""); n > 0 {
		return n + 1
	}
	if strings.IndexByte("?!#@*$-", s[1]) >= 0 {
		return 2
	}
	return 1
}

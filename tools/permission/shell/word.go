package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"jcode/internal/shellword"
)

// word is one word of a simple command, as far as it is known before the command runs.
type word struct {
	// text is the word without its quotes; for a dynamic word only the known parts.
	text string
	// dynamic words get their value when the command runs ($x, $(…), {a,b}).
	dynamic bool
	// simple marks a dynamic word that only reads variables.
	simple bool
	// glob words contain an unquoted wildcard; text holds it as written.
	glob bool
	// several is set for a name that is one of several that a wildcard matches: their order is not known.
	several bool
	// tilde words begin with an unquoted ~.
	tilde bool
	// vars are the variables that a simple word reads; bare says that one of them is unquoted, so that a shell
	// splits its value into words.
	vars []string
	bare bool
	// template is the text with each variable between two NUL bytes.
	template string
	// braces are the words to which bash expands the word, if it has braces.
	braces []word
}

func static(text string) word { return word{text: text} }

// readWord converts a parsed word.
func readWord(w *syntax.Word) word {
	out := readPlain(w)
	if out.dynamic {
		out.braces = braced(w)
	}
	return out
}

// readPlain is readWord without a look at what braces mean.
func readPlain(w *syntax.Word) word {
	var b strings.Builder
	out := word{simple: true}
	masked := false // quotes protect characters that could form a wildcard
	for i, part := range w.Parts {
		n := b.Len()
		switch p := part.(type) {
		case *syntax.Lit:
			masked = out.literal(&b, p.Value, i == 0) || masked
			continue
		case *syntax.SglQuoted:
			if p.Dollar { // $'…' means something else to a plain sh
				out.dynamic, out.simple = true, false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			out.quoted(&b, p)
		default:
			out.bare = true
			out.expansion(&b, part)
		}
		masked = masked || strings.ContainsAny(b.String()[n:], globBytes)
	}
	out.template = b.String()
	out.text = withoutVariables(out.template)
	if out.text == "[" { // the command, not a wildcard
		out.glob = false
	}
	if out.glob && masked {
		out.dynamic, out.simple = true, false
	}
	if !out.dynamic {
		out.simple = false
	}
	return out
}

// withoutVariables returns a template's text with its variables removed.
func withoutVariables(template string) string {
	if !strings.Contains(template, "\x00") {
		return template
	}
	var b strings.Builder
	for i, part := range strings.Split(template, "\x00") {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// globBytes are the special characters of a wildcard.
const globBytes = `*?[]!^-\`

// literal adds unquoted text. masked says that a backslash protects a character that is special in a
// wildcard.
func (w *word) literal(b *strings.Builder, s string, first bool) (masked bool) {
	if first && strings.HasPrefix(s, "~") {
		w.tilde = true
	}
	brace := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
				masked = masked || strings.IndexByte(globBytes, s[i]) >= 0
			}
			continue
		case '*', '?', '[':
			w.glob = true
		case '{':
			brace = true
		case ',', '.':
			// bash expands {a,b} and {1..3} to several words, sh does not.
			if brace && (c == ',' || strings.HasPrefix(s[i:], "..")) {
				w.dynamic, w.simple = true, false
			}
		}
		b.WriteByte(s[i])
	}
	if brace && !strings.Contains(s, "}") {
		// Closed in a later part, or not at all: not distinguished.
		w.dynamic, w.simple = true, false
	}
	return masked
}

// quoted adds text in double quotes.
func (w *word) quoted(b *strings.Builder, q *syntax.DblQuoted) {
	if q.Dollar {
		w.dynamic, w.simple = true, false
	}
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			w.expansion(b, part)
			continue
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				i++
				if s[i] == '\n' {
					continue
				}
			}
			b.WriteByte(s[i])
		}
	}
}

func (w *word) expansion(b *strings.Builder, part syntax.WordPart) {
	w.dynamic = true
	p, ok := part.(*syntax.ParamExp)
	if !ok || !plainParam(p) {
		w.simple = false
		return
	}
	w.vars = append(w.vars, p.Param.Value)
	if strings.Trim(p.Param.Value, wordBytes+"_") == "" {
		b.WriteString("\x00" + p.Param.Value + "\x00")
	}
}

// readsOnly reports whether the parts of a text that is expanded, but not split into words or matched with
// file names, only read variables.
func readsOnly(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !readsOnly(p.Parts) {
				return false
			}
		case *syntax.ParamExp:
			if !plainParam(p) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plainParam reports whether an expansion only reads a variable: $x or ${x}.
func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil &&
		p.Flags == nil && p.NestedParam == nil && len(p.Modifiers) == 0
}

// join writes words as one command.
func join(words []word) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return shellword.Join(out)
}

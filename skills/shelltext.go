package skills

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"jcode/internal/shellword"
	"jcode/internal/text"
)

// shellText inserts arguments into a command line so that the shell reads each as text, whatever
// it contains: as one word outside quotes, as part of the text inside quotes. It is an error if
// neither is certain for an argument: in a comment, a substitution or a here-document.
func shellText(line string, g given) (string, error) {
	parts := shellParts(line)
	if !parts.uses() {
		return line, nil
	}
	if !placedSafely(parts) {
		return "", fmt.Errorf("%s: %s", misplaced(line), misplacedCure)
	}
	var b strings.Builder
	quote := byte(0)
	for _, p := range parts {
		if p.kind == literal {
			quote, _ = quoteAfter(p.text, quote)
			b.WriteString(p.text)
			continue
		}
		value := g.all
		if p.kind == word {
			value = g.word(p.n)
		}
		switch {
		case quote == '"':
			b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(value))
		case quote == '\'':
			b.WriteString(strings.ReplaceAll(value, `'`, `'\''`))
		case p.kind == arguments:
			for i, w := range g.words {
				if i > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(shellword.Always(w))
			}
		default:
			b.WriteString(shellword.Always(value))
		}
	}
	return b.String(), nil
}

// misplaced says what is wrong with a line in which an argument might not stay one word.
func misplaced(line string) string {
	return fmt.Sprintf("the line `%s` has an argument where it may not stay one word (in a substitution, comment or here-document, or in what not every shell reads alike)", text.Visible(line))
}

const misplacedCure = "put it after the command, bare or in quotes"

// shellParts parses a line; a parameter after a backslash is text.
func shellParts(line string) template {
	var t template
	quote, escaped := byte(0), false
	for _, p := range parseParameters(line) {
		if escaped && p.kind != literal {
			p = piece{text: p.source()}
		}
		if p.kind == literal {
			if p.text == "" {
				continue
			}
			rest := p.text
			if escaped { // its first byte is not special
				_, size := utf8.DecodeRuneInString(rest)
				rest = rest[size:]
			}
			quote, escaped = quoteAfter(rest, quote)
		}
		if n := len(t); p.kind == literal && n > 0 && t[n-1].kind == literal {
			t[n-1].text += p.text
			continue
		}
		t = append(t, p)
	}
	return t
}

// source returns a parameter as it was written.
func (p piece) source() string {
	if p.kind == word {
		return fmt.Sprintf("$%d", p.n)
	}
	return "$ARGUMENTS"
}

// placedSafely reports whether each argument is part of a plain word, in the quotes that shellText
// assumes. It asks parsers for POSIX shells and for bash, because `sh` may be either.
func placedSafely(parts template) bool {
	const mark = "jcodeargument"
	var b strings.Builder
	var want []byte // the quote around each argument, 0 for none
	quote := byte(0)
	for _, p := range parts {
		if p.kind == literal {
			quote, _ = quoteAfter(p.text, quote)
			b.WriteString(p.text)
			continue
		}
		want = append(want, quote)
		b.WriteString(mark)
	}
	for _, lang := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
		file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(b.String()), "")
		if err != nil || !slices.Equal(quotesOf(file, mark), want) {
			return false
		}
	}
	return true
}

// quotesOf returns the quote around each occurrence of mark in a plain word, in order. Other
// occurrences are left out.
func quotesOf(file *syntax.File, mark string) []byte {
	var quotes []byte
	add := func(text string, quote byte) {
		for range strings.Count(text, mark) {
			quotes = append(quotes, quote)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.ArithmExp, *syntax.ArithmCmd,
			*syntax.TestClause, *syntax.CaseClause, *syntax.FuncDecl, *syntax.ExtGlob:
			return false
		case *syntax.Redirect:
			return n.Hdoc == nil
		case *syntax.SglQuoted:
			if !n.Dollar {
				add(n.Value, '\'')
			}
		case *syntax.DblQuoted:
			for _, part := range n.Parts {
				if lit, ok := part.(*syntax.Lit); ok && !n.Dollar {
					add(lit.Value, '"')
				}
			}
			return false
		case *syntax.Lit:
			add(n.Value, 0)
		}
		return true
	})
	return quotes
}

// quoteAfter returns the quote that is open after s, when quote was open before it, and
// whether s ends in a backslash that escapes what follows.
func quoteAfter(s string, quote byte) (open byte, escaped bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			if i++; i == len(s) {
				return quote, true
			}
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	return quote, false
}

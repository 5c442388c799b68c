package instructions

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"jcode/internal/paths"
)

// imported is one `@path` in a text.
type imported struct {
	path string
	line int // 1-based
}

// imports lists the `@path` words of a Markdown text in order, those in code left out.
func imports(text string) []imported {
	var list []imported
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " \t")
		if mark := fenceOf(trimmed); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.TrimRight(trimmed, " \t") == mark:
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		for _, p := range inLine(line) {
			list = append(list, imported{path: p, line: i + 1})
		}
	}
	return list
}

// fenceOf returns the run of three or more backticks or tildes that begins a line.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// inLine lists the imports of one line outside `code`.
func inLine(line string) []string {
	var list []string
	code := false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '`':
			code = !code
		case line[i] != '@' || code:
		default:
			before, _ := utf8.DecodeLastRuneInString(line[:i])
			if i > 0 && !unicode.IsSpace(before) && !strings.ContainsRune("([{<\"':*-", before) {
				continue // an e-mail address, a decorator in a word
			}
			p, n := paths.Mention(line[i+1:], "()[]{}<>\"'`,;|*")
			if strings.ContainsAny(p, "./") && strings.ContainsFunc(p, unicode.IsLetter) {
				list = append(list, p)
			}
			i += n
		}
	}
	return list
}

// looksLikeFile distinguishes the import of a missing file from a mention of a person or of a
// package.
func looksLikeFile(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdc", ".txt", ".markdown":
		return true
	}
	return false
}

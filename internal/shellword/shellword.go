// Package shellword owns the quoting of words for a POSIX shell. The parser's own quoting can't be used: it
// refuses line ends, which a word may contain. The package must not know what the words are for.
package shellword

import (
	"slices"
	"strings"
)

// Quote writes an argument so that a shell reads exactly that text, quoted only if necessary. A program's
// name is quoted by Join: there "=" would make it an assignment.
func Quote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return Always(s)
}

// Always writes a word in single quotes, whatever it contains.
func Always(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Join writes a program and its arguments as one command.
func Join(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = Quote(w)
	}
	if len(words) > 0 && strings.Contains(words[0], "=") {
		out[0] = Always(words[0])
	}
	return strings.Join(out, " ")
}

// Script writes a command that is given in words as text: of ["bash", "-lc", "make"] what the shell is told, of others
// the words.
func Script(words []string) string {
	if len(words) == 3 && slices.Contains([]string{"bash", "sh", "/bin/bash", "/bin/sh", "zsh"}, words[0]) && slices.Contains([]string{"-c", "-lc"}, words[1]) {
		return words[2]
	}
	return Join(words)
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./-_", r)
}

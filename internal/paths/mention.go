package paths

import (
	"strings"
	"unicode"
)

// Mention reads the path behind the @ of a mention, at the start of s: a text in double quotes on one line, or a word
// whose blanks have a backslash before them. n is the length of what was read, 0 if there is none; a full stop or
// comma at the end of a word belongs to the sentence. ends are the characters besides blanks that end a word.
func Mention(s, ends string) (path string, n int) {
	if rest, quoted := strings.CutPrefix(s, `"`); quoted {
		end := strings.IndexAny(rest, "\"\n")
		if end <= 0 || rest[end] != '"' {
			return "", 0
		}
		return rest[:end], end + 2
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(ends, r) })
	for end > 0 && s[end] == ' ' && s[end-1] == '\\' { // the blank is part of the name
		next := strings.IndexFunc(s[end+1:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(ends, r) })
		if next < 0 {
			end = next
			break
		}
		end += 1 + next
	}
	if end < 0 {
		end = len(s)
	}
	word := strings.TrimRight(s[:end], ".:!?")
	return strings.ReplaceAll(word, `\ `, " "), len(word)
}

package model

import (
	"cmp"
	"strings"
)

// Unnamed is the name of a call that has none.
const Unnamed = "unnamed"

// SafeName makes the name of a call legal for every provider: a model may have called something that never
// existed, and its call is part of the history.
func SafeName(name string) string {
	name = strings.Map(SafeRune, cmp.Or(name, Unnamed))
	return name[:min(len(name), 64)] // all of it is ASCII
}

// SafeRune replaces what must not be part of a name or an id, by "_".
func SafeRune(r rune) rune {
	if r == '_' || r == '-' || IsAlnum(r) {
		return r
	}
	return '_'
}

// IsAlnum reports whether a character is an ASCII letter or digit.
func IsAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

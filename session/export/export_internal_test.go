package export

import "strings"

// Colour lets the fuzz test see the colouring alone.
func Colour(lang, source string) string {
	var b strings.Builder
	colour(&b, lang, source)
	return b.String()
}

package export

import "strings"

// Colour exports colour for the fuzz test.
func Colour(lang, source string) string {
	var b strings.Builder
	colour(&b, lang, source)
	return b.String()
}

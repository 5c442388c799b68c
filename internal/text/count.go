package text

import (
	"strconv"
	"strings"
)

// Count formats a number of things: "1 tool", "2 tools", "3 matches".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "ch") {
		thing += "e"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

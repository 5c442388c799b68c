package text

import "strconv"

// Count says how many of a thing there are: "1 tool", "2 tools".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

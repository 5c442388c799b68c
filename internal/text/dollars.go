package text

import (
	"math"
	"strconv"
	"strings"
)

// Spent returns an amount as Dollars does, with a mark if it is based on estimates: ~$1.50.
func Spent(usd float64, estimated bool) string {
	if estimated {
		return "~" + Dollars(usd)
	}
	return Dollars(usd)
}

// Dollars returns an amount of US dollars with two decimals or, below a cent, with as many as its first two
// digits need: $1.50, $0.0012.
func Dollars(usd float64) string {
	const least = 1e-9 // less than that is nothing
	if usd >= 0.01 || usd < least {
		return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
	}
	s := strconv.FormatFloat(usd, 'f', 1-int(math.Floor(math.Log10(usd))), 64)
	for strings.HasSuffix(s, "0") && len(s) > len("0.00") {
		s = s[:len(s)-1]
	}
	return "$" + s
}

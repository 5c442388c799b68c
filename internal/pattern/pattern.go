// Package pattern compiles regular expressions at their first use. A start needs almost none of
// them, and one compiled in a package variable costs every start up to 0.1 ms and 100 KB.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns an expression that is compiled when it is first asked for.
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

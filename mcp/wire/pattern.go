package wire

import (
	"regexp"
	"sync"
)

// pattern returns an expression that is compiled at its first use: most runs never need it.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

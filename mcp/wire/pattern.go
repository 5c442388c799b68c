package wire

import (
	"regexp"
	"sync"
)

// pattern returns an expression that is compiled when it is used first: most runs never see
// the output that it looks for.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Package beside lets more tests of a package run in parallel than there are processors, if they wait for
// programs, servers and timeouts rather than compute. It knows no package's tests.
package beside

import (
	"flag"
	"runtime"
	"strconv"
)

// Run sets how many parallel tests run at once for each processor. TestMain calls it before m.Run; a
// -parallel on the command line is read later and takes precedence.
func Run(perProcessor int) {
	if err := flag.Set("test.parallel", strconv.Itoa(perProcessor*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
}

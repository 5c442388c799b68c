//go:build !linux

package atomicfile

import "os"

// leaseOf can't hold a file still here.
func leaseOf(*os.File) (held, busy bool) { return false, false }

func leaseWanted(*os.File) bool { return false }

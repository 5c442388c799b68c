//go:build !unix

package attach

import "os"

// resized says nothing here.
func resized() (changed <-chan os.Signal, stop func()) { return nil, func() {} }

//go:build !linux

package proc

// AsInit does nothing here: containers run Linux.
func AsInit() (code int, done bool) { return 0, false }

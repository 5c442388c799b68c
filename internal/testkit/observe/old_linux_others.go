//go:build linux && !amd64

package observe

// old: the other machines have only the newer calls.
func (w *watch) old(int, info) {}

//go:build !linux && !windows

package watch

// systemMaxEntries bounds descriptors: kqueue opens one per entry of a watched folder.
const systemMaxEntries = 256

// noEvents is false: what lies on a network is not told apart here.
func noEvents(string) bool { return false }

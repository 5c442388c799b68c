//go:build !linux && !windows

package watch

// systemMaxEntries bounds descriptors: kqueue opens one per entry of a watched folder.
const systemMaxEntries = 256

// noEvents returns false: network file systems are not recognised here.
func noEvents(string) bool { return false }

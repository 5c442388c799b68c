package watch

import "strings"

// systemMaxEntries is 0: a watch costs one handle per folder, whatever is in it.
const systemMaxEntries = 0

// noEvents reports whether path is on a network share.
func noEvents(path string) bool { return strings.HasPrefix(path, `\\`) }

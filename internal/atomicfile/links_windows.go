package atomicfile

import "io/fs"

// links is how many names a file has, where the system tells: here it does not.
func links(fs.FileInfo) uint64 { return 1 }

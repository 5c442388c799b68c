package atomicfile

import "io/fs"

// links returns the number of names of a file, if the system knows it; Windows does not.
func links(fs.FileInfo) uint64 { return 1 }

package snapshot

import "io/fs"

// stampOf returns what the file system says of a version of a file.
func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), modified: info.ModTime().UnixNano(), mode: uint32(info.Mode())}
}

func deviceOf(fs.FileInfo) uint64 { return 0 }

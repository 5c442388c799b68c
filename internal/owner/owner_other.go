//go:build !unix

package owner

import "io/fs"

// ownerOf knows no owners: here, rights of folders keep people apart.
func ownerOf(fs.FileInfo) (id int, known bool) { return 0, false }

func device(fs.FileInfo) uint64 { return 0 }

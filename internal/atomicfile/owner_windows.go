package atomicfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a file in a folder gets its rights from the folder on Windows.
func keepOwner(*os.File, fs.FileInfo) {}

// keepMode does nothing: the only bit that Windows has is read-only, and a read-only file
// is not written at all.
func keepMode(*os.File, fs.FileMode) error { return nil }

// syncDir does nothing: folders can't be synced on Windows.
func syncDir(*os.Root, string) error { return nil }

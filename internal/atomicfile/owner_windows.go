package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// keepOwner does nothing: a file in a folder gets its rights from the folder on Windows.
func keepOwner(*os.File, fs.FileInfo) {}

// keepMode does nothing: the only bit that Windows has is read-only, and a read-only file
// is not written at all.
func keepMode(*os.File, fs.FileMode) error { return nil }

// syncDir does nothing: folders can't be synced on Windows.
func syncDir(*os.Root, string) error { return nil }

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// rename moves a file over another one. It fails while a scanner or an indexer has one of them
// open, which usually takes a moment, so it is retried for half a second.
func rename(root *os.Root, from, to string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := root.Rename(from, to)
		if !errors.Is(err, syscall.ERROR_ACCESS_DENIED) && !errors.Is(err, errSharing) || wait > 256*time.Millisecond {
			return err
		}
		time.Sleep(wait)
	}
}

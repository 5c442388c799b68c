// Package tidy owns throwing away what was kept for a while: the files of one folder that
// are too old, or too many bytes together.
//
// It must not know what the files are. What can't be removed stays: this is housekeeping,
// and another program may have been faster.
package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Limits say what may stay.
type Limits struct {
	// Age is how long ago a file was last written at most.
	Age time.Duration
	// Bytes is the size of all files together, of which the newest stay; 0 has no limit.
	Bytes int64
}

// Folder removes the files right in dir that are beyond the limits. Folders and links are
// left alone, and so is a folder that can't be read.
func Folder(dir string, l Limits) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, f := range files {
		total += f.Size()
		if time.Since(f.ModTime()) > l.Age || l.Bytes > 0 && total > l.Bytes {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

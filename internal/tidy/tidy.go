// Package tidy removes what was kept for a while: the files of one folder that are too old, or too large
// together.
//
// It must not know what the files are. What can't be removed stays: this is housekeeping, and another program
// may have been faster.
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
	// Age is the maximum time since a file was last written.
	Age time.Duration
	// Bytes is the maximum size of all files together, of which the newest stay; 0 means no limit.
	Bytes int64
}

// Folder removes the files directly in dir that exceed the limits. Folders and links are left alone, and so
// is a folder that can't be read.
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

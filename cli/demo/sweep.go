package demo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"jcode/internal/filelock"
)

const (
	folders = "jcode-tour-"  // what the names of tours' folders begin with
	running = "running.lock" // held in its folder by a tour while it runs
)

// unlocked is how long a folder without a lock is left alone: its tour may just begin.
const unlocked = 24 * time.Hour

// sweep removes the folders of tours that were killed. It is no fault if one of them stays: it may be another user's.
func sweep(temp string) {
	found, _ := filepath.Glob(filepath.Join(temp, folders+"*")) // the pattern is well-formed unless the folder's name is odd
	for _, dir := range found {
		if ended(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// ended reports whether no tour uses a folder any more.
func ended(dir string) bool {
	at, err := os.Lstat(dir)
	if err != nil || !at.IsDir() {
		return false
	}
	held, err := os.Lstat(filepath.Join(dir, running))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Since(at.ModTime()) > unlocked
	}
	if err != nil || !held.Mode().IsRegular() {
		return false
	}
	lock, err := filelock.Try(filepath.Join(dir, running))
	if err != nil {
		return false
	}
	return lock.Unlock() == nil
}

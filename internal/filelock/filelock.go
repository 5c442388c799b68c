// Package filelock owns advisory locks on files between processes. The kernel releases a lock
// when its holder ends in any way. It must not know what a lock protects.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrHeld says that another holder has the lock.
var ErrHeld = errors.New("lock is held")

// ErrNone says that the file system of a lock file keeps no locks.
var ErrNone = errors.New("its file system keeps no locks (on NFS, lockd gives them, or a mount with local_lock=all)")

// Lock is a held lock. It belongs to the open file, so two locks on one path exclude each other
// even within a process.
type Lock struct {
	f    *os.File
	path string
}

// Try takes the lock on path, and creates the file (mode 0600) if it is missing. It returns
// ErrHeld at once if another holder has the lock.
func Try(path string) (*Lock, error) {
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open lock file: %w", err)
		}
		if err := tryLock(f); err != nil {
			_ = f.Close() // nothing was written
			if errors.Is(err, ErrHeld) {
				return nil, err
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The last holder may have removed the file between open and lock.
		if same(f, path) {
			return &Lock{f: f, path: path}, nil
		}
		_ = f.Close() // nothing was written
	}
	return nil, fmt.Errorf("lock %s: the file keeps vanishing", path)
}

// Wait takes the lock on path as Try does, and waits for it until ctx ends.
func Wait(ctx context.Context, path string) (*Lock, error) {
	pause := time.Millisecond
	for {
		l, err := Try(path)
		if !errors.Is(err, ErrHeld) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for lock %s: %w", path, ctx.Err())
		case <-time.After(pause):
		}
		pause = min(pause*2, 25*time.Millisecond)
	}
}

// Write replaces the content of the lock file, for people who look at it.
func (l *Lock) Write(text string) error {
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, err := l.f.WriteAt([]byte(text), 0)
	return err
}

// Unlock releases the lock and leaves the file.
func (l *Lock) Unlock() error { return l.f.Close() }

// Remove releases the lock and removes its file if the system allows that.
func (l *Lock) Remove() error {
	return errors.Join(removeLocked(l.path), l.f.Close())
}

func same(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}

// Sweep removes the lock files of a folder that nobody holds, once there are more than a few:
// killed processes leave theirs behind. Files that can't be removed stay.
func Sweep(dir string, more int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= more {
		return
	}
	for _, e := range entries {
		if l, err := Try(filepath.Join(dir, e.Name())); err == nil {
			_ = l.Remove() // it is tried again another time
		}
	}
}

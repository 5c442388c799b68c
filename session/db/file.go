package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const fileMode = 0o600

// createFile creates the file so that only its owner can read it. The engine
// creates its companion files with the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make database: %w", err)
	}
	return f.Close()
}

// checkWritable refuses a file that could only be read, before anything is touched.
func checkWritable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("open database: %s is not a regular file", path)
	}
	if info.Mode().Perm()&0o222 == 0 || !writable(path) || !writable(filepath.Dir(path)) {
		return readOnly(path)
	}
	return nil
}

const keptLog = "-wal.kept"

// keepLog links the write-ahead log under a second name, because the engine deletes the log
// when it closes a database that it can't read. release removes the second name.
func keepLog(path string) (release func()) {
	kept := path + keptLog
	_ = os.Remove(kept) // of a process that was killed here
	if os.Link(path+"-wal", kept) != nil {
		return func() {} // there is no log, or the file system has no links
	}
	return func() { _ = os.Remove(kept) } // gone already if it was moved aside
}

// moveAside renames a damaged database and its companion files, and returns its new name.
func moveAside(path string, now time.Time) (string, error) {
	base := path + ".damaged-" + now.UTC().Format("20060102T150405")
	aside := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", base, i)
	}
	for _, f := range []struct{ from, to string }{{"-wal", "-wal"}, {keptLog, "-wal"}, {"-shm", "-shm"}, {"-journal", "-journal"}, {"", ""}} {
		if err := os.Rename(path+f.from, aside+f.to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("move damaged database aside: %w", err)
		}
	}
	return aside, nil
}

package paths

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrOutside says that a path leads out of the folder that it should stay in.
var ErrOutside = errors.New("leads out of the project")

// Inside returns what a path really names if that is root or below it, and
// ErrOutside when a link leads out. root need not be resolved.
func Inside(root, path string) (string, error) {
	base, err := Resolve(root)
	if err != nil {
		return "", err
	}
	real, err := Resolve(path)
	if err != nil {
		return "", err
	}
	if !Within(base, real) {
		return "", ErrOutside
	}
	return real, nil
}

// ReadInside reads a regular file of at most limit bytes below root, with links resolved. A link
// that is changed at the last moment to lead out of root is not followed.
func ReadInside(root, path string, limit int64) ([]byte, error) {
	real, err := Inside(root, path)
	if err != nil {
		return nil, err
	}
	base, err := Resolve(root)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(base, real)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only read
	return ReadIn(dir, rel, limit)
}

// ReadIn reads a regular file of at most limit bytes below an open folder.
func ReadIn(dir *os.Root, rel string, limit int64) ([]byte, error) {
	f, err := dir.OpenFile(rel, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, err
	}
	return readRegular(f, limit)
}

// ReadFile reads a regular file of at most limit bytes: it never waits for the other end of a pipe, and
// believes no size.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readRegular(f, limit)
}

// Open opens a regular file for reading: it never waits for the other end of a pipe, and opens no device. How much
// there is to read is for the caller to limit.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|NoWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

var errIrregular = errors.New("is not a regular file")

// readRegular reads a regular file and closes it.
func readRegular(f *os.File, limit int64) ([]byte, error) {
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("has more than %d KB", limit>>10)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

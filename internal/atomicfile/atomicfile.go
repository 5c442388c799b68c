// Package atomicfile owns replacing a file's content in one step: a reader sees either the old
// bytes or the new ones, even after a crash in between.
//
// It must not know what a file is for. Which path may be written is the caller's decision.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/text"
)

// Options are the settings of Write. The zero value suits project files.
type Options struct {
	// Perm is the mode of a file that does not exist yet, before the umask; 0 means 0666.
	// A file that exists keeps its mode.
	Perm fs.FileMode
	// Sync waits until the bytes are on the disk, so that they survive a power cut.
	Sync bool
}

// Write replaces the content of path by data and creates missing parent folders. If path is a
// link, its target is replaced and the link stays. The mode is kept, and so is the ownership if
// the system permits it. It is an error if the process may not write the file, even if it could
// change its folder. A file with several names (hard links) is written in place, so that they
// stay names of one file; if that fails, its old bytes are restored.
func Write(path string, data []byte, o Options) error {
	real, err := paths.Resolve(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(real)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = root.Close() }()
	return WriteIn(root, filepath.Base(real), data, o)
}

// WriteIn is Write for a name below root. The last part of the name must not be a link: if it has
// become one, the link itself is replaced and nothing outside root is touched.
func WriteIn(root *os.Root, name string, data []byte, o Options) (err error) {
	old, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return fmt.Errorf("write %s: %w", name, err)
	case !old.Mode().IsRegular():
		return fmt.Errorf("write %s: not a regular file (%s)", name, old.Mode().Type())
	}
	var before *os.File
	if old != nil {
		if before, err = writable(root, name); err != nil {
			return err
		}
		if before != nil {
			defer func() { _ = before.Close() }() // nothing was written to it
		}
	} else if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if old != nil && before != nil && links(old) > 1 {
		return overwrite(root, name, before, data, o)
	}
	temp, err := create(root, name, old, o)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(temp.name) // the temporary file is not used by others
		}
	}()
	if err := temp.fill(data, old, before, o.Sync); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := rename(root, temp.name, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if o.Sync {
		return syncDir(root, filepath.Dir(name))
	}
	return nil
}

// writable opens an existing file for writing, only to find out whether the process may write it;
// an error says that it may not. The file is nil if it cannot be opened for another reason, for
// example because it is a running program: replacing it may still work.
func writable(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|paths.NoWait, 0)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("write %s: the file is read-only: %w", name, fs.ErrPermission)
	case err != nil:
		return nil, nil
	}
	return f, nil
}

// overwrite writes data into a file that has other names too. The new bytes are kept beside it
// until it is complete, so that nothing is lost if the process ends in the meantime.
func overwrite(root *os.Root, name string, file *os.File, data []byte, o Options) (err error) {
	fail := func(err error) error { return fmt.Errorf("write %s: %w", name, err) }
	old, err := root.ReadFile(name)
	if err != nil {
		return fail(err)
	}
	temp, err := create(root, name, nil, Options{Perm: 0o600})
	if err != nil {
		return err
	}
	if err := temp.fill(data, nil, nil, o.Sync); err != nil {
		return fail(errors.Join(err, root.Remove(temp.name)))
	}
	if err := rewrite(file, data); err != nil {
		return fail(errors.Join(err, rewrite(file, old), root.Remove(temp.name)))
	}
	if o.Sync {
		err = file.Sync()
	}
	if err = errors.Join(err, root.Remove(temp.name)); err != nil {
		return fail(err)
	}
	return nil
}

// rewrite makes data the content of an open file.
func rewrite(file *os.File, data []byte) error {
	if _, err := file.WriteAt(data, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(data)))
}

// tempFile is the file that replaces the target.
type tempFile struct {
	*os.File
	name string // below the root
}

// create opens a new file with an unpredictable name beside the target.
func create(root *os.Root, name string, old fs.FileInfo, o Options) (tempFile, error) {
	perm := o.Perm
	switch {
	case old != nil:
		perm = 0o600 // until fill sets the mode of the old file
	case perm == 0:
		perm = 0o666
	}
	for try := 0; ; try++ {
		temp, err := tempName(name)
		if err != nil {
			return tempFile{}, fmt.Errorf("write %s: %w", name, err)
		}
		f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return tempFile{f, temp}, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 9 {
			return tempFile{}, fmt.Errorf("write %s: %w", name, err)
		}
	}
}

// tempName returns an unpredictable name beside another one.
func tempName(name string) (string, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(name), "."+text.Cut(filepath.Base(name), 200)+"."+hex.EncodeToString(random[:])+".tmp"), nil
}

// fill writes data and closes the file, which then has the old file's owner, attributes
// and mode.
func (t tempFile) fill(data []byte, old fs.FileInfo, before *os.File, sync bool) (err error) {
	defer func() { err = errors.Join(err, t.Close()) }()
	if _, err := t.Write(data); err != nil {
		return err
	}
	if old != nil {
		keepOwner(t.File, old) // first: a change of owner clears the setuid bits
		if before != nil {
			keepAttributes(t.File, before)
		}
		if err := keepMode(t.File, old.Mode()); err != nil {
			return err
		}
	}
	if sync {
		return t.Sync()
	}
	return nil
}

// IsTemporary reports whether a file's name is one that a write gives to what it has not finished: a process that
// was killed leaves such a file.
func IsTemporary(name string) bool {
	rest, ok := strings.CutSuffix(name, ".tmp")
	random := rest[strings.LastIndexByte(rest, '.')+1:]
	_, err := hex.DecodeString(random)
	return ok && err == nil && len(random) == 16 && len(rest) > len(random)+2 && rest[0] == '.'
}

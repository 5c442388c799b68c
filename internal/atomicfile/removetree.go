package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// maxCompared is the largest file whose bytes are compared before it is removed; of a larger one the size, the
// time and the identity are.
const maxCompared = 32 << 20

// Tree is what is at a path, with everything below it, as it was when the caller looked.
type Tree struct {
	entries map[string]fs.FileInfo // by the path below the top, with slashes; "." is the top
	data    []byte                 // of a file, if it is not too large
	held    bool                   // data was read
	link    string                 // of a link
}

// Look records what is at a name below root, so that Remove can see whether it is still the same.
func Look(root *os.Root, name string) (t Tree, err error) {
	info, err := root.Lstat(name)
	if err != nil {
		return t, fmt.Errorf("look at %s: %w", name, err)
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		t.link, err = root.Readlink(name)
	case info.Mode().IsRegular() && info.Size() <= maxCompared:
		t.data, err = root.ReadFile(name)
		t.held = err == nil
		if errors.Is(err, fs.ErrPermission) {
			err = nil // what can't be read can still be removed
		}
	}
	if err != nil {
		return t, fmt.Errorf("look at %s: %w", name, err)
	}
	t.entries, err = entries(root, name)
	return t, err
}

// entries returns the state of a path and of everything below it.
func entries(root *os.Root, name string) (map[string]fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	all := map[string]fs.FileInfo{".": info}
	if !info.IsDir() {
		return all, nil
	}
	top := filepath.ToSlash(name)
	err = fs.WalkDir(root.FS(), top, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && errors.Is(err, fs.ErrPermission) {
				return nil // a folder that can't be read: what is in it can't be removed either
			}
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if at != top {
			all[at[len(path.Clean(top))+1:]] = info
		}
		return nil
	})
	return all, err
}

// changed returns the first path below name that is not as it was, "" if all are. name may be another one
// than the tree was looked at.
func (t Tree) changed(root *os.Root, name string) (string, error) {
	if t.link != "" {
		if to, err := root.Readlink(name); err != nil || to != t.link {
			return ".", err
		}
	}
	if t.held {
		if now, err := root.ReadFile(name); err != nil || !bytes.Equal(now, t.data) {
			return ".", err
		}
	}
	now, err := entries(root, name)
	if err != nil {
		return "", err
	}
	for at, info := range now {
		if was := t.entries[at]; was == nil || !sameState(was, info) {
			return at, nil
		}
	}
	for at := range t.entries {
		if now[at] == nil {
			return at, nil
		}
	}
	return "", nil
}

// sameState reports whether a file is as it was. Of a folder only its kind counts: its content is compared.
func sameState(was, now fs.FileInfo) bool {
	if was.Mode() != now.Mode() || !os.SameFile(was, now) {
		return false
	}
	return was.IsDir() || was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// Remove removes what the caller looked at, with everything below it. It is taken aside in one step first, so
// that other programs do not find it any more, and compared: if one saved something in it since the caller looked,
// everything stays, and the error is a *ChangedError with that path.
func (t Tree) Remove(root *os.Root, name string) error {
	aside, err := tempName(name)
	if err != nil {
		return err
	}
	if err := rename(root, name, aside); err != nil {
		return t.removeInPlace(root, name) // it can't be moved: a mount point, a folder that a program holds
	}
	at, err := t.changed(root, aside)
	if at == "" && err == nil {
		if err = root.RemoveAll(aside); err == nil {
			return nil
		}
	}
	if back := putBack(root, aside, name); back != nil {
		return errors.Join(err, back)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return &ChangedError{Name: filepath.Join(name, filepath.FromSlash(at))}
}

func (t Tree) removeInPlace(root *os.Root, name string) error {
	at, err := t.changed(root, name)
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	if at != "" {
		return &ChangedError{Name: filepath.Join(name, filepath.FromSlash(at))}
	}
	return root.RemoveAll(name)
}

// putBack gives what was taken aside its name again. What another program has made there meanwhile stays.
func putBack(root *os.Root, aside, name string) error {
	_, err := root.Lstat(name)
	switch {
	case err == nil:
		return fmt.Errorf("another program made %s at this moment: what was there before is in %s", name, aside)
	case errors.Is(err, fs.ErrNotExist):
		err = rename(root, aside, name)
	}
	if err != nil {
		return fmt.Errorf("%s could not be put back, it is in %s: %w", name, aside, err)
	}
	return nil
}

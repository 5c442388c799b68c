package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"jcode/internal/paths"
)

// Was is what the caller read of a file before it replaces or removes it.
type Was struct {
	Exists bool
	Data   []byte
}

// ChangedError says that a file was no longer what the caller had read. It was left as it was found.
type ChangedError struct {
	Name string
	// Found is what it held instead; Gone says that there was no file.
	Found []byte
	Gone  bool
}

func (e *ChangedError) Error() string {
	return e.Name + ": another program changed it at this moment: it was left as it is, try again"
}

// Merge combines what the caller writes with what another program saved in the meantime; ok is false if
// that is not possible. A nil Merge combines nothing.
type Merge func(found []byte) (merged []byte, ok bool)

// Replaced says what was replaced and written.
type Replaced struct {
	// Found is what another program had saved since the caller read the file, nil if nobody had.
	Found []byte
	// Written is what the file holds: the caller's data, merged with Found if there is any.
	Written []byte
}

// replaceTries bounds how often a save of another program is merged.
const replaceTries = 6

// Replace is ReplaceIn for a path; see Write.
func Replace(path string, was Was, data []byte, merge Merge, o Options) (Replaced, error) {
	real, err := paths.Resolve(path)
	if err != nil {
		return Replaced{}, err
	}
	if err := os.MkdirAll(filepath.Dir(real), 0o777); err != nil {
		return Replaced{}, fmt.Errorf("write %s: %w", path, err)
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return Replaced{}, fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = root.Close() }() // only a handle
	return ReplaceIn(root, filepath.Base(real), was, data, merge, o)
}

// ReplaceIn is WriteIn for a file that the caller has read: a save of another program since then is not
// lost. Where the system can exchange two files in one step, what comes out is compared, and merged into
// another exchange if it is not what was read. Elsewhere the file is compared just before it is replaced.
// If nothing can be merged the file keeps what the other program saved, and the error is a *ChangedError.
func ReplaceIn(root *os.Root, name string, was Was, data []byte, merge Merge, o Options) (Replaced, error) {
	if !was.Exists {
		return Replaced{Written: data}, makeNew(root, name, data, o)
	}
	r := replacing{root: root, name: name, was: was.Data, merge: merge, o: o}
	for range replaceTries {
		again, err := r.once(data)
		if err != nil || !again {
			return r.done, err
		}
	}
	return r.done, &ChangedError{Name: name, Found: r.done.Found}
}

// makeNew writes a file that does not exist.
func makeNew(root *os.Root, name string, data []byte, o Options) error {
	if _, err := root.Lstat(name); err == nil {
		return found(root, name)
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	temp, err := create(root, name, nil, o)
	if err != nil {
		return err
	}
	defer func() { _ = root.Remove(temp.name) }() // the temporary file is not used by others
	if err := temp.fill(data, nil, nil, o.Sync); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	switch err := root.Link(temp.name, name); { // it never replaces anything
	case err == nil:
	case errors.Is(err, fs.ErrExist):
		return found(root, name)
	default: // a file system without links
		if _, err := root.Lstat(name); err == nil {
			return found(root, name)
		}
		if err := rename(root, temp.name, name); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if o.Sync {
		return syncDir(root, filepath.Dir(name))
	}
	return nil
}

// found returns the error for a file that is not what the caller had read.
func found(root *os.Root, name string) error {
	data, err := root.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return &ChangedError{Name: name, Found: data, Gone: err != nil}
}

// replacing is the replacement of one file.
type replacing struct {
	root  *os.Root
	name  string
	was   []byte // what the file must hold
	merge Merge
	o     Options
	done  Replaced
}

// once replaces the file, or learns that it holds something else, which the next try replaces: again.
func (r *replacing) once(data []byte) (again bool, err error) {
	if r.done.Found != nil {
		merged, ok := r.merged(r.done.Found)
		if !ok {
			return false, &ChangedError{Name: r.name, Found: r.done.Found}
		}
		data = merged
	}
	old, err := r.root.Lstat(r.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, found(r.root, r.name)
	case err != nil:
		return false, fmt.Errorf("write %s: %w", r.name, err)
	case !old.Mode().IsRegular():
		return false, fmt.Errorf("write %s: not a regular file (%s)", r.name, old.Mode().Type())
	}
	before, err := writable(r.root, r.name)
	if err != nil {
		return false, err
	}
	if before != nil {
		defer func() { _ = before.Close() }() // nothing was written to it
	}
	if before != nil && links(old) > 1 {
		if same, err := r.same(); !same || err != nil {
			return err == nil, err
		}
		r.done.Written = data
		return false, overwrite(r.root, r.name, before, data, r.o)
	}
	if before != nil {
		_ = before.Close() // held still, it may not be open for writing
	}
	again, err = r.swap(old, data)
	if err == nil && !again && r.o.Sync {
		err = syncDir(r.root, filepath.Dir(r.name))
	}
	return again, err
}

func (r *replacing) merged(found []byte) ([]byte, bool) {
	if r.merge == nil {
		return nil, false
	}
	return r.merge(found)
}

// same compares the file with what was read. If it differs, that is what must be merged.
func (r *replacing) same() (bool, error) {
	now, err := r.root.ReadFile(r.name)
	if err != nil {
		return false, fmt.Errorf("write %s: %w", r.name, err)
	}
	if bytes.Equal(now, r.was) {
		return true, nil
	}
	r.done.Found, r.was = now, now
	return false, nil
}

// swap puts new files in the place of the file until one has replaced what it was made from.
func (r *replacing) swap(old fs.FileInfo, data []byte) (again bool, err error) {
	fail := func(err error) error { return fmt.Errorf("write %s: %w", r.name, err) }
	for range replaceTries {
		temp, err := create(r.root, r.name, old, r.o)
		if err != nil {
			return false, err
		}
		defer func() { _ = r.root.Remove(temp.name) }() // it holds what was replaced, or what was not used
		before, err := openStill(r.root, r.name)
		if err != nil {
			return false, fail(errors.Join(err, temp.Close()))
		}
		defer func() { _ = before.Close() }() // nothing was written to it
		if err := temp.fill(data, old, before.file, r.o.Sync); err != nil {
			return false, fail(err)
		}
		before.hold()
		can, err := exchange(r.root, temp.name, r.name)
		switch {
		case err != nil:
			return false, fail(err)
		case !can:
			return r.rename(temp.name, old, data)
		}
		pause(old.ModTime())
		out, err := r.root.ReadFile(temp.name)
		switch {
		case err != nil:
			return false, errors.Join(fail(err), r.back(temp.name, nil, data))
		case bytes.Equal(out, r.was) && !before.disturbed():
			r.done.Written = data
			return false, nil
		}
		// Another program saved the file between the caller's look and the exchange, or is about to.
		if now, err := r.root.Lstat(temp.name); err != nil || os.SameFile(now, old) {
			return r.inPlace(temp.name, before, out, data)
		}
		r.done.Found = out
		merged, ok := r.merged(out)
		if !ok {
			return false, errors.Join(r.back(temp.name, out, data), &ChangedError{Name: r.name, Found: out})
		}
		r.was, data = data, merged
	}
	return false, &ChangedError{Name: r.name, Found: r.done.Found}
}

// inPlace puts a file back that another program may be writing in place at this moment, lets it go on, and
// waits until the file stays the same.
func (r *replacing) inPlace(temp string, file *still, out, data []byte) (again bool, err error) {
	if err := r.back(temp, out, data); err != nil {
		return false, err
	}
	_ = file.Close() // who waits for it may write
	if out, err = settled(r.root, r.name); err != nil {
		return false, fmt.Errorf("write %s: %w", r.name, err)
	}
	r.done.Found, r.was = out, out
	return true, nil
}

// rename replaces the file where nothing can be exchanged: after a last look.
func (r *replacing) rename(temp string, old fs.FileInfo, data []byte) (again bool, err error) {
	if same, err := r.same(); !same || err != nil {
		return err == nil, err
	}
	if now, err := r.root.Lstat(r.name); err != nil || !now.ModTime().Equal(old.ModTime()) || now.Size() != old.Size() || !os.SameFile(now, old) {
		return true, nil
	}
	if err := rename(r.root, temp, r.name); err != nil {
		return false, fmt.Errorf("write %s: %w", r.name, err)
	}
	r.done.Written = data
	return false, nil
}

// back takes an exchange back: the file is again what the other program saved. out is that, which the
// temporary file holds now, and data is what the file should hold.
func (r *replacing) back(temp string, out, data []byte) error {
	for range replaceTries {
		found, err := openStill(r.root, r.name)
		if err == nil {
			defer func() { _ = found.Close() }() // only a handle
			found.hold()
			_, err = exchange(r.root, temp, r.name)
		}
		if err != nil {
			return fmt.Errorf("write %s: what another program saved is in %s, it could not be put back: %w", r.name, temp, err)
		}
		now, err := r.root.ReadFile(temp)
		if err != nil || bytes.Equal(now, data) && !found.disturbed() {
			return err
		}
		// It saved once more in between, over what it found: the newest counts.
		data, out = out, now
	}
	return nil
}

// RemoveIn removes a file that the caller has read. If another program saved it since then, it stays, and
// the error is a *ChangedError.
func RemoveIn(root *os.Root, name string, was []byte) error {
	aside, err := tempName(name)
	if err == nil {
		err = rename(root, name, aside)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	now, err := root.ReadFile(aside)
	if err == nil && bytes.Equal(now, was) {
		return root.Remove(aside)
	}
	if err := root.Link(aside, name); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := rename(root, aside, name); err != nil {
			return fmt.Errorf("remove %s: what another program saved is in %s, it could not be put back: %w", name, aside, err)
		}
		return &ChangedError{Name: name, Found: now}
	}
	_ = root.Remove(aside) // its content is back, or was replaced by a newer one
	return errors.Join(err, &ChangedError{Name: name, Found: now})
}

// Remove is RemoveIn for a path whose folders are no links.
func Remove(path string, was []byte) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only a handle
	return RemoveIn(root, filepath.Base(path), was)
}

// The pause until a file that another program may still be writing is read again.
const (
	settlePause = 4 * time.Millisecond
	settleTries = 20
)

// settled reads a file that another program may be in the middle of writing: until it stays the same.
func settled(root *os.Root, name string) ([]byte, error) {
	data, err := root.ReadFile(name)
	for range settleTries {
		if err != nil {
			return nil, err
		}
		time.Sleep(settlePause)
		again, err := root.ReadFile(name)
		if err != nil || bytes.Equal(again, data) {
			return again, err
		}
		data = again
	}
	return data, err
}

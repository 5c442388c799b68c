package merge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"jcode/internal/atomicfile"
	"jcode/internal/diff"
	"jcode/internal/paths"
	"jcode/internal/worktree"
)

// Apply carries out the steps below a folder. If one fails, those before it
// are reverted. Folders that hold nothing any more are removed, as git does, except for cwd.
func Apply(dir, cwd string, steps []Step) (done Done, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Done{Nothing: true}, err
	}
	defer func() { _ = root.Close() }() // what was written is already closed
	p := putting{root: root}
	var wrote []*worktree.File
	put := func(name string, was, f *worktree.File) (*worktree.File, error) {
		done, err := p.put(name, was, f)
		for name = path.Dir(name); err == nil && f == nil && name != "."; name = path.Dir(name) {
			local := filepath.FromSlash(name)
			if paths.Within(filepath.Join(dir, local), cwd) || root.Remove(local) != nil {
				break // it holds something
			}
		}
		return done, err
	}
	for i, st := range steps {
		now, err := put(st.Path, st.Ours, st.Now)
		if err == nil {
			wrote = append(wrote, now)
			continue
		}
		if _, changed := errors.AsType[*atomicfile.ChangedError](err); changed {
			err = errors.New("another program saved it at this moment: it was left as it is; merge again")
		}
		done.Nothing = true
		err = fmt.Errorf("nothing was merged: %s: %w", st.Path, err)
		for n, back := range slices.Backward(steps[:i]) {
			if _, failed := put(back.Path, wrote[n], back.Ours); failed != nil {
				done.Nothing = false
				err = errors.Join(err, fmt.Errorf("%s could not be put back: %w", back.Path, failed))
			}
		}
		return done, err
	}
	done.Kept, done.Files = p.kept, map[string][]byte{}
	for i, f := range wrote {
		if f != nil && !f.Link {
			done.Files[steps[i].Path] = f.Data
		}
	}
	return done, nil
}

// Done is what a merge did to the main tree: what it wrote by path below the root, and where it kept what
// another program saved at this moment.
type Done struct {
	Files   map[string][]byte
	Nothing bool
	Kept    []Saved
}

// Saved is what another program saved in a file after it was read for a merge.
type Saved struct {
	Name        string // below the root, with slashes
	Read, Found []byte
}

// putting gives files of the main tree a new state. What another program saved in them since they were read is
// not lost.
type putting struct {
	root *os.Root
	kept []Saved
}

// put writes the new state of a file that was read; nil is no file. It returns what was written.
func (p *putting) put(name string, was, f *worktree.File) (*worktree.File, error) {
	local := filepath.FromSlash(name)
	if f == nil {
		return nil, p.remove(local, was)
	}
	dir := filepath.FromSlash(path.Dir(name))
	if err := p.root.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	info, err := p.root.Lstat(local)
	there := err == nil
	if there && (f.Link || !info.Mode().IsRegular()) {
		switch {
		case was != nil:
			err = p.remove(local, was)
		default: // a folder: what was in it was removed before
			err = removeEmpty(p.root, local, info)
		}
		if err != nil {
			return nil, err
		}
		there, was = false, nil
	}
	if f.Link {
		return f, p.root.Symlink(string(f.Data), local)
	}
	perm := fs.FileMode(0o666)
	if f.Exec {
		perm = 0o777
	}
	parent, err := p.root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = parent.Close() }() // the file in it is written
	base := path.Base(name)
	data, err := p.replace(parent, name, was, f.Data, atomicfile.Options{Perm: perm})
	if err != nil {
		return nil, err
	}
	written := &worktree.File{Data: data, Exec: f.Exec}
	if !there {
		return written, nil
	}
	switch mode := info.Mode().Perm(); {
	case f.Exec && mode&0o100 == 0:
		err = parent.Chmod(base, mode|mode&0o444>>2) // for everyone who may read it
	case !f.Exec && mode&0o100 != 0:
		err = parent.Chmod(base, mode&^0o111)
	}
	return written, err
}

// replace writes a file, merged with what another program saved in it since it was read.
func (p *putting) replace(parent *os.Root, name string, was *worktree.File, data []byte, o atomicfile.Options) ([]byte, error) {
	base := path.Base(name)
	read := atomicfile.Was{}
	if was != nil {
		read = atomicfile.Was{Exists: true, Data: was.Data}
	}
	done, err := atomicfile.ReplaceIn(parent, base, read, data, func(found []byte) ([]byte, bool) {
		theirs := &worktree.File{Data: found}
		if was == nil || !isText(was) || !isText(theirs) || !utf8.Valid(data) {
			return nil, false
		}
		merged, ok := diff.Merge(string(was.Data), string(data), string(found))
		return []byte(merged), ok
	}, o)
	if err == nil && done.Found != nil {
		p.kept = append(p.kept, Saved{name, read.Data, done.Found})
	}
	return done.Written, err
}

// remove removes a file or a link that was read.
func (p *putting) remove(local string, was *worktree.File) error {
	if was == nil || !was.Link {
		if was == nil {
			return p.root.Remove(local)
		}
		return atomicfile.RemoveIn(p.root, local, was.Data)
	}
	if to, err := p.root.Readlink(local); err != nil || to != string(was.Data) {
		return errors.Join(err, &atomicfile.ChangedError{Name: local})
	}
	return p.root.Remove(local)
}

// removeEmpty removes a link, or a folder that contains only folders.
func removeEmpty(root *os.Root, local string, info fs.FileInfo) error {
	if info.IsDir() {
		entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(local))
		if err != nil {
			return err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && !info.IsDir() {
				err = fmt.Errorf("%s holds %s", local, e.Name())
			}
			if err == nil {
				err = removeEmpty(root, filepath.Join(local, e.Name()), info)
			}
			if err != nil {
				return err
			}
		}
	}
	return root.Remove(local)
}

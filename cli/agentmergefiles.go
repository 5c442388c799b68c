package cli

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

// mergeStep is the new state of one file of the main tree; a nil File removes it.
type mergeStep struct {
	path      string // below the root, with slashes
	ours, now *worktree.File
}

// rank orders steps: what is removed comes first.
func (s mergeStep) rank() int {
	if s.now == nil {
		return 0
	}
	return 1
}

// readIn reads a file of the main tree; nil if it does not exist.
func readIn(root *os.Root, name string) (*worktree.File, error) {
	if blocker, err := blockingFile(root, name); err != nil || blocker != "" {
		return nil, err
	}
	local := filepath.FromSlash(name)
	info, err := root.Lstat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // a missing file is not an error
	case err != nil:
		return nil, err
	case info.IsDir(): // whether it is in the way is seen when all steps are known
		return nil, nil //nolint:nilnil // it is not a file
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(local)
		return &worktree.File{Data: []byte(to), Link: true}, err
	case !info.Mode().IsRegular():
		return nil, errors.New("here it is not a regular file: move it away")
	}
	data, err := root.ReadFile(local)
	return &worktree.File{Data: data, Exec: info.Mode()&0o100 != 0}, err
}

// blockingFile returns the parent folder of a path that is a file; "" for none.
func blockingFile(root *os.Root, name string) (string, error) {
	for i, r := range name {
		if r != '/' {
			continue
		}
		switch info, err := root.Stat(filepath.FromSlash(name[:i])); {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", err
		case !info.IsDir():
			return name[:i], nil
		}
	}
	return "", nil
}

// findObstacles adds a conflict for each file that cannot be written because a file is where its
// folder would be, or a folder with other files where it would be.
func (m *merging) findObstacles() error {
	removed := map[string]bool{}
	for _, st := range m.steps {
		removed[st.path] = st.now == nil
	}
	for _, st := range m.steps {
		if st.now == nil {
			continue
		}
		if blocker, err := blockingFile(m.root, st.path); err != nil {
			return fmt.Errorf("merge %s: %w", st.path, err)
		} else if blocker != "" && !removed[blocker] {
			m.conflict(st.path, blocker+" is a file\n", blocker+" is a folder\n")
		}
		info, err := m.root.Lstat(filepath.FromSlash(st.path))
		if err != nil || !info.IsDir() {
			continue // a folder in its way was named above
		}
		err = fs.WalkDir(m.root.FS(), st.path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !removed[name] {
				m.conflict(st.path, "it is a folder that holds "+name+"\n", "it is a file\n")
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("merge %s: %w", st.path, err)
		}
	}
	return nil
}

// applyMerge carries out the steps below a folder. If one fails, those before it
// are reverted. Folders that hold nothing any more are removed, as git does, except for cwd.
func applyMerge(dir, cwd string, steps []mergeStep) (done merged, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return merged{Nothing: true}, err
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
		now, err := put(st.path, st.ours, st.now)
		if err == nil {
			wrote = append(wrote, now)
			continue
		}
		if _, changed := errors.AsType[*atomicfile.ChangedError](err); changed {
			err = errors.New("another program saved it at this moment: it was left as it is; merge again")
		}
		done.Nothing = true
		err = fmt.Errorf("nothing was merged: %s: %w", st.path, err)
		for n, back := range slices.Backward(steps[:i]) {
			if _, failed := put(back.path, wrote[n], back.ours); failed != nil {
				done.Nothing = false
				err = errors.Join(err, fmt.Errorf("%s could not be put back: %w", back.path, failed))
			}
		}
		return done, err
	}
	done.kept, done.Files = p.kept, map[string][]byte{}
	for i, f := range wrote {
		if f != nil && !f.Link {
			done.Files[steps[i].path] = f.Data
		}
	}
	return done, nil
}

// merged is what a merge did to the main tree: what it wrote by path below the root, and where it kept what
// another program saved at this moment.
type merged struct {
	Files   map[string][]byte
	Nothing bool
	kept    []savedBeside
}

// savedBeside is what another program saved in a file after it was read for a merge.
type savedBeside struct {
	name        string
	read, found []byte
}

// putting gives files of the main tree a new state. What another program saved in them since they were read is
// not lost.
type putting struct {
	root *os.Root
	kept []savedBeside
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
		p.kept = append(p.kept, savedBeside{name, read.Data, done.Found})
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

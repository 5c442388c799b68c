package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"jcode/internal/atomicfile"
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

// applyMerge carries out the steps below a folder. If one fails, those before it are reverted.
// Folders that hold nothing any more are removed, as git does, except for cwd.
func applyMerge(dir, cwd string, steps []mergeStep) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is already closed
	put := func(name string, f *worktree.File) error {
		err := putIn(root, name, f)
		for name = path.Dir(name); err == nil && f == nil && name != "."; name = path.Dir(name) {
			local := filepath.FromSlash(name)
			if paths.Within(filepath.Join(dir, local), cwd) || root.Remove(local) != nil {
				break // it holds something
			}
		}
		return err
	}
	for i, st := range steps {
		err := put(st.path, st.now)
		if err == nil {
			continue
		}
		err = fmt.Errorf("nothing was merged: %s: %w", st.path, err)
		for _, back := range slices.Backward(steps[:i]) {
			err = errors.Join(err, put(back.path, back.ours))
		}
		return err
	}
	return nil
}

// putIn writes the new state of a file of the main tree; nil removes it.
func putIn(root *os.Root, name string, f *worktree.File) error {
	local := filepath.FromSlash(name)
	if f == nil {
		return root.Remove(local)
	}
	dir := filepath.FromSlash(path.Dir(name))
	if err := root.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	info, err := root.Lstat(local)
	there := err == nil
	if there && (f.Link || !info.Mode().IsRegular()) {
		if err := removeEmpty(root, local, info); err != nil {
			return err
		}
		there = false
	}
	if f.Link {
		return root.Symlink(string(f.Data), local)
	}
	perm := fs.FileMode(0o666)
	if f.Exec {
		perm = 0o777
	}
	parent, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = parent.Close() }() // the file in it is written
	base := path.Base(name)
	if err := atomicfile.WriteIn(parent, base, f.Data, atomicfile.Options{Perm: perm}); err != nil || !there {
		return err
	}
	switch mode := info.Mode().Perm(); {
	case f.Exec && mode&0o100 == 0:
		return parent.Chmod(base, mode|mode&0o444>>2) // for everyone who may read it
	case !f.Exec && mode&0o100 != 0:
		return parent.Chmod(base, mode&^0o111)
	}
	return nil
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

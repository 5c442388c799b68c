package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jcode/tools"
)

// enter opens the folder of a path that is read or changed. It descends folder by folder and
// follows no link, not even one that stays in the workspace: the path was resolved when it was
// judged, so a link in it was created since. The place's root is the folder that contains the
// path, or the last existing one on the way.
func (w *Workspace) enter(abs string) (place, error) {
	top := filepath.VolumeName(abs) + string(filepath.Separator)
	var root *os.Root
	shared := false // the root stays open
	if f, ok := w.folder(abs); ok {
		current, err := f.current()
		if err != nil {
			return place{}, fmt.Errorf("open %s: %w", f.path, err)
		}
		top, root, shared = f.path, current, true
	} else {
		opened, err := os.OpenRoot(top)
		if err != nil {
			return w.open(abs)
		}
		root = opened
	}
	rel, err := filepath.Rel(top, abs)
	if err != nil {
		return place{}, fmt.Errorf("open %s: %w", abs, err)
	}
	leave := func() {
		if !shared {
			_ = root.Close() // only a handle
		}
	}
	for {
		name, rest, more := strings.Cut(rel, string(filepath.Separator))
		if !more {
			return place{root, rel, abs, leave}, nil
		}
		next, err := step(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return place{root, rel, abs, leave}, nil
		case errors.Is(err, fs.ErrPermission):
			// A folder that may be passed but not read. Nobody but its owner changes it.
			leave()
			return w.open(abs)
		case err != nil:
			leave()
			return place{}, err
		}
		leave()
		root, rel, shared = next, rest, false
	}
}

// step opens a folder in another one, unless it is a link.
func step(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, turned(name)
	case !info.IsDir():
		return nil, fs.ErrNotExist // what is below a file does not exist
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = next.Close() // only a handle
		return nil, turned(name)
	}
	return next, nil
}

func turned(name string) error {
	return tools.Errorf(tools.KindPermission, "%s became a link or another folder meanwhile: nothing was done, try again", name)
}

// maxFolders limits how deep folders are created.
const maxFolders = 1000

// makeFolders creates a folder and its missing parents, following no link.
func (w *Workspace) makeFolders(abs string) error {
	for range maxFolders {
		p, err := w.enter(abs)
		if err != nil {
			return err
		}
		name, _, more := strings.Cut(p.name, string(filepath.Separator))
		err = p.root.Mkdir(name, 0o777)
		info, statErr := p.root.Lstat(name)
		p.close()
		switch {
		case err != nil && !errors.Is(err, fs.ErrExist):
			return err
		case statErr != nil:
			return statErr
		case !info.IsDir():
			return &fs.PathError{Op: "mkdir", Path: abs, Err: errNotFolder}
		case !more:
			return nil
		}
	}
	return &fs.PathError{Op: "mkdir", Path: abs, Err: errors.New("it is too deep")}
}

var errNotFolder = errors.New("a file of that name is in the way")

// settle returns the place with its folder created and entered: the name is the last part only.
func (w *Workspace) settle(p place) (place, error) {
	if dir := filepath.Dir(p.abs); filepath.Base(p.name) != p.name {
		if err := w.makeFolders(dir); err != nil {
			return place{}, err
		}
	}
	in, err := w.enter(p.abs)
	if err == nil && filepath.Base(in.name) != in.name {
		in.close()
		err = turned(filepath.Dir(in.name))
	}
	return in, err
}

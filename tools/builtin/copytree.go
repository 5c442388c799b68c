package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/paths"
	"jcode/tools"
)

// copyTree copies a file, a link or a folder with everything in it, and keeps modes. Anything else
// is an error. The source is not changed.
func copyTree(ctx context.Context, from, to place) error {
	return fs.WalkDir(from.root.FS(), filepath.ToSlash(from.name), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := filepath.FromSlash(path)
		rel, err := filepath.Rel(from.name, name)
		if err != nil {
			return err
		}
		info, err := from.root.Lstat(name)
		if err != nil {
			return err
		}
		target := filepath.Join(to.name, rel)
		switch mode := info.Mode(); {
		case mode.IsDir():
			return to.root.Mkdir(target, mode.Perm()|0o700)
		case mode&fs.ModeSymlink != 0:
			link, err := from.root.Readlink(name)
			if err != nil {
				return err
			}
			return to.root.Symlink(link, target)
		case mode.IsRegular():
			return copyFile(from.root, to.root, name, target, mode)
		}
		return tools.Errorf(tools.KindIO, "%s is neither a file, a folder nor a link: it can't be moved to another file system", path)
	})
}

func copyFile(from, to *os.Root, name, target string, mode fs.FileMode) (err error) {
	in, err := from.OpenFile(name, os.O_RDONLY|paths.NoWait, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := to.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return to.Chmod(target, mode.Perm())
}

package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
)

// maxCopied bounds a file that is copied though git ignores it, in bytes.
const maxCopied = 256 << 20

// copyIn copies a file, or links a folder, unless git supplies it. Nothing outside the original comes along,
// whatever a link there leads to.
func (t *Tree) copyIn(name string, tracked []string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s lies outside the repository: it is not copied into the worktree", name)
	}
	name = filepath.Clean(name)
	slashed := filepath.ToSlash(name)
	if slices.ContainsFunc(tracked, func(known string) bool { return known == slashed || strings.HasPrefix(known, slashed+"/") }) {
		return nil
	}
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it is only read
	to := filepath.Join(t.Dir, name)
	if shared, ok := t.shared(name); ok {
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(shared, to))
	}
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("worktree.copy: %s can't be copied, it may lead out of %s: %w", name, t.Root, err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch {
	case info.IsDir() && !ownFolder(t.Root, name):
		return t.copyLink(root, name, to)
	case info.IsDir():
		return os.Symlink(filepath.Join(t.Root, name), to)
	case !info.Mode().IsRegular():
		return fmt.Errorf("worktree.copy: %s is neither a file nor a folder", name)
	}
	return copyFile(root, name, to)
}

// shared returns where a link of the original leads, if that is a folder that the original may use anyway: in a
// copy of a copy, what the first copy links to.
func (t Tree) shared(name string) (string, bool) {
	to, err := os.Readlink(filepath.Join(t.Root, name))
	return to, err == nil && slices.Contains(t.Shared, to)
}

// ownFolder reports whether a path of a tree is a folder that no link leads to.
func ownFolder(root, name string) bool {
	return paths.Real(filepath.Join(root, name)) == filepath.Join(paths.Real(root), name)
}

// copyLink makes a link to a folder of the tree in the copy, where it means the same folder of the copy.
func (t *Tree) copyLink(root *os.Root, name, to string) error {
	target, err := root.Readlink(name)
	if err != nil || filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(filepath.ToSlash(name)), filepath.ToSlash(target)))) {
		return fmt.Errorf("worktree.copy: a link leads from %s to %s: name the folder itself", name, paths.Real(filepath.Join(t.Root, name)))
	}
	return os.Symlink(target, to)
}

func copyFile(root *os.Root, name, to string) (err error) {
	from, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("worktree.copy: %s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(from, maxCopied+1))
	if err != nil {
		return err
	}
	if len(data) > maxCopied {
		return fmt.Errorf("worktree.copy: %s has more than %d MB", name, maxCopied>>20)
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

// Linked returns the folders of the original that the copy links to. A link that was made to lead elsewhere since
// does not count.
func (t Tree) Linked() []string {
	var all []string
	for _, name := range t.Copied {
		name = filepath.Clean(name)
		if !filepath.IsLocal(name) || name == "." {
			continue
		}
		of, shared := t.shared(name)
		if !shared && !ownFolder(t.Root, name) {
			continue
		}
		to, err := os.Readlink(filepath.Join(t.Dir, name))
		if err == nil && (shared && to == of || !shared && to == filepath.Join(t.Root, name)) {
			all = append(all, paths.Real(to))
		}
	}
	return all
}

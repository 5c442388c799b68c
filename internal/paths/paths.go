// Package paths owns resolving a path to the file that it actually names.
//
// It must not know what the path is for, or what may be accessed.
package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is the number of links that one path may lead through, as in the Linux kernel.
const maxLinks = 40

// Resolve makes path absolute and follows every link in it, including a last one that leads to
// nothing. Names are spelled as in their folders, if the system accepts several spellings of a
// name. A part that does not exist yet is kept unchanged, so the result is the file that creating
// path would create. A loop of links is an error.
func Resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	// The common case costs one call.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return spelled(real), nil
	}
	links := 0
	done, rest := split(abs)
	for rest != "" {
		name, after, _ := strings.Cut(rest, string(filepath.Separator))
		rest = after
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrInvalid), NotDir(err):
			return filepath.Join(spelled(done), name, rest), nil
		case err != nil:
			return "", fmt.Errorf("resolve %s: %w", path, err)
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("resolve %s: too many links (a loop?)", path)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
		if filepath.IsAbs(target) {
			done, target = split(target)
		}
		rest = target + string(filepath.Separator) + rest
	}
	return spelled(done), nil
}

// Real is Resolve for a path that is only compared: if links can't be followed, as in a loop, it
// returns the path unresolved.
func Real(path string) string {
	real, err := Resolve(path)
	if err != nil {
		return filepath.Clean(path)
	}
	return real
}

// split splits an absolute path into its root and the rest.
func split(abs string) (root, rest string) {
	root = filepath.VolumeName(abs) + string(filepath.Separator)
	return root, strings.TrimPrefix(abs[min(len(root), len(abs)):], string(filepath.Separator))
}

// Within reports whether path is dir or below it. Both must be resolved.
func Within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

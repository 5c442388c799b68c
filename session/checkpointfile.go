package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
)

// The kinds of things at a path.
const (
	kindAbsent = "absent"
	kindFile   = "file"
	kindDir    = "dir"
	kindLink   = "link"
	kindOther  = "other" // a device, a pipe: never changed
)

// entry is what is at a path. Entries with equal kind, hash and mode are the same.
type entry struct {
	path string
	kind string
	hash string // of a file's content or a link's target
	mode uint32 // permission bits of files and folders
	note string // why the content is not kept
	// author is what changed the path, where that was not one of jcode's own tools.
	author string
	blob   *packed
}

func (e entry) same(o entry) bool { return e.kind == o.kind && e.hash == o.hash && e.mode == o.mode }

// look returns what is at the paths, and below those that are folders. With keep, it reads
// the contents too, as far as the limits allow.
func (c *Checkpoints) look(paths []string, keep bool) ([]entry, error) {
	var all []entry
	seen := map[string]bool{}
	room := c.limits.total
	for _, root := range paths {
		root = filepath.Clean(root)
		if !filepath.IsAbs(root) {
			return nil, fmt.Errorf("%s is not an absolute path", root)
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil && (path != root || !errors.Is(err, fs.ErrNotExist)) {
				return nil // what can't be read here, the tool can't read either
			}
			if seen[path] {
				return nil
			}
			if len(all) >= c.limits.entries {
				if keep {
					all = append(all, entry{path: fmt.Sprintf("files below %s beyond the first %d", root, c.limits.entries), kind: kindNote})
				}
				return filepath.SkipAll
			}
			seen[path] = true
			e, err := inspect(path, keep, min(c.limits.file, room))
			if err != nil {
				e = entry{path: path, kind: kindOther, note: "it could not be read when it was changed"}
			}
			if e.blob != nil {
				room -= e.blob.size
			}
			all = append(all, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// inspect returns what is at a path. With keep, it reads content of at most limit bytes too.
func inspect(path string, keep bool, limit int64) (entry, error) {
	e := entry{path: path, kind: kindAbsent}
	info, err := os.Lstat(path)
	if err != nil {
		if missing(err) {
			return e, nil
		}
		return e, err
	}
	e.mode = uint32(info.Mode().Perm())
	switch {
	case info.IsDir():
		e.kind = kindDir
		return e, nil
	case info.Mode()&fs.ModeSymlink != 0:
		e.kind, e.mode = kindLink, 0
		target, err := os.Readlink(path)
		if err != nil {
			return e, err
		}
		return e.content([]byte(target), keep)
	case !info.Mode().IsRegular():
		e.kind, e.mode = kindOther, 0
		return e, nil
	}
	e.kind = kindFile
	if !keep || info.Size() > limit {
		e.hash, err = hashFile(path)
		if keep {
			e.note = "too large to keep"
		}
		return e, err
	}
	data, err := paths.ReadFile(path, limit)
	if err != nil {
		return e, err
	}
	return e.content(data, keep)
}

// missing reports whether an error says that nothing is at a path, or that a parent of the
// path is a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || paths.NotDir(err)
}

func (e entry) content(data []byte, keep bool) (entry, error) {
	if !keep {
		e.hash = contentHash(data)
		return e, nil
	}
	b, err := pack(data)
	e.hash, e.blob = b.hash, &b
	return e, err
}

func hashFile(path string) (string, error) {
	f, err := paths.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// remove removes what is at the entry's path; a folder only if it is empty. was is the content of a file,
// if that is known: another one stays.
func (e entry) remove(was *[]byte) error {
	if e.kind == kindFile && was != nil {
		return atomicfile.Remove(e.path, *was)
	}
	return os.Remove(e.path)
}

// put creates the entry at its path, with content if it has any. What is there now is of the
// same kind, or nothing; was is the content of a file there, if that is known: another one stays.
func (e entry) put(content []byte, was *atomicfile.Was) error {
	switch e.kind {
	case kindDir:
		if err := os.MkdirAll(e.path, 0o777); err != nil {
			return err
		}
		return os.Chmod(e.path, fs.FileMode(e.mode))
	case kindFile:
		var err error
		if o := (atomicfile.Options{Perm: fs.FileMode(e.mode)}); was != nil {
			_, err = atomicfile.Replace(e.path, *was, content, nil, o)
		} else {
			err = atomicfile.Write(e.path, content, o)
		}
		if err != nil {
			return err
		}
		return os.Chmod(e.path, fs.FileMode(e.mode))
	case kindLink:
		if err := os.MkdirAll(filepath.Dir(e.path), 0o777); err != nil {
			return err
		}
		if err := os.Remove(e.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Symlink(string(content), e.path)
	}
	return fmt.Errorf("can't make a thing of kind %q", e.kind)
}

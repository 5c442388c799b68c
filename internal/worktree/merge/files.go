package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"jcode/internal/diff"
	"jcode/internal/text"
	"jcode/internal/worktree"
)

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

// mergeFile applies the change from base to theirs to ours; false if both changed the same place.
func mergeFile(base, ours, theirs *worktree.File) (*worktree.File, bool) {
	switch {
	case sameFile(ours, base), sameFile(ours, theirs):
		return theirs, true
	case base == nil || ours == nil || theirs == nil || base.Link || ours.Link || theirs.Link:
		return nil, false
	}
	merged := &worktree.File{Exec: ours.Exec}
	if ours.Exec == base.Exec {
		merged.Exec = theirs.Exec
	}
	switch {
	case bytes.Equal(ours.Data, base.Data), bytes.Equal(ours.Data, theirs.Data):
		merged.Data = theirs.Data
		return merged, true
	case bytes.Equal(theirs.Data, base.Data):
		merged.Data = ours.Data
		return merged, true
	case !isText(base) || !isText(ours) || !isText(theirs):
		return nil, false
	}
	data, ok := diff.Merge(string(base.Data), string(ours.Data), string(theirs.Data))
	merged.Data = []byte(data)
	return merged, ok
}

// isText reports whether a file can be merged and shown by lines.
func isText(f *worktree.File) bool { return utf8.Valid(f.Data) && bytes.IndexByte(f.Data, 0) < 0 }

func sameFile(a, b *worktree.File) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Link == b.Link && a.Exec == b.Exec && bytes.Equal(a.Data, b.Data)
}

// fileDiff shows what differs between two states of a file.
func fileDiff(name string, from, to *worktree.File) string {
	data := func(f *worktree.File) *string {
		if f == nil {
			return nil
		}
		s := string(f.Data)
		return &s
	}
	said := ""
	if from != nil && to != nil && from.Exec != to.Exec {
		said = fmt.Sprintf("%s: mode %s → %s\n", name, from.Mode(), to.Mode())
	}
	if (from == nil || isText(from)) && (to == nil || isText(to)) {
		return said + diff.Files(name, data(from), data(to)).Text
	}
	size := func(f *worktree.File) string {
		if f == nil {
			return "absent"
		}
		return text.Count(len(f.Data), "byte")
	}
	if from != nil && to != nil && bytes.Equal(from.Data, to.Data) {
		return said
	}
	return said + fmt.Sprintf("%s: binary, %s → %s\n", name, size(from), size(to))
}

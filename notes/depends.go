package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"jcode/internal/paths"
)

// The limits of what a note depends on.
const (
	maxDepends    = 5
	maxDependFile = 2 << 20 // bytes
)

// depend returns the files that a note depends on, with their present hashes.
func (s *Store) depend(files []string) (out []Dependency, err error) {
	if len(files) > maxDepends {
		return nil, fmt.Errorf("a note depends on at most %d files", maxDepends)
	}
	for _, name := range files {
		if name == "" {
			continue
		}
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(s.opts.Root, filepath.FromSlash(name))
		}
		real, err := paths.Inside(s.opts.Root, full)
		if err != nil {
			return nil, fmt.Errorf("%s is not in the project: name files relative to its root", name)
		}
		root := paths.Real(s.opts.Root)
		rel, err := filepath.Rel(root, real)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		hash := s.hash(rel)
		if hash == "" {
			return nil, fmt.Errorf("%s can't be read: name files of the project, of at most %d MB", name, maxDependFile>>20)
		}
		out = append(out, Dependency{filepath.ToSlash(rel), hash})
	}
	return out, nil
}

// hash returns a short hash of a file of the project, "" if it can't be read.
func (s *Store) hash(rel string) string {
	path := filepath.Join(s.opts.Root, filepath.FromSlash(rel))
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	key := rel + "\x00" + strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36)
	s.mu.Lock()
	sum, ok := s.sums[key]
	s.mu.Unlock()
	if ok {
		return sum
	}
	data, err := paths.ReadInside(s.opts.Root, path, maxDependFile)
	if err != nil {
		return ""
	}
	whole := sha256.Sum256(data)
	sum = hex.EncodeToString(whole[:6])
	s.mu.Lock()
	s.sums[key] = sum
	s.mu.Unlock()
	return sum
}

// changed lists the files that have another content than a note knew, or are gone.
func (s *Store) changed(list []Dependency) (out []string) {
	for _, d := range list {
		if s.hash(d.Path) != d.Hash {
			out = append(out, d.Path)
		}
	}
	return out
}

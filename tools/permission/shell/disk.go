package shell

import (
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/paths"
)

// disk answers questions about files. Each is put to the system once per line: a wrapper's words
// are judged as its own and again as those of the command that they may hold, at each level of
// nesting.
type disk struct {
	resolved map[string]string
	stats    map[string]stat
	hashes   map[string]hash
	matched  map[string]matches
	asked    int // questions that went to the system
}

type stat struct {
	info fs.FileInfo
	err  error
}

type hash struct {
	sum string
	err error
}

type matches struct {
	paths []string
	ok    bool
}

func newDisk() *disk {
	return &disk{resolved: map[string]string{}, stats: map[string]stat{}, hashes: map[string]hash{}, matched: map[string]matches{}}
}

// once returns the answer that is known for a path, or asks for it.
func once[T any](d *disk, known map[string]T, path string, ask func(string) T) T {
	answer, ok := known[path]
	if !ok {
		d.asked++
		answer = ask(path)
		known[path] = answer
	}
	return answer
}

// real returns the file that a path leads to.
func (d *disk) real(path string) string { return once(d, d.resolved, path, paths.Real) }

// stat is os.Stat.
func (d *disk) stat(path string) (fs.FileInfo, error) {
	s := once(d, d.stats, path, func(path string) stat {
		info, err := os.Stat(path)
		return stat{info, err}
	})
	return s.info, s.err
}

// hash returns the hash of a file's content.
func (d *disk) hash(path string) (string, error) {
	h := once(d, d.hashes, path, func(path string) hash {
		sum, err := hashFile(path)
		return hash{sum, err}
	})
	return h.sum, h.err
}

// matching returns the entries of a folder that fit one part of a pattern.
func (d *disk) matching(dir, part string) (paths []string, ok bool) {
	m := once(d, d.matched, filepath.Join(dir, part), func(string) matches {
		paths, ok := matching(dir, part)
		return matches{paths, ok}
	})
	return m.paths, m.ok
}

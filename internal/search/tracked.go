package search

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/internal/gitindex"
	"jcode/internal/paths"
)

// Tracked is the content of a repository's index: files that git sees although a rule ignores them. It is
// read on first use, and is safe for concurrent use.
type Tracked struct {
	file string // the index
	down string // leads from the repository's top to the walk's, with a last slash
	once sync.Once
	list []string // sorted
}

// TrackedIn returns what the repository that contains a folder tracks, nil outside a repository.
func TrackedIn(top string) *Tracked {
	repo, ok := repository(top)
	if !ok {
		return nil
	}
	down := relative(repo.top, top)
	if down != "" {
		down += "/"
	}
	return &Tracked{file: filepath.Join(repo.own, "index"), down: down}
}

// maxIndex is the largest index of git that is read, in bytes.
const maxIndex = 1 << 30

// has reports whether a file, or anything in a folder, is tracked. The path is below the
// walk's Top.
func (t *Tracked) has(path string, folder bool) bool {
	if t == nil {
		return false
	}
	t.once.Do(func() {
		if data, err := paths.ReadFile(t.file, maxIndex); err == nil { // a new repository has none
			for _, e := range gitindex.Parse(data) {
				t.list = append(t.list, e.Path)
			}
		}
	})
	path = t.down + path
	if folder {
		path += "/"
	}
	i, found := slices.BinarySearch(t.list, path)
	return found || folder && i < len(t.list) && strings.HasPrefix(t.list[i], path)
}

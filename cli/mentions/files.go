package mentions

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/search"
)

// mostFiles bounds the list of files that @ completes.
const mostFiles = 200_000

// Files lists the files below a folder for @, without ignored ones.
func Files(dir string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		names, err := search.Names(ctx, dir, mostFiles)
		for i, name := range names {
			names[i] = paths.Escape(name)
		}
		return names, err
	}
}

// Finder finds files of a folder by a part of their names.
type Finder struct {
	Dir    string
	Denied func(path string) bool // what must not be read
}

// Find returns the files that contain a query, those whose own name begins with it first. Ignored ones, and those that
// must not be read, are not among them.
func (f Finder) Find(ctx context.Context, query string, most int) ([]string, error) {
	names, err := search.Names(ctx, f.Dir, mostFiles)
	if err != nil {
		return nil, err
	}
	query = strings.ToLower(strings.TrimSpace(query))
	rank := func(name string) int {
		switch base := strings.ToLower(path.Base(name)); {
		case strings.HasPrefix(base, query):
			return 0
		case strings.Contains(base, query):
			return 1
		}
		return 2
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.Contains(strings.ToLower(n), query) })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a), len(b))) })
	var out []string
	for _, n := range names {
		if len(out) == most {
			break
		}
		if !f.Denied(filepath.Join(f.Dir, filepath.FromSlash(n))) {
			out = append(out, paths.Escape(n))
		}
	}
	return out, nil
}

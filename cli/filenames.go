package cli

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/tools"
	"jcode/tools/permission"
)

// maxFileNames bounds the list of files that @ completes.
const maxFileNames = 200_000

// fileNames lists the files below a folder for @, without ignored ones.
func fileNames(dir string) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		names, err := search.Names(ctx, dir, maxFileNames)
		for i, name := range names {
			names[i] = paths.Escape(name)
		}
		return names, err
	}
}

// sessionFiles finds files of a folder by a part of their names.
type sessionFiles struct {
	dir  string
	gate *permission.Gate
}

// find returns the files that contain a query, those whose own name begins with it first. Ignored ones, and those that
// must not be read, are not among them.
func (f sessionFiles) find(ctx context.Context, query string, most int) ([]string, error) {
	names, err := search.Names(ctx, f.dir, maxFileNames)
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
		if f.gate.Denied(tools.AccessRead, filepath.Join(f.dir, filepath.FromSlash(n))) == "" {
			out = append(out, paths.Escape(n))
		}
	}
	return out, nil
}

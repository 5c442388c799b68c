package plugins

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/diff"
	"jcode/internal/paths"
)

// Changes describes what an update changes: the rows that are added and removed, and the diffs of
// all files.
func (st *Staged) Changes() (rows []string, files string) {
	if st.Before == nil || st.Before.Bundle == nil {
		return nil, ""
	}
	lines := func(list []Row) []string {
		out := make([]string, len(list))
		for i, r := range list {
			out[i] = r.String()
		}
		return out
	}
	was, is := lines(st.Before.Bundle.Rows), lines(st.Bundle.Rows)
	for _, line := range was {
		if !slices.Contains(is, line) {
			rows = append(rows, "- "+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			rows = append(rows, "+ "+line)
		}
	}
	before, after := treeTexts(st.Before.Bundle.Dir), treeTexts(st.dir)
	all := maps.Clone(before)
	maps.Copy(all, after)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(diff.Files(name, before[name], after[name]).Text)
	}
	return rows, b.String()
}

// maxShown is the largest file whose changes are shown, in bytes.
const maxShown = 4 << 20

// treeTexts reads the files of a tree.
func treeTexts(dir string) map[string]*string {
	out := map[string]*string{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what cannot be read is not text
		}
		if data, err := paths.ReadFile(path, maxShown); err == nil {
			rel, _ := filepath.Rel(dir, path) // below dir
			s := string(data)
			out[filepath.ToSlash(rel)] = &s
		}
		return nil
	})
	return out
}

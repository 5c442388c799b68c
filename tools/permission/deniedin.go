package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/paths"
	"jcode/internal/system"
	"jcode/tools"
)

// DeniedIn is Denied for what is in a folder, for whoever asks about very many files. It returns what tells whether
// an access to the entry with a name is forbidden, nil if no rule forbids one. The folder is absolute and resolved.
func (g *Gate) DeniedIn(kind tools.AccessKind, dir string) func(name string) bool {
	deny := g.Rules().Deny
	if deniedPath(deny, g.places, kind, dir) != "" {
		return func(string) bool { return true }
	}
	var byName, others []Rule
	for _, r := range deny {
		switch {
		case !r.standsFor("", kind):
		case r.paths != nil && !r.paths.absolute && !r.paths.anchored:
			byName = append(byName, r)
		case r.paths == nil || r.paths.reaches(g.places.roots, dir):
			others = append(others, r)
		}
	}
	if !g.places.Inside(dir) { // such a pattern is one of the workspace
		byName, others = nil, append(others, byName...)
	}
	if byName == nil && others == nil {
		return nil
	}
	return func(name string) bool {
		for _, r := range byName {
			if matchAncestors(r.paths.glob, name, true) { // the folders above were judged with dir
				return true
			}
		}
		return len(others) > 0 && deniedPath(others, g.places, kind, filepath.Join(dir, name)) != ""
	}
}

// reaches reports whether a pattern with a place of its own may match something in a folder: what it begins with,
// up to its first wildcard, is above or below.
func (p *pathPattern) reaches(roots []string, dir string) bool {
	base, _ := doublestar.SplitPattern(p.glob)
	if strings.Contains(base, `\`) {
		return true
	}
	near := func(place string) bool {
		of := dir
		if system.FoldsNames() {
			place, of = strings.ToLower(place), strings.ToLower(of)
		}
		return paths.Within(place, of) || paths.Within(of, place)
	}
	base = filepath.FromSlash(base)
	if p.absolute {
		return near(base)
	}
	return slices.ContainsFunc(roots, func(root string) bool { return near(filepath.Join(root, base)) })
}

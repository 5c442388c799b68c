package permission

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/paths"
	"jcode/internal/system"
)

// pathPattern is a compiled file pattern. Patterns use slashes on every system.
type pathPattern struct {
	glob     string
	anchored bool // matches from the workspace's root, otherwise at any depth
	absolute bool
	literal  bool // without wildcards
}

func compilePath(s string) (*pathPattern, error) {
	p := &pathPattern{literal: !strings.ContainsAny(s, "*?[{")}
	s = filepath.ToSlash(s)
	switch {
	case strings.HasPrefix(s, "~/") || s == "~":
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, errors.New("~ needs a home folder")
		}
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		p.absolute, s = true, filepath.ToSlash(home)+s[1:]
	case path.IsAbs(s) || filepath.IsAbs(filepath.FromSlash(s)):
		p.absolute = true
	}
	s = strings.TrimPrefix(s, "./")
	p.anchored = strings.Contains(strings.TrimSuffix(s, "/"), "/")
	p.glob = strings.TrimSuffix(s, "/")
	if p.glob == "" {
		p.glob = "/"
	}
	if !doublestar.ValidatePattern(p.glob) {
		return nil, errors.New("the file pattern is not valid: close its brackets")
	}
	return p, nil
}

// match reports whether a path, or a folder that contains it, matches. The path is absolute and resolved;
// roots are the workspace's folders.
func (p *pathPattern) match(roots []string, file string) bool {
	if p.absolute {
		return matchAncestors(p.glob, filepath.ToSlash(file), false)
	}
	for _, root := range roots {
		if !paths.Within(root, file) {
			continue
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			continue
		}
		if rel == "." {
			// A pattern that covers everything in the root covers the root itself.
			return p.glob == "**" || p.glob == "*"
		}
		if matchAncestors(p.glob, filepath.ToSlash(rel), !p.anchored) {
			return true
		}
	}
	return false
}

// matchAncestors matches a slash path or any folder above it; byName compares only the last element of each.
func matchAncestors(glob, file string, byName bool) bool {
	if system.FoldsNames() {
		glob, file = strings.ToLower(glob), strings.ToLower(file)
	}
	for {
		subject := file
		if byName {
			subject = path.Base(file)
		}
		if ok, err := doublestar.Match(glob, subject); err == nil && ok {
			return true
		}
		up := path.Dir(file)
		if up == file || up == "." {
			return false
		}
		file = up
	}
}

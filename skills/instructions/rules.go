package instructions

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/frontmatter"
)

// rulesFolder holds rules: Markdown files that each may name in their front matter the files that they are about.
const rulesFolder = ".claude/rules"

// The limits of a folder of rules.
const (
	maxRules     = 200 // files
	maxRuleDepth = 5   // folders below it
)

// rule is a file of rules as it was looked at last.
type rule struct {
	mod   time.Time
	size  int64
	globs []string // of the files that it is about, below the folder that holds .claude; none for all
}

// rulesOf lists the files of rules of a folder of the project, sorted.
func (s *Set) rulesOf(dir string) []string {
	top := filepath.Join(dir, filepath.FromSlash(rulesFolder))
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		return nil
	}
	if !s.inside(top) {
		s.notice("%s leads out of the project and is not read", top)
		return nil
	}
	var list []string
	// What can't be read is as if it were not there; a link to a folder is not followed.
	_ = filepath.WalkDir(top+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(top, path)
		switch {
		case err != nil || relErr != nil:
			return nil
		case e.IsDir() && strings.Count(filepath.ToSlash(rel), "/") >= maxRuleDepth:
			return fs.SkipDir
		case e.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md"):
			return nil
		case len(list) == maxRules:
			s.notice("more than %d files in %s: the rest is left out", maxRules, s.show(top))
			return fs.SkipAll
		}
		list = append(list, path)
		return nil
	})
	return list
}

// about returns the patterns of the files that a file of rules is about; none means all.
func (s *Set) about(path string) []string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || !s.inside(path) || s.denied(path) {
		return nil // take says why it is not read
	}
	if known, ok := s.rules[path]; ok && known.mod.Equal(info.ModTime()) && known.size == info.Size() {
		return known.globs
	}
	r := rule{mod: info.ModTime(), size: info.Size()}
	if text, err := s.readText(path); err == nil {
		doc := frontmatter.Parse([]byte(text))
		if f, ok := doc.Get("paths"); ok && doc.Closed {
			r.globs = patterns(f.Value)
			for _, g := range r.globs {
				if !doublestar.ValidatePattern(g) {
					s.notice("%s:%d: paths: %q is no pattern of files and matches nothing", s.show(path), f.Line, g)
				}
			}
		}
	}
	if s.rules == nil {
		s.rules = map[string]rule{}
	}
	s.rules[path] = r
	return r.globs
}

// patterns returns the patterns of a value: a list, or a text with commas outside of braces.
func patterns(v frontmatter.Value) []string {
	all := v.List
	if v.Kind != frontmatter.List {
		depth := 0
		all = strings.FieldsFunc(v.String(), func(r rune) bool {
			switch r {
			case '{':
				depth++
			case '}':
				depth--
			}
			return r == ',' && depth == 0
		})
	}
	var out []string
	for _, g := range all {
		if g = strings.Trim(strings.TrimSpace(g), `"'`); g != "" {
			out = append(out, strings.TrimPrefix(g, "./"))
		}
	}
	return out
}

// matching takes the rules of a folder that are about a file and were not sent yet.
func (s *Set) matching(dir, file string) []*source {
	var list []*source
	for _, path := range s.rulesOf(dir) {
		globs := s.about(path)
		rel, err := filepath.Rel(dir, file)
		if err != nil || !matchesAny(globs, filepath.ToSlash(rel)) {
			continue
		}
		found := s.take(path, dir, false, 0)
		if len(found) > 0 {
			found[0].globs = globs
			if !slices.Contains(s.matched, path) {
				s.matched = append(s.matched, path)
			}
		}
		list = append(list, found...)
	}
	return list
}

func matchesAny(globs []string, rel string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := doublestar.Match(g, rel)
		return err == nil && ok
	})
}

// always takes the rules of a folder that are about all files, and those that were matched before.
func (s *Set) always(dir string) []*source {
	var list []*source
	for _, path := range s.rulesOf(dir) {
		globs := s.about(path)
		if len(globs) > 0 && !slices.Contains(s.matched, path) {
			continue
		}
		found := s.take(path, dir, false, 0)
		if len(found) > 0 {
			found[0].globs = globs
		}
		list = append(list, found...)
	}
	return list
}

// aboutRule is about for any file.
func (s *Set) aboutRule(path string) []string {
	if !isRule(path) {
		return nil
	}
	return s.about(path)
}

// isRule reports whether a file is one of rules, whose front matter is not for the model.
func isRule(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/"+rulesFolder+"/")
}

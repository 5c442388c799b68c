package instructions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
)

// Touch is told that work touches a file or folder, and gives the instructions of the
// folders on the way to it that were not given yet. ok is false when there are none.
// Paths outside the project have none.
func (s *Set) Touch(path string) (string, bool) {
	if s.opts.Root == "" {
		return "", false
	}
	real, err := paths.Resolve(path)
	if err != nil || !paths.Within(s.opts.Root, real) {
		return "", false
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		real = filepath.Dir(real)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded || !paths.Within(s.opts.Root, real) {
		return "", false
	}
	var list []*source
	for _, dir := range between(s.opts.Root, real) {
		found := s.folder(dir)
		if len(found) > 0 && !slices.Contains(s.touched, dir) && !slices.Contains(s.folders(), dir) {
			s.touched = append(s.touched, dir)
		}
		list = append(list, found...)
	}
	out := s.join(list)
	return out, out != ""
}

// Changes gives the new text of instructions that changed, came into being or went since
// they were given, else "". It costs a few stats.
func (s *Set) Changes() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return ""
	}
	var gone []string
	var fresh []*source
	for _, src := range slices.Clone(s.given) {
		info, err := os.Stat(src.path)
		switch {
		case err != nil || !info.Mode().IsRegular():
			gone = append(gone, s.show(src.path))
			s.forget(src)
		case info.ModTime() != src.mod || info.Size() != src.size:
			old := src.text
			s.forget(src)
			for _, n := range s.take(src.path, src.folder, src.personal, 0) {
				if n.path != src.path || n.text != old {
					fresh = append(fresh, n)
				}
			}
		}
	}
	if s.opts.Config != "" {
		fresh = append(fresh, s.take(filepath.Join(s.opts.Config, names[0]), "", true, 0)...)
	}
	for _, dir := range s.folders() {
		fresh = append(fresh, s.folder(dir)...)
	}
	var b strings.Builder
	if len(gone) > 0 {
		b.WriteString("These instructions were removed and no longer hold: " + strings.Join(gone, ", ") + ".")
	}
	if body := s.join(fresh); body != "" {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("These instructions are new, or changed and replace what stood there before:\n\n" + body)
	}
	return b.String()
}

func (s *Set) forget(src *source) {
	s.given = slices.DeleteFunc(s.given, func(g *source) bool { return g == src })
}

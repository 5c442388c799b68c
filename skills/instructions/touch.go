package instructions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
)

// News are instructions that are sent between two steps.
type News struct {
	// Text is for the model.
	Text string
	// Short says in a line, for the person, what Text holds.
	Short string
}

// Touch is called when work touches a file or folder. It returns the instructions of the
// folders from the root down to it that were not sent yet; ok is false if there are none.
// Paths outside the project have none.
func (s *Set) Touch(path string) (news News, ok bool) {
	if s.opts.Root == "" {
		return News{}, false
	}
	real, err := paths.Resolve(path)
	if err != nil || !paths.Within(s.opts.Root, real) {
		return News{}, false
	}
	file := real
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		real = filepath.Dir(real)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded || !paths.Within(s.opts.Root, real) {
		return News{}, false
	}
	var list []*source
	for _, dir := range between(s.opts.Root, real) {
		found := append(s.folder(dir), s.matching(dir, file)...)
		if len(found) > 0 && !slices.Contains(s.touched, dir) && !slices.Contains(s.folders(), dir) {
			s.touched = append(s.touched, dir)
		}
		list = append(list, found...)
	}
	out := s.join(list)
	return News{Text: out, Short: "instructions of " + s.showAll(list)}, out != ""
}

func (s *Set) showAll(list []*source) string {
	shown := make([]string, len(list))
	for i, src := range list {
		shown[i] = s.show(src.path)
	}
	return strings.Join(shown, ", ")
}

// Changes returns the text of instructions that were changed or added since they were last sent,
// and says which were removed. ok is false if nothing changed. It costs a few stat calls.
func (s *Set) Changes() (news News, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return News{}, false
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
				if n.path == src.path {
					n.globs = s.aboutRule(n.path)
				}
				if n.path != src.path || n.text != old {
					fresh = append(fresh, n)
				}
			}
		}
	}
	fresh = append(fresh, s.own()...)
	for _, dir := range s.folders() {
		fresh = append(fresh, s.folder(dir)...)
	}
	var parts, short []string
	if len(gone) > 0 {
		names := strings.Join(gone, ", ")
		parts = append(parts, "These instructions were removed and no longer apply: "+names+".")
		short = append(short, "instructions removed: "+names)
	}
	if body := s.join(fresh); body != "" {
		parts = append(parts, "These instructions are new, or changed and replace what stood there before:\n\n"+body)
		short = append(short, "instructions changed: "+s.showAll(fresh))
	}
	return News{Text: strings.Join(parts, "\n\n"), Short: strings.Join(short, "; ")}, parts != nil
}

// Rewound is called when messages were removed from the history: instructions that were sent
// after the last Prompt are sent again when work touches their folder.
func (s *Set) Rewound() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = slices.DeleteFunc(s.given, func(g *source) bool { return !g.prompt })
	s.touched = slices.DeleteFunc(s.touched, func(dir string) bool {
		return !slices.ContainsFunc(s.given, func(g *source) bool { return g.folder == dir })
	})
	s.matched = slices.DeleteFunc(s.matched, func(path string) bool {
		return !slices.ContainsFunc(s.given, func(g *source) bool { return g.path == path })
	})
}

func (s *Set) forget(src *source) {
	s.given = slices.DeleteFunc(s.given, func(g *source) bool { return g == src })
}

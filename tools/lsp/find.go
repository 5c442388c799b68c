package lsp

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/text"
)

// lookFor is how long jcode remembers whether a program is installed.
const lookFor = 30 * time.Second

type looked struct {
	path, own string
	at        time.Time
}

// installed finds a server's program: the path that is configured, PATH, or, if the project is trusted, what it
// has itself: in its node_modules, or in an environment that is active. "" means that it is not installed.
func (m *Manager) installed(s Server, root string) string {
	name := s.Command[0]
	if strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(m.opts.Root, name)
		}
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name
		}
		return ""
	}
	l := m.looked(name)
	if l.path != "" || m.opts.Trusted == nil || !m.opts.Trusted() {
		return l.path
	}
	for dir := range upwards(root, m.opts.Root) {
		own := filepath.Join(dir, "node_modules", ".bin", name)
		if info, err := os.Stat(own); err == nil && !info.IsDir() {
			return own
		}
	}
	return l.own
}

// looked finds a program in PATH, and remembers it for a while.
func (m *Manager) looked(name string) looked {
	m.mu.Lock()
	l, ok := m.found[name]
	m.mu.Unlock()
	if ok && time.Since(l.at) < lookFor {
		return l
	}
	l = looked{at: time.Now()}
	path, err := m.opts.Programs.Find(name)
	var passed *launch.PassedOver
	switch {
	case err == nil:
		l.path = path
	case errors.As(err, &passed) && m.ofWorkspace(passed.Path):
		l.own = passed.Path
	}
	m.mu.Lock()
	m.found[name] = l
	m.mu.Unlock()
	return l
}

// ofWorkspace reports whether a program is the workspace's own.
func (m *Manager) ofWorkspace(program string) bool {
	for _, root := range m.opts.Roots {
		if paths.Within(root, program) || paths.Within(root, paths.Real(program)) {
			return true
		}
	}
	return false
}

// commandLine is what a person is asked about, and what an answer holds for: a program of the workspace is named
// with its folder, as another one of its name is not meant.
func (m *Manager) commandLine(s Server, program string) string {
	words := slices.Clone(s.Command)
	if m.ofWorkspace(program) {
		words[0] = program
	}
	return text.Visible(strings.Join(words, " "))
}

// upwards yields a folder and those above it, up to top.
func upwards(dir, top string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for paths.Within(top, dir) && yield(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
	}
}

// rootOf finds the folder in which a server works on a file: the nearest one upwards with a
// marker, or the farthest for a marker with "^", never outside the workspace.
func (m *Manager) rootOf(s Server, path string) (root string, ok bool) {
	top := ""
	for _, dir := range m.opts.Roots {
		if paths.Within(dir, path) && len(dir) > len(top) {
			top = dir
		}
	}
	if top == "" {
		return "", false
	}
	for _, marker := range s.Roots {
		name, outermost := strings.CutPrefix(marker, "^")
		found := ""
		for dir := range upwards(filepath.Dir(path), top) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				if found = dir; !outermost {
					break
				}
			}
		}
		if found != "" {
			return found, true
		}
	}
	// A single file may have a server too, but a whole workspace without a sign of the language
	// must not be read: the file's folder is the root.
	if len(s.Roots) > 0 && !s.Own {
		return filepath.Dir(path), true
	}
	return top, true
}

// choose finds the server for a file, with its root and program. ok is false if none is
// configured or installed.
func (m *Manager) choose(path string) (s Server, root, program string, ok bool) {
	for _, s := range m.list() {
		if !s.serves(path) {
			continue
		}
		root, ok := m.rootOf(s, path)
		if !ok {
			return Server{}, "", "", false
		}
		if program := m.installed(s, root); program != "" {
			return s, root, program, true
		}
	}
	return Server{}, "", "", false
}

// Available returns the installed servers for the languages at the top of the workspace: in the
// folder where jcode was started, and in its roots.
func (m *Manager) Available() []Server {
	names := m.topNames()
	var out []Server
	for _, s := range m.list() {
		if s.fits(names) && m.installed(s, m.opts.Root) != "" {
			out = append(out, s)
		}
	}
	return out
}

// topNames are the names of the entries at the top of the workspace.
func (m *Manager) topNames() map[string]bool {
	names := map[string]bool{}
	for _, dir := range append([]string{m.opts.Start}, m.opts.Roots...) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // then nothing is offered for it
		}
		for _, e := range entries[:min(len(entries), 2000)] {
			names[e.Name()] = true
		}
	}
	return names
}

// fits reports whether names include a root marker of the server, or one of its files if it has
// no markers.
func (s Server) fits(names map[string]bool) bool {
	for _, marker := range s.Roots {
		if names[strings.TrimPrefix(marker, "^")] {
			return true
		}
	}
	if len(s.Roots) > 0 && !s.Own {
		return false
	}
	for name := range names {
		if s.serves(name) {
			return true
		}
	}
	return false
}

// Installed is one server that jcode knows, for `jcode doctor`.
type Installed struct {
	Name, Program string // Program is "" if it is not installed
	Fits          bool   // the workspace shows its language
}

// Installed returns all servers that are known or configured.
func (m *Manager) Installed() []Installed {
	names := m.topNames()
	out := make([]Installed, 0, len(m.list()))
	for _, s := range m.list() {
		out = append(out, Installed{s.Name, m.installed(s, m.opts.Root), s.fits(names)})
	}
	return out
}

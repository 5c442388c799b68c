package lsp

import (
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/paths"
)

// lookFor is how long jcode remembers whether a program is installed.
const lookFor = 30 * time.Second

type looked struct {
	path string
	at   time.Time
}

// installed finds a server's program: the path that is configured, the project's own node_modules
// if the project is trusted, or PATH. "" means that it is not installed.
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
	if m.opts.Trusted != nil && m.opts.Trusted() {
		for dir := range upwards(root, m.opts.Root) {
			own := filepath.Join(dir, "node_modules", ".bin", name)
			if info, err := os.Stat(own); err == nil && !info.IsDir() {
				return own
			}
		}
	}
	m.mu.Lock()
	l, ok := m.found[name]
	m.mu.Unlock()
	if ok && time.Since(l.at) < lookFor {
		return l.path
	}
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		path = "" // not installed, or it is where jcode was started
	}
	m.mu.Lock()
	m.found[name] = looked{path, time.Now()}
	m.mu.Unlock()
	return path
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

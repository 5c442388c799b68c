package lsp

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
)

// lookFor is how long jcode remembers whether a program is installed.
const lookFor = 30 * time.Second

// maxEntries bounds how many entries of one folder are examined.
const maxEntries = 2000

type looked struct {
	path, own string
	at        time.Time
}

// finder finds the programs of servers, and the folders on which they work.
type finder struct {
	root     string   // the project's
	roots    []string // the workspace's folders
	programs launch.Programs
	trusted  func() bool // may be nil

	mu    sync.Mutex
	found map[string]looked
}

// program is the file that starts a server.
type program struct {
	path string
	// own says that it belongs to the project: whoever wrote that decides what it does.
	own bool
}

// installed finds a server's program: the path that is configured, PATH without the workspace's folders, or, if
// the project is trusted, its own programs. The zero value means that it is not installed.
func (p *finder) installed(s Server, root string) program {
	name := s.Command[0]
	if strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.root, name)
		}
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return program{name, p.inWorkspace(name)}
		}
		return program{}
	}
	l := p.looked(name)
	if l.path != "" {
		return program{l.path, false}
	}
	if p.trusted == nil || !p.trusted() {
		return program{}
	}
	for dir := range upwards(root, p.root) {
		for _, bin := range []string{"node_modules/.bin", ".venv/bin", "venv/bin", ".venv/Scripts", "venv/Scripts"} {
			for _, ending := range []string{"", ".exe", ".cmd"} {
				own := filepath.Join(dir, filepath.FromSlash(bin), name+ending)
				if info, err := os.Stat(own); err == nil && !info.IsDir() {
					return program{own, true}
				}
			}
		}
	}
	if l.own != "" {
		return program{l.own, true}
	}
	return program{}
}

// inWorkspace reports whether a path lies in the workspace, where it can be written.
func (p *finder) inWorkspace(path string) bool {
	real := paths.Real(path)
	return slices.ContainsFunc(p.roots, func(dir string) bool { return paths.Within(dir, real) || paths.Within(dir, path) })
}

// looked finds a program in PATH, and remembers it for a while.
func (p *finder) looked(name string) looked {
	p.mu.Lock()
	l, ok := p.found[name]
	p.mu.Unlock()
	if ok && time.Since(l.at) < lookFor {
		return l
	}
	l = looked{at: time.Now()}
	path, err := p.programs.Find(name)
	var passed *launch.PassedOver
	switch {
	case err == nil:
		l.path = path
	case errors.As(err, &passed) && p.inWorkspace(passed.Path):
		l.own = passed.Path // of an active environment
	}
	p.mu.Lock()
	p.found[name] = l
	p.mu.Unlock()
	return l
}

// upwards yields a folder and those above it, up to top.
func upwards(dir, top string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for paths.Within(top, dir) && yield(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
	}
}

// folderOf returns the workspace's folder of a file, "" if it is outside.
func (p *finder) folderOf(path string) (top string) {
	for _, dir := range p.roots {
		if paths.Within(dir, path) && len(dir) > len(top) {
			top = dir
		}
	}
	return top
}

// rootOf finds the folder in which a server works on a file, never outside the workspace: the nearest one upwards
// with a marker, the farthest for a marker with "^", or the workspace's folder.
func (p *finder) rootOf(s Server, path string) (root string, ok bool) {
	top := p.folderOf(path)
	if top == "" {
		return "", false
	}
	for _, marker := range s.Roots {
		if s.Whole {
			break
		}
		name, outermost := strings.CutPrefix(marker, "^")
		found := ""
		for dir := range upwards(filepath.Dir(path), top) {
			if hasMarker(dir, name) {
				if found = dir; !outermost {
					break
				}
			}
		}
		if found != "" {
			return found, true
		}
	}
	if !everything(top) {
		return top, true
	}
	// A server must not read a whole home folder: the project is the folder in it.
	rest, err := filepath.Rel(top, filepath.Dir(path))
	first, _, _ := strings.Cut(filepath.ToSlash(rest), "/")
	if err != nil || first == "." {
		return filepath.Dir(path), true
	}
	return filepath.Join(top, first), true
}

// everything reports whether a folder is somebody's home, or contains it.
func everything(dir string) bool {
	home, err := os.UserHomeDir()
	return dir == filepath.Dir(dir) || err == nil && paths.Within(dir, paths.Real(home))
}

// hasMarker reports whether a folder contains a file of this name, or one that fits the pattern.
func hasMarker(dir, name string) bool {
	if !strings.ContainsRune(name, '*') {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries[:min(len(entries), maxEntries)], func(e os.DirEntry) bool { return isMarker(name, e.Name()) })
}

func isMarker(pattern, name string) bool {
	ok, err := filepath.Match(strings.TrimPrefix(pattern, "^"), name)
	return err == nil && ok
}

// choose finds the server for a file, with its root and program. ok is false if none is
// configured or installed.
func (m *Manager) choose(path string) (s Server, root string, from program, ok bool) {
	for _, s := range m.list() {
		if !s.serves(path) {
			continue
		}
		root, ok := m.finder.rootOf(s, path)
		if !ok {
			return Server{}, "", program{}, false
		}
		if from := m.finder.installed(s, root); from.path != "" {
			return s, root, from, true
		}
	}
	return Server{}, "", program{}, false
}

// Available returns the installed servers for the languages at the top of the workspace: in the
// folder where jcode was started, and in its roots.
func (m *Manager) Available() []Server {
	names := m.topNames()
	var out []Server
	for _, s := range m.list() {
		if s.fits(names) && m.finder.installed(s, m.opts.Root).path != "" {
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
		for _, e := range entries[:min(len(entries), maxEntries)] {
			names[e.Name()] = true
		}
	}
	return names
}

// fits reports whether names include a root marker of the server, or one of its files if it has
// no markers.
func (s Server) fits(names map[string]bool) bool {
	for _, marker := range s.Roots {
		for name := range names {
			if isMarker(marker, name) {
				return true
			}
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
		out = append(out, Installed{s.Name, m.finder.installed(s, m.opts.Root).path, s.fits(names)})
	}
	return out
}

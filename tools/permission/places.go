package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"jcode/internal/paths"
	"jcode/internal/protected"
)

// Places are the folders by which paths are judged. All are absolute; New resolves links.
type Places struct {
	// Roots are the workspace: the project's root, then added folders.
	Roots []string
	// Start is the folder in which relative paths begin; "" means the first root.
	Start string
	// Home is the person's home folder.
	Home string
	// Config and Data are jcode's own folders.
	Config, Data string
	// Protected are additional patterns of protected files, as in rules (".env").
	Protected []string
	// Hooks returns the resolved folders and files from which git runs hooks, besides its own folder. May be
	// nil.
	Hooks func() []string
}

// places is Places, resolved.
type places struct {
	roots, own []string
	start      string // where relative paths begin
	config     string // jcode's own folder of settings
	home       string
	extra      []*pathPattern
	hooks      func() []string
}

func newPlaces(p Places) (places, error) {
	out := places{hooks: p.Hooks}
	resolve := func(dir string) string {
		if dir == "" {
			return ""
		}
		return paths.Real(dir)
	}
	for _, r := range p.Roots {
		out.roots = append(out.roots, resolve(r))
	}
	if out.start = resolve(p.Start); out.start == "" && len(out.roots) > 0 {
		out.start = out.roots[0]
	}
	out.home = resolve(p.Home)
	out.config = resolve(p.Config)
	for _, dir := range []string{p.Config, p.Data} {
		if dir != "" {
			out.own = append(out.own, resolve(dir))
		}
	}
	for _, text := range p.Protected {
		pattern, err := compilePath(text)
		if err != nil {
			return out, err
		}
		out.extra = append(out.extra, pattern)
	}
	return out, nil
}

// Roots returns the workspace's folders, resolved.
func (p places) Roots() []string { return p.roots }

// Start returns where jcode was started, resolved.
func (p places) Start() string { return p.start }

// around returns the folder that a wider answer about a path may cover: the path if it is a folder, otherwise the
// one that holds it. It is "" if that is as much as the whole disk or home folder.
func (p places) around(path string) string {
	folder := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		folder = filepath.Dir(path)
	}
	if folder == filepath.Dir(folder) || p.home != "" && paths.Within(folder, p.home) {
		return ""
	}
	return folder
}

// Home returns the person's home folder, resolved.
func (p places) Home() string { return p.home }

// Inside reports whether a resolved path is in the workspace.
func (p places) Inside(file string) bool {
	return slices.ContainsFunc(p.roots, func(r string) bool { return paths.Within(r, file) })
}

// Show writes a path as a person would: relative to the folder in which relative paths begin, to an added
// folder, or to ~.
func (p places) Show(file string) string {
	for i, r := range p.roots {
		from := r
		if i == 0 {
			from = p.start
		}
		if rel, err := filepath.Rel(from, file); err == nil && paths.Within(r, file) {
			return filepath.ToSlash(rel)
		}
	}
	if p.home != "" && paths.Within(p.home, file) {
		if rel, err := filepath.Rel(p.home, file); err == nil {
			return "~/" + filepath.ToSlash(rel)
		}
	}
	return file
}

// inWorktree reports whether a file is in a worktree below jcode's own folder that is the workspace: a
// sub-agent works there.
func (p places) inWorktree(own, file string) bool {
	return slices.ContainsFunc(p.roots, func(root string) bool {
		return paths.Within(filepath.Join(own, "worktrees"), root) && paths.Within(root, file)
	})
}

// protects returns a function that says why a change of a path is shown in every mode; "" if it is not. It
// serves one call: links are followed once.
func (p places) protects() func(file string) string {
	targets := sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		if p.config != "" {
			for _, target := range protected.LinksIn(p.config) {
				out[target] = "jcode's own files"
			}
		}
		for _, target := range protected.Targets(p.home) {
			out[target] = string(protected.Account)
		}
		return out
	})
	return func(file string) string {
		if why := p.protected(file); why != "" {
			return why
		}
		for target, why := range targets() {
			if paths.Within(target, file) {
				return why
			}
		}
		return ""
	}
}

// protected judges a path by its name and place alone.
func (p places) protected(file string) string {
	for _, dir := range p.own {
		if paths.Within(dir, file) && !p.inWorktree(dir, file) {
			return "jcode's own files"
		}
	}
	for _, part := range strings.Split(filepath.ToSlash(file), "/") {
		if kind := protected.Name(part); kind != "" {
			return string(kind)
		}
	}
	if protected.InGitFolder(file) {
		return string(protected.Git)
	}
	if p.home != "" && paths.Within(p.home, file) {
		if rel, err := filepath.Rel(p.home, file); err == nil && protected.InHome(filepath.ToSlash(rel)) != "" {
			return string(protected.Account)
		}
	}
	if p.hooks != nil {
		for _, dir := range p.hooks() {
			if paths.Within(dir, file) {
				return string(protected.Hooks)
			}
		}
	}
	for _, pattern := range p.extra {
		if pattern.match(p.roots, file) {
			return "protected by your configuration"
		}
	}
	return ""
}

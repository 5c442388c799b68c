package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/secret"
)

// maxChecked bounds how many files of a workspace are compared with the rules that forbid reading.
const maxChecked = 20_000

// deniedHere returns the files below the working folder that rules forbid to read, tracked by git or not, one
// of them that is in a repository inside, and whether these are all.
func (a *analysis) deniedHere() (files []string, nested string, whole bool) {
	root, checked := a.disk.real(a.Dir), 0
	inner := ""
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be read is not printed
		}
		if checked++; checked > maxChecked {
			return fs.SkipAll
		}
		if d.Name() == ".git" {
			if filepath.Dir(path) != root {
				inner = filepath.Dir(path)
			}
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if path == root || a.Denied(path) == "" {
			return nil
		}
		files = append(files, path)
		if inner != "" && strings.HasPrefix(path, inner+string(filepath.Separator)) {
			nested = path
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return files, nested, err == nil && checked <= maxChecked
}

// searchesUntracked reports whether git grep is told to read more than the files that git tracks.
func searchesUntracked(args []word) bool {
	args = skipGlobal(args)
	return len(args) > 0 && (args[0].text == "grep" || args[0].text == "diff") && slices.ContainsFunc(args[1:], func(w word) bool {
		return w.dynamic || strings.HasPrefix(w.text, "--no-i") || strings.HasPrefix(w.text, "--unt") || strings.HasPrefix(w.text, "--no-exc")
	})
}

// entersSubmodules reports whether git is told to print what is in submodules.
func entersSubmodules(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		return w.dynamic || strings.HasPrefix(w.text, "--recurse-s") || strings.HasPrefix(w.text, "--submodule") && w.text != "--submodule=short"
	})
}

// tellsAddresses reports whether a git command prints the addresses of remotes.
func tellsAddresses(args []word) bool {
	args = skipGlobal(args)
	return len(args) > 1 && (args[0].text == "remote" || args[0].text == "ls-remote")
}

// keyInRemotes reports whether a git configuration that counts in a folder has an address with a key.
func keyInRemotes(dir string) bool {
	var files []string
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"))
	}
	for up := dir; ; up = filepath.Dir(up) {
		git := filepath.Join(up, ".git")
		if info, err := os.Stat(git); err == nil {
			if !info.IsDir() {
				data, err := paths.ReadFile(git, 4096)
				if err != nil || info.Size() > 4096 {
					return true
				}
				if git = strings.TrimSpace(strings.TrimPrefix(string(data), "gitdir:")); !filepath.IsAbs(git) {
					git = filepath.Join(up, git)
				}
				files = append(files, filepath.Join(git, "config.worktree"), filepath.Join(git, "..", "..", "config"))
			}
			files = append(files, filepath.Join(git, "config"), filepath.Join(git, "config.worktree"))
			break
		}
		if filepath.Dir(up) == up {
			break
		}
	}
	return slices.ContainsFunc(files, keyInAddress)
}

// keyInAddress reports whether a file has an address with a key.
func keyInAddress(file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false
	}
	if !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return true
	}
	data, err := paths.ReadFile(file, 1<<20)
	if err != nil {
		return false
	}
	for _, field := range strings.FieldsFunc(string(data), func(r rune) bool { return strings.ContainsRune(" \t\r\n\"=[]", r) }) {
		_, rest, ok := strings.Cut(field, "://")
		if !ok {
			continue
		}
		host, _, _ := strings.Cut(rest, "/")
		user, _, has := strings.Cut(host, "@")
		if has && (strings.Contains(user, ":") || len(user) >= 16) || secret.Value(field) {
			return true
		}
	}
	return false
}

// hasSubmodules reports whether the repository here has submodules.
func (a *analysis) hasSubmodules() bool {
	_, err := a.disk.stat(filepath.Join(a.Dir, ".gitmodules"))
	return err == nil
}

package search

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/ignore"
	"jcode/internal/paths"
)

// Outer returns the ignore rules of git that apply to a folder from outside it: the person's (the excludes
// file), the repository's (info/exclude), and those of the folders between the repository's top and this one.
// Outside a repository there are none.
func Outer(top string) []Above {
	repo, ok := repository(top)
	if !ok {
		return nil
	}
	var out []Above
	down := relative(repo.top, top)
	add := func(file, down string) {
		if data, err := paths.ReadFile(file, maxRules); err == nil { // most of them do not exist
			out = append(out, Above{down, ignore.Parse(data)})
		}
	}
	if file := excludesFile(); file != "" {
		add(file, down)
	}
	add(filepath.Join(repo.common, "info", "exclude"), down)
	for at := repo.top; at != top; {
		add(filepath.Join(at, ".gitignore"), relative(at, top))
		first, _, _ := strings.Cut(relative(at, top), "/")
		at = filepath.Join(at, first)
	}
	return out
}

func relative(from, to string) string {
	rel, err := filepath.Rel(from, to)
	if err != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// repo is a git repository.
type repo struct {
	top    string // its work tree
	own    string // the git folder of this work tree, with its index
	common string // the git folder that all its work trees share
}

// repository finds the repository that contains dir.
func repository(dir string) (r repo, ok bool) {
	for at := dir; ; {
		path := filepath.Join(at, ".git")
		if info, err := os.Stat(path); err == nil {
			r = repo{top: at, own: path, common: path}
			if !info.IsDir() {
				r.own, r.common = gitFile(path)
			}
			return r, true
		}
		parent := filepath.Dir(at)
		if parent == at {
			return repo{}, false
		}
		at = parent
	}
}

// gitFile follows the `.git` file of a linked work tree.
func gitFile(path string) (own, common string) {
	data, err := paths.ReadFile(path, 1<<12)
	if err != nil {
		return path, path
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if !ok {
		return path, path
	}
	own = absolute(filepath.Dir(path), strings.TrimSpace(dir))
	if shared, err := paths.ReadFile(filepath.Join(own, "commondir"), 1<<12); err == nil {
		return own, absolute(own, strings.TrimSpace(string(shared)))
	}
	return own, own
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// excludesFile returns the person's own ignore file: core.excludesFile of the git config, otherwise its
// default place.
func excludesFile() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	global := os.Getenv("GIT_CONFIG_GLOBAL")
	files := []string{global}
	if global == "" {
		files = []string{filepath.Join(home, ".gitconfig"), filepath.Join(config, "git", "config")}
	}
	for _, f := range files {
		data, err := paths.ReadFile(f, maxRules)
		if err != nil {
			continue
		}
		if name := excludesSetting(data); name != "" {
			if rest, ok := strings.CutPrefix(name, "~/"); ok {
				name = filepath.Join(home, rest)
			}
			return name
		}
	}
	return filepath.Join(config, "git", "ignore")
}

// excludesSetting reads core.excludesFile from a git config.
func excludesSetting(data []byte) string {
	section, value := "", ""
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		l := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(l, "[") {
			section = strings.ToLower(strings.Trim(l, "[]"))
			continue
		}
		key, v, ok := strings.Cut(l, "=")
		if ok && section == "core" && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return value
}

package permission

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/gitindex"
	"jcode/internal/paths"
)

// Bounds of what is read of a repository before a git command is vouched for.
const (
	maxGitConfig = 1 << 20
	maxGitIndex  = 64 << 20
	maxModules   = 200
)

// repositoryRuns says why git, even when it only looks, would run something or go to the
// network in the repository that a folder belongs to: because of its configuration, or of
// a hook. "" means that it would not. What the person configured for all his repositories
// is not looked at: no project can change that.
func repositoryRuns(dir string) string {
	common, own := findRepository(dir)
	if own == "" {
		return ""
	}
	if common == "" {
		return "the folder itself is laid out as a repository, whose configuration git would follow"
	}
	configs := []string{filepath.Join(common, "config"), filepath.Join(own, "config.worktree")}
	hooks := []string{filepath.Join(common, "hooks")}
	for _, module := range submodules(common, own, dir) {
		configs = append(configs, filepath.Join(module, "config"))
		hooks = append(hooks, filepath.Join(module, "hooks"))
	}
	for i, file := range configs {
		data, err := readBounded(file, maxGitConfig)
		if err != nil {
			return "the repository's configuration can't be read"
		}
		// A submodule's folder of files is always elsewhere.
		if key := runningKey(data, i < 2); key != "" {
			return "the repository is configured to run something, or to look elsewhere (" + key + ")"
		}
	}
	for _, dir := range hooks {
		// The one hook that looking can trigger: git diff refreshes the index.
		if info, err := os.Stat(filepath.Join(dir, "post-index-change")); err == nil && !info.IsDir() {
			return "the repository has a hook that git diff may run (post-index-change)"
		}
	}
	return ""
}

// findRepository goes up from a folder to the repository that git would take. own is its
// folder, common the one with its configuration; common is empty where a folder holds a
// repository without being named .git, and both are where there is none.
func findRepository(dir string) (common, own string) {
	for {
		name := filepath.Join(dir, ".git")
		if info, err := os.Stat(name); err == nil {
			own = name
			if !info.IsDir() {
				own = namedIn(name, "gitdir:")
			}
			return commonOf(own), own
		}
		if exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs")) {
			return "", dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// commonOf gives the folder with the configuration of a repository's folder.
func commonOf(own string) string {
	if other := namedIn(filepath.Join(own, "commondir"), ""); other != "" {
		return other
	}
	return own
}

// namedIn gives the folder that a small file names, relative to its own; "" for none.
func namedIn(file, prefix string) string {
	data, err := readBounded(file, 4096)
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(string(data), prefix)
	if name = strings.TrimSpace(name); !ok || name == "" {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return name
}

// readBounded reads a file; one that is absent is empty, one that is too long an error.
func readBounded(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is no file that is read here", file)
	}
	return os.ReadFile(file)
}

// submodules gives the folders of the repositories inside one: git goes into them, and
// follows the configuration of each.
func submodules(common, own, dir string) (out []string) {
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, err := os.ReadDir(dir)
		if err != nil || depth == 0 {
			return
		}
		for _, e := range entries {
			at := filepath.Join(dir, e.Name())
			switch {
			case !e.IsDir() || len(out) >= maxModules:
			case exists(filepath.Join(at, "HEAD")):
				out = append(out, at)
				walk(filepath.Join(at, "modules"), depth-1)
			default:
				walk(at, depth-1) // names of modules have slashes
			}
		}
	}
	walk(filepath.Join(common, "modules"), 5)
	top := filepath.Dir(own)
	if !paths.Within(top, dir) {
		top = dir // a work tree, whose repository is elsewhere
		for !exists(filepath.Join(top, ".git")) && filepath.Dir(top) != top {
			top = filepath.Dir(top)
		}
	}
	indexes, _ := filepath.Glob(filepath.Join(escapeGlob(own), "sharedindex.*")) // the pattern is fine
	for _, index := range append(indexes, filepath.Join(own, "index")) {
		data, err := readBounded(index, maxGitIndex)
		if err != nil {
			continue
		}
		for _, link := range gitLinks(data) {
			git := filepath.Join(top, filepath.FromSlash(link), ".git")
			if info, err := os.Stat(git); err == nil && info.IsDir() && len(out) < maxModules && !slices.Contains(out, git) {
				out = append(out, git)
			}
		}
	}
	return out
}

// gitLinks lists the paths of an index under which other repositories stand.
func gitLinks(index []byte) (out []string) {
	if !bytes.Contains(index, []byte{0, 0, gitindex.Link >> 8, 0}) {
		return nil // most have none, and need no closer look
	}
	for _, e := range gitindex.Parse(index) {
		if e.Mode == gitindex.Link {
			out = append(out, e.Path)
		}
	}
	return out
}

// runningKey names the first key of a git configuration that makes git run a program, take
// in another file, look at other files, or fetch what it lacks; "" if there is none.
func runningKey(config []byte, worktree bool) string {
	text := strings.ReplaceAll(string(config), "\\\r\n", "")
	text = strings.ToLower(strings.ReplaceAll(text, "\\\n", ""))
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		for strings.HasPrefix(line, "[") {
			end := strings.IndexByte(line, ']')
			if q := strings.IndexByte(line, '"'); q >= 0 && q < end {
				// A name in quotes may hold a bracket: the last one after a quote ends it.
				if last := strings.LastIndex(line, `"]`); last >= 0 {
					end = last + 1
				}
			}
			if end < 0 {
				return "a section that can't be read"
			}
			section, _, _ = strings.Cut(strings.TrimSpace(line[1:end]), " ")
			section, _, _ = strings.Cut(section, `"`)
			section, _, _ = strings.Cut(section, ".")
			line = strings.TrimSpace(line[end+1:])
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if steers(section, name, value, worktree) {
			return section + "." + name
		}
	}
	return ""
}

// steers reports whether one setting makes git run something, go elsewhere or fetch.
func steers(section, name, value string, worktree bool) bool {
	switch section {
	case "include", "includeif", "protocol":
		return true
	case "core":
		switch name {
		case "fsmonitor":
			return !isBool(value)
		case "worktree":
			return worktree
		case "sshcommand", "gitproxy", "hookspath", "alternaterefscommand":
			return true
		}
	case "diff":
		return name == "external" || name == "command" || name == "textconv"
	case "filter":
		return (name == "clean" || name == "smudge" || name == "process") && !strings.HasPrefix(strings.Trim(value, `"`), "git-lfs ")
	case "log":
		return name == "showsignature" && value != "false"
	case "gpg":
		return name == "program"
	case "extensions":
		return name == "partialclone"
	case "remote":
		return name == "promisor" && value != "false"
	}
	return false
}

func isBool(value string) bool {
	switch strings.Trim(value, `"`) {
	case "", "true", "false", "yes", "no", "on", "off", "1", "0":
		return true
	}
	return false
}

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/protected"
)

// maxModules bounds how many folders of submodules are read.
const maxModules = 2000

// submodules returns what steers git in the repositories of submodules below a folder, however deep their
// names are, and whether these are all.
func submodules(dir string) (out []string, whole bool) {
	queue := []string{dir}
	found := 0
	for read := 0; len(queue) > 0; read++ {
		if read >= maxModules || found > maxProtected {
			return out, false
		}
		dir := queue[0]
		queue = queue[1:]
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		has := map[string]bool{}
		for _, e := range entries {
			has[e.Name()] = true
			if slices.Contains(protected.GitFiles(), e.Name()) {
				found++
			}
		}
		git := protected.IsGitFolder(func(name string) bool { return has[name] })
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case git && e.Name() == "modules" && e.IsDir():
				queue = append(queue, path)
			case git:
			case slices.Contains(protected.GitFiles(), e.Name()): // of one that is being made
				out = append(out, path)
			case e.IsDir():
				queue = append(queue, path)
			}
		}
		if git {
			for _, name := range protected.GitFiles() {
				out = append(out, filepath.Join(dir, name))
			}
			out = append(out, included(filepath.Join(dir, "config"), 0)...)
		}
	}
	return out, found <= maxProtected
}

// included returns the files that a git configuration includes, and those that these include.
func included(config string, depth int) (out []string) {
	info, err := os.Stat(config)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 || depth > 4 {
		return nil
	}
	data, err := paths.ReadFile(config, 1<<20)
	if err != nil {
		return nil
	}
	section := ""
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			name, rest, _ := strings.Cut(line[1:], "]")
			section, line = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !strings.HasPrefix(section, "include") || !strings.EqualFold(strings.TrimSpace(key), "path") {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				value = filepath.Join(home, rest)
			}
		}
		if !filepath.IsAbs(value) {
			value = filepath.Join(filepath.Dir(config), value)
		}
		out = append(append(out, value), included(value, depth+1)...)
	}
	return out
}

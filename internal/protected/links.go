package protected

import (
	"os"
	"path/filepath"

	"jcode/internal/paths"
)

// Targets returns the targets of a home's start-up and key files that are links: in a folder for such files
// ("dotfiles") they have other names, and a change there changes the account's. The home and all targets are
// resolved.
func Targets(home string) (out []string) {
	if home == "" {
		return nil
	}
	for _, name := range startup() {
		path := filepath.Join(home, filepath.FromSlash(name))
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if real := paths.Real(path); real != path {
			out = append(out, real)
		}
		if info.IsDir() {
			out = append(out, LinksIn(path)...)
		}
	}
	return out
}

// LinksIn returns the targets of the links in a folder, and in the folders just below it.
func LinksIn(dir string) []string { return linksIn(dir, 3) }

// maxEntries bounds how many entries of one folder are examined.
const maxEntries = 500

func linksIn(dir string, depth int) (out []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil // what can't be listed has no links that a program follows by name
	}
	entries, _ := f.ReadDir(maxEntries) // the entries that were read are used
	_ = f.Close()                       // only read
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			out = append(out, paths.Real(path))
		case e.IsDir() && depth > 1:
			out = append(out, linksIn(path, depth-1)...)
		}
	}
	return out
}

package protected

import (
	"os"
	"path/filepath"

	"jcode/internal/paths"
)

// Targets returns where start-up and key files of a home lead that are links: in a folder
// for such files ("dotfiles") they lie under other names, and a change there is a change of
// the account's. The home and all targets are resolved.
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

// LinksIn returns where the links in a folder, and in those near it below, lead.
func LinksIn(dir string) []string { return linksIn(dir, 3) }

// maxEntries bounds how many entries of one folder are looked at.
const maxEntries = 500

func linksIn(dir string, depth int) (out []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil // what can't be listed has no links that a program follows by its names
	}
	entries, _ := f.ReadDir(maxEntries) // those that were read count
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

package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/paths"
)

// Pin ties a lasting yes to the program that was seen, not to its spelling: `./run.sh` is a different program
// in another folder, and after a change. Programs that are found on the search path outside the workspace
// have none.
type Pin struct {
	// Hash covers folders, files and their contents; "" for none.
	Hash string
	// Files are the workspace's files that it covers, as they are named.
	Files []string
	// Unknown says that it is not known what would run: no grant covers that.
	Unknown bool
}

// pinOf returns the pin of a command.
func (a *analysis) pinOf(program string, words []word) Pin {
	var names []string // relative to the folder, or absolute
	switch {
	case strings.Contains(words[0].text, "/") && !a.system(words[0].text):
		names = append(names, words[0].text)
	case program == "make" || program == "gmake":
		names = makefiles(words[1:])
	case isWrapper(program, words):
		for _, w := range words[1:] {
			if a.isFile(w) {
				names = append(names, w.text)
			}
		}
	}
	if strings.HasPrefix(program, "python") || program == "node" {
		names = append(names, a.existing(a.modules(words))...)
	}
	if interprets(program) || program == "source" || program == "." {
		for _, w := range words[1:] {
			if a.isFile(w) && !strings.HasPrefix(w.text, "-") {
				names = append(names, w.text)
				break
			}
		}
	}
	if names = append(names, a.programsOfWorkspace(words, isWrapper(program, words))...); len(names) == 0 {
		return Pin{}
	}
	return a.pinned(names)
}

// script returns the resolved file that a command runs, "" if that is not known.
func (a *analysis) script(program string, words []word) string {
	named := words[0]
	if !strings.Contains(named.text, "/") {
		if !isShell(program) && !strings.HasPrefix(program, "python") && program != "node" || len(words) < 2 || strings.HasPrefix(words[1].text, "-") {
			return ""
		}
		named = words[1]
	}
	if files := a.targets(named); len(files) == 1 && !named.dynamic && !named.glob {
		return files[0]
	}
	return ""
}

// modules returns the files that an interpreter runs for a module (python3 -m tool) or a folder (node .).
func (a *analysis) modules(words []word) (names []string) {
	for i, w := range words[1:] {
		switch {
		case w.dynamic || w.glob:
			return names
		case w.text == "-m" && i+2 < len(words):
			path := strings.ReplaceAll(words[i+2].text, ".", "/")
			return append(names, path+".py", path+"/__main__.py", path+"/__init__.py")
		case strings.HasPrefix(w.text, "-"):
			continue
		}
		return append(names, filepath.Join(w.text, "package.json"), filepath.Join(w.text, "index.js"), filepath.Join(w.text, "__main__.py"), w.text+".js")
	}
	return names
}

// programsOfWorkspace returns the programs of the workspace that the search path leads to: the one that a
// command names and, for a wrapper, those that any of its words names.
func (a *analysis) programsOfWorkspace(words []word, wrapper bool) (out []string) {
	for i, w := range words {
		if i > 0 && !wrapper {
			break
		}
		if w.dynamic || w.glob || w.text == "" || len(w.text) > 255 || strings.ContainsAny(w.text, "/\x00") || strings.HasPrefix(w.text, "-") {
			continue
		}
		for full := range a.onPath(w.text) {
			if a.ofWorkspace(full) {
				out = append(out, full)
			}
		}
	}
	return out
}

// system reports whether a program is named with a folder outside the workspace: then the name identifies it.
func (a *analysis) system(name string) bool {
	return filepath.IsAbs(name) && !a.Places.Inside(a.disk.real(name))
}

// existing returns those of the names that are files of the workspace.
func (a *analysis) existing(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !a.isFile(static(name)) })
}

// isFile reports whether a word names a file of the workspace.
func (a *analysis) isFile(w word) bool {
	if w.dynamic || w.glob || w.text == "" || len(w.text) > 4096 {
		return false
	}
	for _, path := range a.targets(w) {
		if info, err := a.disk.stat(path); err == nil && info.Mode().IsRegular() && a.Places.Inside(path) {
			return true
		}
	}
	return false
}

// makefiles returns what make would read; the folder itself means "none there yet".
func makefiles(words []word) []string {
	dir, files := ".", []string(nil)
	for i, w := range words {
		value := ""
		switch {
		case (w.text == "-C" || w.text == "-f") && i+1 < len(words):
			value = words[i+1].text
		case len(w.text) > 2 && (strings.HasPrefix(w.text, "-C") || strings.HasPrefix(w.text, "-f")):
			value = w.text[2:]
		default:
			continue
		}
		if strings.HasPrefix(w.text, "-C") {
			dir = filepath.Join(dir, value)
		} else {
			files = append(files, value)
		}
	}
	if files == nil {
		files = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	out := []string{dir}
	for _, f := range files {
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		out = append(out, f)
	}
	return out
}

// pinned hashes what the names refer to in each folder where the command may run.
func (a *analysis) pinned(names []string) Pin {
	sum := sha256.New()
	write := func(parts ...string) {
		for _, s := range parts {
			_, _ = io.WriteString(sum, s+"\x00") // a hash never fails
		}
	}
	var p Pin
	for _, dir := range a.dirs {
		if dir == "" {
			return Pin{Unknown: true}
		}
		write("in", a.disk.real(dir))
		for _, name := range names {
			full := a.climb(dir, name)
			path := a.disk.real(full)
			write(name, path)
			if filepath.IsAbs(name) && !a.Places.Inside(path) {
				continue // the system's interpreter, say: its path identifies it
			}
			if info, err := a.disk.stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			content, err := a.disk.hash(path)
			if err != nil {
				return Pin{Unknown: true}
			}
			write(content)
			if shown := a.Places.Show(path); a.Places.Inside(path) && !slices.Contains(p.Files, shown) {
				p.Files = append(p.Files, shown)
			}
		}
	}
	p.Hash = hex.EncodeToString(sum.Sum(nil))
	return p
}

func hashFile(path string) (string, error) {
	f, err := paths.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Pin returns the pin of a whole line: that of its only command with a pin, if there is just one.
func (l Line) Pin() Pin {
	var out Pin
	var hashes []string
	for _, c := range l.Commands {
		out.Unknown = out.Unknown || c.Pin.Unknown
		if c.Pin.Hash != "" {
			hashes = append(hashes, c.Pin.Hash)
			out.Files = append(out.Files, c.Pin.Files...)
		}
	}
	switch len(hashes) {
	case 0:
	case 1:
		out.Hash = hashes[0]
	default:
		sum := sha256.Sum256([]byte(strings.Join(hashes, " ")))
		out.Hash = hex.EncodeToString(sum[:])
	}
	return out
}

// PinOf returns the pin of one command of a line, with those of the commands inside it.
func (l Line) PinOf(i int) Pin {
	inside := Line{Commands: []Command{l.Commands[i]}}
	for _, c := range l.Commands {
		if c.Wrapped == i+1 {
			inside.Commands = append(inside.Commands, c)
		}
	}
	return inside.Pin()
}

package tui

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"jcode/tui/dialog"
	"jcode/tui/look"
)

// isPath reports whether a word after @ is written as a path: "./", "../", "~/" or "/". Such a path is
// completed from the disk, folder by folder.
func isPath(word string) bool {
	for _, start := range []string{"./", "../", "~/", "/"} {
		if strings.HasPrefix(word, start) {
			return true
		}
	}
	return word == ".." || word == "~"
}

// pathEntries bounds how many names of a folder are examined.
const pathEntries = 5000

// pathMenu offers the contents of the folder that a path names so far.
func (p *completion) pathMenu(at int, word string) tea.Cmd {
	base, home := cmp.Or(p.state.Cwd, p.opt.Cwd), p.opt.Home
	return p.Background(func(context.Context) dialog.Do {
		choices := listPath(base, home, word)
		return func() tea.Cmd {
			column, now, ok := p.in.Mention()
			if p.stack.Front() != nil || p.menu.moved || !ok || column != at || strings.TrimPrefix(now, `"`) != word {
				return nil // a newer list is on its way
			}
			p.menu = menu{kind: menuFile, start: at, choices: choices}
			if len(choices) == 0 {
				p.menu.empty = "no file matches " + look.VisibleName(word)
			}
			return nil
		}
	})
}

// listPath returns the entries that complete a path, in the form in which the person writes paths; folders
// get a slash, hidden entries are included only if their dot was typed.
func listPath(base, home, word string) []choice {
	if word == ".." || word == "~" {
		word += "/"
	}
	shown, prefix := word[:strings.LastIndexByte(word, '/')+1], word[strings.LastIndexByte(word, '/')+1:]
	dir := shown
	switch {
	case strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(home, dir[2:])
	case !filepath.IsAbs(dir):
		dir = filepath.Join(base, dir)
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil // no such folder yet: it is being typed
	}
	entries, err := f.ReadDir(pathEntries)
	if err = errors.Join(err, f.Close()); err != nil && len(entries) == 0 {
		return nil
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out []choice
	low := strings.ToLower(prefix)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(strings.ToLower(name), low) || name[0] == '.' && !strings.HasPrefix(prefix, ".") {
			continue
		}
		if isFolder(dir, e) {
			name += "/"
		}
		out = append(out, choice{insert: fileWord(shown + name), name: look.VisibleName(shown + name)})
		if len(out) == look.FileChoices {
			break
		}
	}
	return out
}

// isFolder reports whether an entry is a folder, or a link to one.
func isFolder(dir string, e os.DirEntry) bool {
	if e.Type()&os.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.IsDir()
}

package repository

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/gitindex"
	"jcode/internal/paths"
)

// objection says why git must not read a repository unasked, judging by the repository's files; "" for no
// objection.
func (l *Looker) objection(r candidate) string {
	if why := l.configured(r); why != "" {
		return why
	}
	for _, module := range modules(r) {
		inner := candidate{own: module, common: module, standing: ofAnother}
		why := l.configured(inner)
		if why == "" {
			why = l.borrowed(inner)
		}
		if why != "" {
			return why
		}
	}
	for _, link := range gitLinks(r) {
		top := filepath.Join(r.top, filepath.FromSlash(link))
		inner, why := l.at(top)
		if why == "" && inner.own != "" {
			inner.standing = ofAnother
			if why = l.configured(inner); why == "" {
				why = l.borrowed(inner)
			}
		}
		if why != "" {
			return link + ": " + why
		}
	}
	return l.borrowed(r)
}

// configured checks the configuration and the hooks of one repository.
func (l *Looker) configured(r candidate) string {
	for _, file := range []string{filepath.Join(r.common, "config"), filepath.Join(r.own, "config.worktree")} {
		data, err := readBounded(file, maxConfig)
		if err != nil {
			return "the repository's configuration can't be read"
		}
		list, err := parseConfig(data)
		if err != nil {
			return "the repository's configuration can't be read: " + err.Error()
		}
		if file == filepath.Join(r.common, "config") {
			list = followed(list, r)
		}
		if why := l.steered(list, r); why != "" {
			return why
		}
	}
	if l.Own {
		return "" // it runs no hooks
	}
	// The only hook that a read can trigger: git diff refreshes the index.
	if info, err := os.Stat(filepath.Join(r.common, "hooks", "post-index-change")); err == nil && !info.IsDir() {
		return "the repository has a hook that git diff may run (post-index-change)"
	}
	return ""
}

// followed returns what git follows in a work tree of the settings that it shares with others: in a linked one,
// unless those have settings of their own, not the place of the files.
func followed(list []setting, r candidate) []setting {
	separate := slices.ContainsFunc(list, func(s setting) bool {
		return s.key() == "extensions.worktreeconfig" && (s.bare || !isFalse(s.value))
	})
	if r.own == r.common || separate {
		return list
	}
	return slices.DeleteFunc(list, func(s setting) bool { return s.effect() == placesFiles })
}

// steered says why git must not follow the settings of a repository unasked: because of the first one that makes it
// run a program, include another file, read other files, or fetch what it lacks.
func (l *Looker) steered(list []setting, r candidate) string {
	for _, s := range list {
		if why := l.follows(s, r); why != "" {
			return why
		}
	}
	return ""
}

// follows says why git must not follow one setting of a repository unasked; "" for no objection.
func (l *Looker) follows(s setting, r candidate) string {
	steered := "the repository is configured to run something, or to look elsewhere (" + s.key() + ")"
	switch s.effect() {
	case steers:
		return steered
	case steersOthers:
		if !l.Own {
			return steered
		}
	case placesFiles:
		switch {
		case r.top != "" && worktreeOf(r.own) == paths.Real(r.top): // it names the folder that it is in
		case r.standing == ofFolder:
			return steered
		case !l.Inside(worktreeOf(r.own)) && !namedBack(r.own):
			return "a repository inside is configured to look outside the project (core.worktree)"
		}
	case readsFile:
		if s.value != "" && !l.Own && !l.within(r, s.value) {
			return "the repository is configured to read a file outside the project (" + s.key() + ")"
		}
	case harmless:
	}
	return ""
}

// namedBack reports whether the work tree that a repository names is marked as that repository's, or is not
// there: a submodule of another checkout, as git itself writes it. Nobody who can write in the workspace only can
// mark a folder outside of it.
func namedBack(own string) bool {
	top := worktreeOf(own)
	if top == "" {
		return false
	}
	if !exists(top) {
		return true
	}
	leads, err := pointer(filepath.Join(top, ".git"), "gitdir: ")
	return err == nil && leads != "" && paths.Real(leads) == own
}

// within reports whether a file that a configuration names is in the workspace, whatever folder git resolves
// the name from.
func (l *Looker) within(r candidate, name string) bool {
	if strings.HasPrefix(name, "~") || strings.HasPrefix(name, "%(prefix)") {
		return false
	}
	if filepath.IsAbs(name) {
		return l.Inside(paths.Real(name))
	}
	for _, from := range []string{r.top, r.own, r.common} {
		if from != "" && l.Inside(from) && !l.Inside(paths.Real(filepath.Join(from, name))) {
			return false
		}
	}
	return true
}

// borrowed says where a repository's objects or references come from if not from the repository itself: git
// would print what is there.
func (l *Looker) borrowed(r candidate) string {
	if why := l.linked(r); why != "" {
		return why
	}
	seen := map[string]bool{}
	var alternates func(objects string) string
	alternates = func(objects string) string {
		data, err := readBounded(filepath.Join(objects, "info", "alternates"), maxConfig)
		if err != nil || seen[objects] || len(seen) > maxModules {
			return "the alternates of its repository can't be read"
		}
		seen[objects] = true
		for line := range strings.Lines(string(data)) {
			name := strings.TrimRight(line, "\n")
			if name == "" || name[0] == '#' {
				continue
			}
			if strings.HasPrefix(name, `"`) {
				return "the alternates of its repository can't be read"
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(objects, name)
			}
			real := paths.Real(name)
			if !l.Inside(real) && !paths.Within(r.common, real) {
				return "its repository takes objects from another one, outside the project: " + real
			}
			if why := alternates(real); !seen[real] && why != "" {
				return why
			}
		}
		return ""
	}
	return alternates(filepath.Join(r.common, "objects"))
}

// maxDirs bounds how many folders of references, logs and work trees are checked.
const maxDirs = 5000

// linked says where a link in the repository leads out of it: git prints the names, the messages or the
// objects that it finds there.
func (l *Looker) linked(r candidate) string {
	dirs := []string{r.own, r.common}
	for _, sub := range []string{"objects", "objects/info", "objects/pack", "info"} {
		dirs = append(dirs, filepath.Join(r.common, sub))
	}
	for _, sub := range []string{"rebase-merge", "rebase-apply", "sequencer"} { // git prints their contents
		dirs = append(dirs, filepath.Join(r.own, sub))
	}
	flat := len(dirs)
	dirs = append(dirs, filepath.Join(r.common, "refs"), filepath.Join(r.common, "logs"), filepath.Join(r.common, "worktrees"))
	if r.own != r.common {
		dirs = append(dirs, filepath.Join(r.own, "refs"), filepath.Join(r.own, "logs"))
	}
	for i := 0; i < len(dirs); i++ {
		if i > maxDirs {
			return "its repository has too many folders to look at each"
		}
		entries, err := os.ReadDir(dirs[i])
		if err != nil {
			continue // git can't read it either
		}
		for _, e := range entries {
			at := filepath.Join(dirs[i], e.Name())
			if e.IsDir() && i >= flat {
				dirs = append(dirs, at)
			}
			if e.Type()&os.ModeSymlink == 0 {
				continue
			}
			if real := paths.Real(at); !l.Inside(real) && !paths.Within(r.common, real) && !paths.Within(r.own, real) {
				return "its repository has a link that leads out of it: " + at
			}
		}
	}
	return ""
}

// modules returns the folders of the repositories that are kept inside one: git enters them and follows the
// configuration of each.
func modules(r candidate) (out []string) {
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
				walk(at, depth-1) // names of modules may contain slashes
			}
		}
	}
	walk(filepath.Join(r.common, "modules"), 5)
	if r.own != r.common { // a linked work tree has its own
		walk(filepath.Join(r.own, "modules"), 5)
	}
	return out
}

// gitLinks lists the paths in a repository's indexes at which other repositories are.
func gitLinks(r candidate) (out []string) {
	for _, data := range indexes(r) {
		if !bytes.Contains(data, []byte{0, 0, gitindex.Link >> 8, 0}) {
			continue // most have none, and need no closer look
		}
		for _, e := range gitindex.Parse(data) {
			if e.Mode == gitindex.Link && len(out) < maxModules {
				out = append(out, e.Path)
			}
		}
	}
	return out
}

// tracked lists the files in the repositories' indexes.
func tracked(found []candidate) (out []string) {
	for _, r := range found {
		for _, data := range indexes(r) {
			for _, e := range gitindex.Parse(data) {
				out = append(out, filepath.Join(r.top, filepath.FromSlash(e.Path)))
			}
		}
	}
	return out
}

// indexes reads the index of a repository, and the shared part of a split one.
func indexes(r candidate) (out [][]byte) {
	files := []string{filepath.Join(r.own, "index")}
	if entries, err := os.ReadDir(r.own); err == nil {
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "sharedindex.") {
				files = append(files, filepath.Join(r.own, e.Name()))
			}
		}
	}
	for _, file := range files {
		if data, err := readBounded(file, maxIndex); err == nil {
			out = append(out, data)
		}
	}
	return out
}

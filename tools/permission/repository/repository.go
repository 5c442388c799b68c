package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/launch"
	"jcode/internal/paths"
)

// Limits of what is read of a repository before a git command is vouched for.
const (
	maxConfig  = 1 << 20
	maxPointer = 1 << 20 // git's own limit for a .git file
	maxIndex   = 64 << 20
	maxModules = 200
)

// Looker examines repositories for one workspace. It is safe for concurrent use.
type Looker struct {
	// Inside reports whether a resolved path is in the workspace.
	Inside func(path string) bool
	// Programs finds the git that is asked, and has the environment that git commands get.
	Programs launch.Programs
	// Own says that jcode's own git handles the files, under the settings of package launch: what these beat does
	// not matter, nor what that git never prints.
	Own bool

	answers answers
}

// Finding is the result of examining a folder's repository.
type Finding struct {
	// Why says why git must not read it unasked: because of its configuration or a hook, or because it belongs
	// to another folder. Empty means no objection.
	Why string
	// Beyond are folders outside the workspace that git needs to read: those of a linked work tree, or of a
	// repository whose work tree contains the workspace.
	Beyond []string
	// Tracked lists the files that the repository tracks, absolute. It reads the index.
	Tracked func() []string
}

// Look judges the repository that git would use in a folder, which is absolute and resolved. What the person
// configured for all repositories is ignored: no project can change that.
func (l *Looker) Look(dir string) Finding {
	found, why := l.find(dir)
	if why != "" {
		return Finding{Why: why}
	}
	for _, r := range found {
		if why := l.objection(r); why != "" {
			return Finding{Why: why}
		}
	}
	why = l.answers.recall(dir, stateOf(found), func() string { return l.asked(dir, found) })
	out := Finding{Why: why, Tracked: func() []string { return tracked(found) }}
	for _, r := range found {
		for _, path := range []string{r.own, r.common} {
			if !l.Inside(path) && !slices.Contains(out.Beyond, path) {
				out.Beyond = append(out.Beyond, path)
			}
		}
		if !l.Inside(r.top) && paths.Within(r.top, dir) {
			out.Beyond = append(out.Beyond, r.top)
		}
	}
	return out
}

// candidate is a repository that git may use: the folder whose .git it is, its own folder and the one with
// its configuration and objects. All are resolved.
type candidate struct {
	top, own, common string
	complete         bool // git would stop here
	standing         standing
	lead             lead
}

// standing is what a repository is to the folder that is judged.
type standing int

const (
	ofFolder  standing = iota // the one that git uses there, or may use
	ofAnother                 // one inside of that: a submodule, whose files are always elsewhere
)

// lead is how a folder leads to its repository.
type lead int

const (
	directly lead = iota // .git is the repository
	byName               // a link or a file in between names it
)

// find goes up from a folder through everything that git would try, to the first complete one. A non-empty
// why is an immediate objection.
func (l *Looker) find(dir string) (found []candidate, why string) {
	for {
		r, why := l.at(dir)
		if why != "" {
			return nil, why
		}
		if r.own != "" {
			found = append(found, r)
		}
		if r.complete {
			return found, ""
		}
		if looksBare(dir) {
			return nil, "the folder itself is laid out as a repository, whose configuration git would follow"
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return found, ""
		}
		dir = parent
	}
}

// looksBare reports whether a folder could be a repository without being named .git. With a commondir its
// objects and refs may be elsewhere.
func looksBare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) &&
		(exists(filepath.Join(dir, "commondir")) || exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs")))
}

// exists reports whether the name exists, even as a link that leads nowhere.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// at reads the .git of a folder; own is empty if there is none.
func (l *Looker) at(top string) (r candidate, why string) {
	name := filepath.Join(top, ".git")
	info, err := os.Stat(name)
	if err != nil {
		if exists(name) && !os.IsNotExist(err) {
			return r, "its .git can't be looked at"
		}
		return r, ""
	}
	own := name
	if !info.IsDir() {
		own, err = pointer(name, "gitdir: ")
		if err != nil || own == "" {
			return r, "its .git file can't be read as git reads it"
		}
	}
	r = candidate{top: top, own: paths.Real(own)}
	common, err := pointer(filepath.Join(r.own, "commondir"), "")
	if err != nil {
		return r, "the commondir of its repository can't be read as git reads it"
	}
	if r.common = r.own; common != "" {
		r.common = paths.Real(common)
	}
	r.complete = exists(filepath.Join(r.own, "HEAD")) && exists(filepath.Join(r.common, "objects")) && exists(filepath.Join(r.common, "refs"))
	if own != name || paths.Real(name) != filepath.Join(paths.Real(top), ".git") {
		r.lead = byName
	}
	return r, l.elsewhere(r)
}

// elsewhere says why a repository does not belong to the folder that leads to it. Anyone who can write in the workspace
// can name any repository of this machine; only the repository itself can name the folder.
func (l *Looker) elsewhere(r candidate) string {
	switch {
	case r.lead == directly && r.common == r.own, l.Inside(r.own) && l.Inside(r.common):
		return ""
	case l.Inside(r.own):
		return "its repository takes configuration and history from " + r.common + ", outside the project"
	case r.common != r.own && filepath.Dir(filepath.Dir(r.own)) == r.common:
		// A linked work tree: the repository records where it is.
		if back, err := pointer(filepath.Join(r.own, "gitdir"), ""); err == nil && back != "" && paths.Real(filepath.Dir(back)) == paths.Real(r.top) {
			return ""
		}
	case r.common == r.own:
		// A submodule: its configuration names the work tree.
		if worktreeOf(r.own) == paths.Real(r.top) {
			return ""
		}
	}
	return "its .git leads to a repository outside the project that does not name this folder: " + r.own
}

// worktreeOf returns the folder that a repository's configuration names as its work tree, "" for none, or
// where its files name several.
func worktreeOf(own string) (dir string) {
	for _, file := range []string{"config", "config.worktree"} { // git moves it to the second for a sparse checkout
		data, err := readBounded(filepath.Join(own, file), maxConfig)
		if err != nil {
			return ""
		}
		list, _ := parseConfig(data) // a later check objects to what can't be parsed
		for _, s := range list {
			if s.effect() != placesFiles || s.value == "" {
				continue
			}
			named := s.value
			if !filepath.IsAbs(named) {
				named = filepath.Join(own, named)
			}
			if named = paths.Real(named); dir != "" && dir != named {
				return ""
			}
			dir = named
		}
	}
	return dir
}

// pointer reads a small file that names a folder, relative to its own, as git does: the prefix extends to the
// last space, and only line ends at the end are not part of the name.
func pointer(file, prefix string) (string, error) {
	data, err := readBounded(file, maxPointer)
	if err != nil || data == nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || name == "" || strings.IndexByte(name, 0) >= 0 {
		return "", fmt.Errorf("%s names no folder", file)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return name, nil
}

// readBounded reads a file. It returns nil for an absent file and an error for one that is too long.
func readBounded(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a file that is read here", file)
	}
	return paths.ReadFile(file, limit)
}

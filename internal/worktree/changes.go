package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/internal/system"
	"jcode/internal/text"
)

// File is a file in a tree.
type File struct {
	Data []byte
	Exec bool // it can be executed
	Link bool // a symbolic link; Data is where it leads
}

// Mode is git's name for what kind of file it is.
func (f File) Mode() string {
	switch {
	case f.Link:
		return "120000"
	case f.Exec:
		return "100755"
	}
	return "100644"
}

// Change is one file that differs. A nil File does not exist.
type Change struct {
	Path         string // below the tree's root, with slashes
	From         string // the path that Base had, where it was renamed
	Base, Theirs *File
}

// Work is what was done in a copy since its work began, whatever git thinks of it.
type Work struct {
	Changes []Change // what can be merged
	// Left names what can't be merged, with the reason: files that git ignores, repositories inside, commits. It goes
	// with the copy.
	Left []string
}

// None reports whether nothing was done.
func (w Work) None() bool { return len(w.Changes) == 0 && len(w.Left) == 0 }

// mostLeft bounds how many names of what can't be merged are listed.
const mostLeft = 40

// Work finds what was done in the copy; nothing until all its files exist. What nothing was done to is not
// read: the cost is one look at each name, and the content of what changed.
func (t Tree) Work(ctx context.Context) (Work, error) {
	if !t.whole(ctx) {
		return Work{}, nil
	}
	if err := t.Git.Vouched(t.Dir); err != nil {
		return Work{}, err
	}
	before, known := t.start(ctx)
	if !known {
		before = start{base: t.Base, head: "HEAD"}
	}
	d := &difference{t: t, ctx: ctx, start: before}
	if err := d.find(known); err != nil {
		return Work{}, err
	}
	if err := d.read(); err != nil {
		return Work{}, err
	}
	if len(d.work.Changes) == 0 && known {
		if said := t.commitsSince(ctx, before.head); said != "" {
			d.work.Left = append(d.work.Left, said)
		}
	}
	slices.Sort(d.work.Left)
	if more := len(d.work.Left) - mostLeft; more > 0 {
		d.work.Left = append(d.work.Left[:mostLeft], fmt.Sprintf("and %d more", more))
	}
	return d.work, nil
}

// difference is one comparison of a copy with its start.
type difference struct {
	t       Tree
	ctx     context.Context
	start   start
	touched []string       // files whose stamp differs, and new ones
	gone    []string       // files that are no longer there
	fresh   []string       // folders that are new
	base    map[string]obj // what git's tree of the start has of them
	work    Work
}

// obj is an entry of git's tree.
type obj struct{ mode, id string }

// find compares names and stamps.
func (d *difference) find(known bool) error {
	if !known {
		return d.findAll()
	}
	folders := map[string]bool{}
	for name := range d.start.files {
		for dir := path.Dir(name); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	seen := make(map[string]bool, len(d.start.files))
	err := d.t.walk(func(name string, info fs.FileInfo) bool {
		switch {
		case atomicfile.IsTemporary(path.Base(name)) && !has(d.start.files, name):
			return false // what a write that was killed left
		case info.IsDir() && d.start.links[name]:
			d.submodule(name)
			return false
		case info.IsDir() && d.repository(name):
			return false
		case info.IsDir() && !folders[name]:
			d.fresh = append(d.fresh, name)
			return false
		case info.IsDir():
			return true
		}
		seen[name] = true
		was, there := d.start.files[name]
		if id, _ := stampOf(info); !there || was.info != id {
			d.touched = append(d.touched, name)
		}
		return true
	})
	for name := range d.start.files {
		if !seen[name] {
			d.gone = append(d.gone, name)
		}
	}
	slices.Sort(d.gone)
	return err
}

func has(files map[string]stamp, name string) bool {
	_, there := files[name]
	return there
}

// findAll takes all files for touched ones: nothing is known of how they were.
func (d *difference) findAll() error {
	entries, err := d.listed("-r", d.start.base)
	if err != nil {
		return err
	}
	d.start.files, d.start.links = map[string]stamp{}, map[string]bool{}
	for name, o := range entries {
		if o.mode == linkMode {
			d.start.links[name] = true
		} else {
			d.start.files[name] = stamp{info: "?"}
		}
	}
	for _, name := range d.t.Copied {
		d.start.files[filepath.ToSlash(filepath.Clean(name))] = stamp{info: "?"}
	}
	sparse, err := d.sparse()
	for name := range sparse {
		delete(d.start.files, name)
	}
	if err != nil {
		return err
	}
	return d.find(true)
}

// sparse returns the files that git leaves out of the copy.
func (d *difference) sparse() (map[string]bool, error) {
	list, err := git(d.ctx, d.t.Git, d.t.Dir, nil, "ls-files", "-t", "-z")
	out := map[string]bool{}
	for line := range strings.SplitSeq(list, "\x00") {
		if name, ok := strings.CutPrefix(line, "S "); ok {
			out[name] = true
		}
	}
	return out, err
}

// submodule names one that holds anything: it was empty at the start.
func (d *difference) submodule(name string) {
	entries, err := os.ReadDir(filepath.Join(d.t.Dir, filepath.FromSlash(name)))
	if err != nil || len(entries) > 0 {
		d.leave(name+"/", "a submodule")
	}
}

// repository reports whether a folder is a repository of its own, and names it.
func (d *difference) repository(name string) bool {
	_, err := os.Lstat(filepath.Join(d.t.Dir, filepath.FromSlash(name), ".git"))
	if err == nil {
		d.leave(name+"/", "a git repository of its own")
	}
	return err == nil
}

func (d *difference) leave(name, why string) {
	d.work.Left = append(d.work.Left, fmt.Sprintf("%s (%s)", name, why))
}

// read reads what changed, and divides it into what can be merged and what can't.
func (d *difference) read() (err error) {
	if d.base, err = d.tree(slices.Concat(d.touched, d.gone)); err != nil {
		return err
	}
	var unknown []string // git's tree has nothing of that name
	for _, name := range d.touched {
		_, tracked := d.base[name]
		_, there := d.start.files[name]
		switch {
		case tracked:
			err = d.compare(name)
		case there:
			d.compareUnknown(name)
		default:
			unknown = append(unknown, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range d.gone {
		if _, tracked := d.base[name]; !tracked {
			continue // a copy of what the original has
		}
		base, err := d.blob(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d.work.Changes = append(d.work.Changes, Change{Path: name, Base: base})
	}
	if err := d.newOnes(unknown, d.fresh); err != nil {
		return err
	}
	slices.SortFunc(d.work.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return d.renames()
}

// compare compares a file that git's tree has.
func (d *difference) compare(name string) error {
	theirs, err := d.file(name)
	if err != nil || theirs == nil {
		return err
	}
	if o := d.base[name]; o.mode == theirs.Mode() && o.id == blobID(theirs.Data, len(o.id)) {
		return nil // only its times differ
	}
	base, err := d.blob(name)
	if err != nil {
		return err
	}
	if !system.HasModes() {
		theirs.Link, theirs.Exec = base.Link, base.Exec
	}
	if theirs.Exec != base.Exec && theirs.Link == base.Link && d.ignoresModes() {
		theirs.Exec = base.Exec
	}
	if string(base.Data) != string(theirs.Data) || base.Exec != theirs.Exec || base.Link != theirs.Link {
		d.work.Changes = append(d.work.Changes, Change{Path: name, Base: base, Theirs: theirs})
	}
	return nil
}

// ignoresModes reports whether the repository says that the modes of files mean nothing here.
func (d *difference) ignoresModes() bool {
	said, err := git(d.ctx, d.t.Git, d.t.Dir, nil, "config", "--type=bool", "--get", "core.fileMode")
	return err == nil && said == "false"
}

// compareUnknown compares a file that was there at the start though git's tree does not have it.
func (d *difference) compareUnknown(name string) {
	info, err := os.Lstat(filepath.Join(d.t.Dir, filepath.FromSlash(name)))
	was := d.start.files[name]
	if errors.Is(err, fs.ErrNotExist) || err == nil && was.hash != "" && d.t.hashOf(name, info) == was.hash || was.info == "?" {
		return
	}
	d.leave(name, "changed; it was copied from the original, and git does not know it")
}

// newOnes finds the files in new folders, and names what git ignores instead of entering it.
func (d *difference) newOnes(files, folders []string) error {
	for len(files)+len(folders) > 0 {
		ignored, err := d.ignored(append(slices.Clone(files), folders...))
		if err != nil {
			return err
		}
		known, err := d.tree(files) // outside the cone of a sparse checkout
		if err != nil {
			return err
		}
		maps.Copy(d.base, known)
		for _, name := range files {
			if err := d.newOne(name, ignored[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		var deeper, inside []string
		for _, name := range folders {
			dir := filepath.Join(d.t.Dir, filepath.FromSlash(name))
			switch holds, any := holdsFile(dir); {
			case !any || isCache(dir):
			case ignored[name]:
				d.leave(name+"/", holds+", ignored by git")
			default:
				entries, err := os.ReadDir(dir)
				if err != nil {
					return err
				}
				for _, e := range entries {
					at := name + "/" + e.Name()
					switch {
					case atomicfile.IsTemporary(e.Name()):
					case !e.IsDir():
						inside = append(inside, at)
					case !d.repository(at):
						deeper = append(deeper, at)
					}
				}
			}
		}
		files, folders = inside, deeper
	}
	return nil
}

// newOne adds a file that was not there at the start.
func (d *difference) newOne(name string, ignored bool) error {
	if _, tracked := d.base[name]; tracked {
		return d.compare(name)
	}
	if ignored {
		d.leave(name, "ignored by git")
		return nil
	}
	theirs, err := d.file(name)
	if err == nil && theirs != nil {
		d.work.Changes = append(d.work.Changes, Change{Path: name, Theirs: theirs})
	}
	return err
}

// mostCounted bounds how many files of a folder are counted.
const mostCounted = 1000

// holdsFile says how many files a folder holds, and whether there is any.
func holdsFile(dir string) (count string, any bool) {
	n := 0
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error { // what can't be read counts as a file
		if err != nil || !e.IsDir() {
			n++
		}
		if n >= mostCounted {
			return fs.SkipAll
		}
		return nil
	})
	if n >= mostCounted {
		return fmt.Sprintf("%d files or more", n), true
	}
	return text.Count(n, "file"), n > 0
}

// isCache reports whether a folder says of itself that it is made anew from other files.
func isCache(dir string) bool {
	if filepath.Base(dir) == "__pycache__" {
		return true
	}
	marks := []string{"CACHEDIR.TAG", "pyvenv.cfg"}
	if filepath.Base(dir) == "node_modules" {
		marks = append(marks, ".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml")
	}
	return slices.ContainsFunc(marks, func(mark string) bool {
		info, err := os.Lstat(filepath.Join(dir, mark))
		return err == nil && info.Mode().IsRegular()
	})
}

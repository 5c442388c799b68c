package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
)

const (
	// addLimit is the longest time that "git worktree add" takes for its entry in the repository.
	// An entry that is incomplete for longer, and the lock of a branch that is older, belong to a git that was killed.
	addLimit = 5 * time.Second
	// addPoll is how often the entry or the lock of another git is checked.
	addPoll = 20 * time.Millisecond
)

// entry is what a repository knows of one of its copies.
type entry struct {
	dir  string // of the entry, in the repository
	copy string // the folder of the copy, "" if unknown
	age  time.Duration
}

// Repair removes the incomplete entries of copies below a folder, which a killed "git worktree add" leaves:
// they make git fail at nearly everything it does with the repository. It returns the folders of their
// copies, none of which contained a file.
func Repair(ctx context.Context, by launch.Git, root, below string) (removed []string, err error) {
	all, err := incomplete(ctx, by, root)
	for _, e := range all {
		if e.age < addLimit || !inside(below, e.copy) || same(below, e.copy) {
			continue
		}
		if fault := e.remove(); fault != nil {
			err = errors.Join(err, fmt.Errorf("remove the incomplete worktree %s: %w", e.copy, fault))
			continue
		}
		removed = append(removed, e.copy)
	}
	return removed, err
}

// Incomplete returns the folders in a repository's git directory that are incomplete entries of copies,
// whoever made them. A folder that is not a repository has none.
func Incomplete(ctx context.Context, by launch.Git, root string) (dirs []string) {
	all, _ := incomplete(ctx, by, root)
	for _, e := range all {
		if e.age >= addLimit {
			dirs = append(dirs, e.dir)
		}
	}
	return dirs
}

// incomplete lists the entries that git has not finished.
func incomplete(ctx context.Context, by launch.Git, root string) ([]entry, error) {
	common, err := git(ctx, by, root, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	dirs, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []entry
	for _, d := range dirs {
		e := entry{dir: filepath.Join(common, "worktrees", d.Name())}
		info, err := d.Info()
		if err != nil || !d.IsDir() || e.complete() {
			continue // it may just have been removed
		}
		e.age = time.Since(info.ModTime())
		if link, err := paths.ReadFile(filepath.Join(e.dir, "gitdir"), maxPointer); err == nil {
			if path := string(bytes.TrimSpace(link)); filepath.Base(path) == ".git" {
				e.copy = filepath.Dir(path)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// initializing is why git locks a copy that it adds.
const initializing = "initializing"

// complete reports whether git finished the entry: it is locked as "initializing" until then,
// and its file commondir says where the repository is.
func (e entry) complete() bool {
	common, err := paths.ReadFile(filepath.Join(e.dir, "commondir"), maxPointer)
	if err != nil || len(bytes.TrimSpace(common)) == 0 {
		return false
	}
	lock, err := paths.ReadFile(filepath.Join(e.dir, "locked"), maxPointer)
	return err != nil || !bytes.HasPrefix(lock, []byte(initializing))
}

// remove removes the entry and the copy, which contains only the file that leads back here.
func (e entry) remove() error {
	switch files, err := os.ReadDir(e.copy); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(files) > 1 || len(files) == 1 && files[0].Name() != ".git":
		return errors.New("there are files in it: move them away first")
	default:
		if err := os.RemoveAll(e.copy); err != nil {
			return err
		}
	}
	return os.RemoveAll(e.dir)
}

// addEntry runs "git worktree add". If git fails because of the incomplete entry of another copy, addEntry
// removes the entry if it belongs to a killed git, and otherwise waits until it is complete.
func addEntry(ctx context.Context, o Options) error {
	branch := "-b"
	for began := time.Now(); ; {
		err := onBranch(ctx, o.Git, o.Root, o.Branch, func() error {
			_, err := git(ctx, o.Git, o.Root, nil, "worktree", "add", "-q", "--no-checkout", branch, o.Branch, o.Dir, cmp.Or(o.Commit, "HEAD"))
			return err
		})
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "commondir") {
			return err
		}
		branch = "-B" // the failed one may have created it
		if _, fault := Repair(ctx, o.Git, o.Root, filepath.Dir(o.Dir)); fault != nil {
			return errors.Join(err, fault)
		}
		if time.Since(began) > 2*addLimit {
			return fmt.Errorf("%w: remove the folder of that incomplete worktree in the repository", err)
		}
		select {
		case <-time.After(addPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// onBranch changes a branch of a copy. If the lock of the branch is in the way, onBranch removes it if it belongs to
// a killed git, and otherwise waits until it is released.
func onBranch(ctx context.Context, by launch.Git, root, branch string, change func() error) error {
	name := "refs/heads/" + branch + ".lock"
	for began := time.Now(); ; {
		err := change()
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), name) {
			return err
		}
		common, fault := git(ctx, by, root, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
		if fault != nil {
			return errors.Join(err, fault)
		}
		lock := filepath.Join(common, filepath.FromSlash(name))
		switch info, fault := os.Lstat(lock); {
		case time.Since(began) > 2*addLimit:
			return fmt.Errorf("%w: remove %s if no git is at work there", err, lock)
		case fault == nil && time.Since(info.ModTime()) >= addLimit:
			if fault := os.Remove(lock); fault != nil && !errors.Is(fault, fs.ErrNotExist) {
				return errors.Join(err, fault)
			}
			continue
		}
		select {
		case <-time.After(addPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// removingFile is a file in the git folder of a copy that exists as long as it is being removed.
const removingFile = "jcode-removing"

// removing returns the git folder of a copy whose removal has begun, "" for none: git removes the copy's .git file
// first, and the copy is no working tree from then on.
func (t Tree) removing(ctx context.Context) string {
	common, err := git(ctx, t.Git, t.Root, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return ""
	}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		dir := filepath.Join(common, "worktrees", e.Name())
		if _, err := os.Lstat(filepath.Join(dir, removingFile)); err != nil {
			continue
		}
		if back := named(filepath.Join(dir, "gitdir"), ""); back != "" && paths.Real(filepath.Dir(back)) == paths.Real(t.Dir) {
			return dir
		}
	}
	return ""
}

// removed finishes a removal that was interrupted, and reports whether the copy is gone.
func (t Tree) removed(ctx context.Context) bool {
	dir := t.removing(ctx)
	if dir == "" {
		return false
	}
	if _, err := os.Lstat(filepath.Join(t.Dir, ".git")); err == nil {
		return false // git has a reason, such as a lock
	}
	return os.RemoveAll(t.Dir) == nil && os.RemoveAll(dir) == nil
}

// Husk reports whether a folder that is no working tree contains nothing but what leads to its repository: a git
// that was killed left it.
func Husk(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 1 {
		return false
	}
	return len(entries) == 0 || entries[0].Name() == ".git" && entries[0].Type().IsRegular()
}

// husk reports whether the copy's folder is what a git left that was killed while it removed a copy which it had just
// begun: its entry is gone, and the folder contains at most the file that leads there.
func (t Tree) husk(ctx context.Context) bool {
	if !Husk(t.Dir) || t.adding(ctx) {
		return false
	}
	link, err := paths.ReadFile(filepath.Join(t.Dir, ".git"), maxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	common, fault := git(ctx, t.Git, t.Root, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	to, leads := bytes.CutPrefix(bytes.TrimSpace(link), []byte("gitdir: "))
	if errors.Join(err, fault) != nil || !leads {
		return false
	}
	_, err = os.Lstat(string(to))
	return inside(filepath.Join(common, "worktrees"), filepath.FromSlash(string(to))) && errors.Is(err, fs.ErrNotExist)
}

// adding reports whether the repository has an entry of the copy that git has not finished.
func (t Tree) adding(ctx context.Context) bool {
	all, err := incomplete(ctx, t.Git, t.Root)
	return err != nil || slices.ContainsFunc(all, func(e entry) bool { return e.copy == "" || paths.Real(e.copy) == paths.Real(t.Dir) })
}

// deleteBranch deletes a branch, only if it is at tip where that is given: "git branch -D" would rewrite git's
// configuration, which is watched.
func deleteBranch(ctx context.Context, by launch.Git, root, branch string, tip ...string) error {
	return onBranch(ctx, by, root, branch, func() error {
		_, err := git(ctx, by, root, nil, append([]string{"update-ref", "-d", "refs/heads/" + branch}, tip...)...)
		return err
	})
}

// PruneBranches removes branches below prefixes that no working tree uses, which a killed "git worktree add" leaves,
// if all their commits are elsewhere too. It leaves those that are younger than an age, and those that are kept.
func PruneBranches(ctx context.Context, by launch.Git, root string, prefixes []string, age time.Duration, kept func(branch string) bool) (removed []string, err error) {
	common, err := git(ctx, by, root, nil, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	args := []string{"for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)"}
	for _, prefix := range prefixes {
		args = append(args, "refs/heads/"+prefix)
	}
	list, err := git(ctx, by, root, nil, args...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\x00")
		if len(fields) != 3 || fields[2] != "" {
			continue
		}
		ref, tip := fields[0], fields[1]
		branch := strings.TrimPrefix(ref, "refs/heads/")
		if info, err := os.Stat(filepath.Join(common, filepath.FromSlash(ref))); kept(branch) || err == nil && time.Since(info.ModTime()) < age {
			continue
		}
		only, fault := git(ctx, by, root, nil, "rev-list", "--count", "--max-count=1", tip, "--not", "HEAD", "--exclude="+branch, "--branches", "--tags", "--remotes")
		if fault != nil || only != "0" {
			continue // work that is nowhere else
		}
		if fault := deleteBranch(ctx, by, root, branch, tip); fault != nil {
			err = errors.Join(err, fault)
			continue
		}
		removed = append(removed, branch)
	}
	return removed, err
}

// Package worktree makes copies of a git working tree in which others can work beside it: it adds them,
// reports what was changed there since, and removes them.
//
// It must not know who works in a copy or what becomes of the changes.
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tree is a working tree that Add made.
type Tree struct {
	Root   string // of the tree that it is a copy of
	Dir    string // its own folder
	Branch string
	Base   string   // the git tree that the work began with
	Copied []string // paths below Root that were copied or linked though git ignores them

	filling *checkout // nil: all files exist, or it is not known
}

// Options configure Add.
type Options struct {
	Root, Dir, Branch string
	// Uncommitted includes uncommitted changes.
	Uncommitted bool
	// Copy are paths below Root that git ignores and the work needs: files are copied, folders linked. Missing
	// ones are skipped.
	Copy []string
	// First selects, from all paths that git supplies, those that exist when Add returns; the others follow in
	// the background (Ready, Stop). Nil: Add returns when all exist.
	First func(tracked []string) []string
}

// Add makes a copy of the last commit in a new folder, on a new branch.
func Add(ctx context.Context, o Options) (Tree, error) {
	t := Tree{Root: o.Root, Dir: o.Dir, Branch: o.Branch, Copied: o.Copy}
	if inside(o.Root, o.Dir) {
		return t, fmt.Errorf("the folder %s of the copy lies inside the repository %s: set JCODE_HOME to a folder outside it", o.Dir, o.Root)
	}
	if _, err := git(ctx, o.Root, nil, "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		return t, fmt.Errorf("%s has no commit to make a copy of: commit something first, or work without isolation", o.Root)
	}
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o700); err != nil {
		return t, fmt.Errorf("make worktree: %w", err)
	}
	if err := addEntry(ctx, o); err != nil {
		return t, fmt.Errorf("make worktree: %w", err)
	}
	if err := t.fill(ctx, o); err != nil {
		return t, errors.Join(err, t.Remove(context.WithoutCancel(ctx)))
	}
	return t, nil
}

// Find returns a copy that Add made of root, as if no work had been done in it.
func Find(ctx context.Context, root, dir string) (Tree, error) {
	t := Tree{Root: root, Dir: dir}
	err := t.Check(ctx)
	if err == nil {
		t.Branch, err = git(ctx, dir, nil, "symbolic-ref", "--short", "HEAD")
	}
	if err == nil {
		t.Base, err = git(ctx, dir, nil, "rev-parse", "HEAD^{tree}")
	}
	return t, err
}

// HasBranch reports whether a repository has the named branch.
func HasBranch(ctx context.Context, root, branch string) bool {
	_, err := git(ctx, root, nil, "rev-parse", "--verify", "-q", "refs/heads/"+branch)
	return err == nil
}

// Linked returns the folders of the original that the copy links to.
func (t Tree) Linked() []string {
	var all []string
	for _, path := range t.Copied {
		info, err := os.Lstat(filepath.Join(t.Dir, path))
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if to, err := filepath.EvalSymlinks(filepath.Join(t.Dir, path)); err == nil {
			all = append(all, to)
		}
	}
	return all
}

// Check returns an error that says what is wrong with the copy: gone, or not what it was.
func (t Tree) Check(ctx context.Context) error {
	if _, err := os.Stat(t.Dir); err != nil {
		return fmt.Errorf("the worktree %s is gone", t.Dir)
	}
	top, err := git(ctx, t.Dir, nil, "rev-parse", "--show-toplevel")
	if err != nil || !same(top, t.Dir) {
		return fmt.Errorf("%s is no git worktree any more", t.Dir)
	}
	return nil
}

// File is a file in a tree.
type File struct {
	Data []byte
	Exec bool // it can be executed
	Link bool // a symbolic link; Data is where it leads
}

// Change is one file that differs. A nil File does not exist.
type Change struct {
	Path         string // below the tree's root, with slashes
	Base, Theirs *File
}

// Changes lists what was changed in the copy since its work began: nothing as long as files are missing
// there.
func (t Tree) Changes(ctx context.Context) ([]Change, error) {
	if !t.whole(ctx) {
		return nil, nil
	}
	now, err := snapshot(ctx, t.Dir, t.Copied)
	if err != nil {
		return nil, err
	}
	raw, err := git(ctx, t.Dir, nil, "diff-tree", "-r", "-z", "--no-renames", "--raw", t.Base, now)
	if err != nil {
		return nil, err
	}
	var all []Change
	fields := strings.Split(raw, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		parts := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(parts) < 5 {
			return nil, fmt.Errorf("git diff-tree said %q", fields[i])
		}
		c := Change{Path: fields[i+1]}
		if c.Base, err = t.file(ctx, parts[0], parts[2]); err == nil {
			c.Theirs, err = t.file(ctx, parts[1], parts[3])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// file reads a blob of a mode; nil for none.
func (t Tree) file(ctx context.Context, mode, id string) (*File, error) {
	switch mode {
	case "000000":
		return nil, nil //nolint:nilnil // that there is none is no error
	case "160000":
		return nil, errors.New("it is a submodule, which is not merged: commit it yourself")
	}
	data, err := gitBytes(ctx, t.Dir, nil, nil, "cat-file", "blob", id)
	if err != nil {
		return nil, err
	}
	return &File{Data: data, Exec: mode == "100755", Link: mode == "120000"}, nil
}

// Diff returns the changes as a unified diff.
func (t Tree) Diff(ctx context.Context) (string, error) {
	if !t.whole(ctx) {
		return "", nil
	}
	now, err := snapshot(ctx, t.Dir, t.Copied)
	if err != nil {
		return "", err
	}
	out, err := gitBytes(ctx, t.Dir, nil, nil, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", t.Base, now)
	return strings.ToValidUTF8(string(out), "\uFFFD"), err
}

// Remove deletes the copy and its branch, whatever is in it. It is not an error if it is already gone.
func (t Tree) Remove(ctx context.Context) error {
	t.Stop()
	if _, err := git(ctx, t.Root, nil, "worktree", "remove", "--force", t.Dir); err != nil {
		if _, fault := Repair(ctx, t.Root, filepath.Dir(t.Dir)); fault != nil {
			return fmt.Errorf("remove worktree: %w", errors.Join(err, fault))
		}
		if _, gone := os.Stat(t.Dir); !errors.Is(gone, fs.ErrNotExist) {
			return fmt.Errorf("remove worktree: %w", err)
		}
	}
	if !HasBranch(ctx, t.Root, t.Branch) {
		return nil
	}
	list, err := git(ctx, t.Root, nil, "worktree", "list", "--porcelain")
	if err == nil && strings.Contains(list+"\n", "\nbranch refs/heads/"+t.Branch+"\n") {
		err = fmt.Errorf("%s is checked out in another worktree", t.Branch)
	}
	if err == nil { // "git branch -D" would rewrite git's configuration, which is watched
		_, err = git(ctx, t.Root, nil, "update-ref", "-d", "refs/heads/"+t.Branch)
	}
	if err != nil {
		return fmt.Errorf("remove branch: %w", err)
	}
	return nil
}

// snapshot writes a folder in its present state into git's object store, without touching its index, and
// returns the tree. Paths in without are left out.
func snapshot(ctx context.Context, dir string, without []string) (string, error) {
	real, err := git(ctx, dir, nil, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp("", "jcode-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // nothing of it is needed
	index := filepath.Join(tmp, "index")
	if data, err := os.ReadFile(real); err == nil { // what it knows of unchanged files saves reading them
		if err := os.WriteFile(index, data, 0o600); err != nil {
			return "", err
		}
	}
	env := []string{"GIT_INDEX_FILE=" + index}
	args := []string{"add", "-A", "--", ":/"}
	for _, path := range without {
		if _, err := git(ctx, dir, nil, "check-ignore", "-q", "--", path); err == nil {
			continue // git leaves it out by itself, and treats mentioning it as a mistake
		}
		args = append(args, ":(top,exclude,literal)"+filepath.ToSlash(path))
	}
	if _, err := git(ctx, dir, env, args...); err != nil {
		return "", err
	}
	return git(ctx, dir, env, "write-tree")
}

// gitBytes runs git without the repository's hooks and watchers, and regardless of the repository that the
// environment names.
func gitBytes(ctx context.Context, dir string, env []string, in *strings.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"-C", dir, "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false",
	}, args...)...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if in != nil {
		cmd.Stdin = in
	}
	cmd.WaitDelay = pipeDelay
	if err := runChild(cmd); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if text := strings.TrimSpace(said.String()); text != "" {
			return nil, fmt.Errorf("git %s: %s", args[0], text)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out.Bytes(), nil
}

func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Package worktree makes copies of a git working tree in which somebody can work beside it:
// it adds them, tells what was changed there since, and removes them.
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

	filling *checkout // nil: all files are there, or it is not known
}

// Options say what Add makes.
type Options struct {
	Root, Dir, Branch string
	// Uncommitted takes what is not committed along.
	Uncommitted bool
	// Copy are paths below Root that git ignores and the work needs: files are copied, folders
	// linked. What is not there is passed over.
	Copy []string
	// First chooses, from all paths that git brings, those that are there when Add returns; the
	// others come in the background (Ready, Stop). Nil: Add returns when all are there.
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

// Find returns a copy that Add made of root, as it would be with no work in it.
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

// HasBranch reports whether a repository has a branch of a name.
func HasBranch(ctx context.Context, root, branch string) bool {
	_, err := git(ctx, root, nil, "rev-parse", "--verify", "-q", "refs/heads/"+branch)
	return err == nil
}

// Linked returns the folders of the original that the copy has links to.
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

// File is a file as a tree has it.
type File struct {
	Data []byte
	Exec bool // it can be executed
	Link bool // a symbolic link; Data is where it leads
}

// Change is one file that differs. A nil File is one that is not there.
type Change struct {
	Path         string // below the tree's root, with slashes
	Base, Theirs *File
}

// Changes lists what was changed in the copy since its work began: nothing for as long as files
// are missing there.
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

// Diff returns what was changed as a unified diff.
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

// Remove deletes the copy and its branch, whatever is in it. What is gone already is no error.
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
	if err == nil { // "git branch -D" would write git's configuration anew, which is watched
		_, err = git(ctx, t.Root, nil, "update-ref", "-d", "refs/heads/"+t.Branch)
	}
	if err != nil {
		return fmt.Errorf("remove branch: %w", err)
	}
	return nil
}

// snapshot writes a folder as it is into git's object store, without touching its index, and
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
			continue // git leaves it out by itself, and takes a word about it for a mistake
		}
		args = append(args, ":(top,exclude,literal)"+filepath.ToSlash(path))
	}
	if _, err := git(ctx, dir, env, args...); err != nil {
		return "", err
	}
	return git(ctx, dir, env, "write-tree")
}

// gitBytes runs git without hooks and watchers of the repository's, and whatever repository the
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

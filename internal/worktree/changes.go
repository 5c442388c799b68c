package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// Changes lists what was changed in the copy since its work began; nothing until all its files
// exist.
func (t Tree) Changes(ctx context.Context) ([]Change, error) {
	if !t.whole(ctx) {
		return nil, nil
	}
	now, err := snapshot(ctx, t.Dir, t.Copied)
	if err != nil {
		return nil, err
	}
	raw, err := git(ctx, t.Dir, nil, "diff-tree", "-r", "-z", "-M", "--raw", t.Base, now)
	if err != nil {
		return nil, err
	}
	var all []Change
	for fields := strings.Split(raw, "\x00"); len(fields) > 1; fields = fields[2:] {
		parts := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(parts) < 5 {
			return nil, fmt.Errorf("git diff-tree said %q", fields[0])
		}
		c, from := Change{Path: fields[1]}, fields[1]
		if status := parts[4][0]; (status == 'R' || status == 'C') && len(fields) > 2 {
			if c.Path, fields = fields[2], fields[1:]; status == 'R' {
				c.From = from
			} else {
				parts[0] = absent
			}
		}
		if c.Base, err = t.file(ctx, from, parts[0], parts[2]); err == nil {
			c.Theirs, err = t.file(ctx, c.Path, parts[1], parts[3])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// absent is git's mode of a file that is not there.
const absent = "000000"

// file reads a blob of a mode as a checkout would write it; nil for none.
func (t Tree) file(ctx context.Context, path, mode, id string) (*File, error) {
	switch mode {
	case absent:
		return nil, nil //nolint:nilnil // nil is a file that does not exist
	case "160000":
		return nil, fmt.Errorf("it is a git repository of its own or a submodule, which is not merged: copy what you need from %s, undo this change there, and merge again", filepath.Join(t.Dir, path))
	case "120000":
		data, err := gitBytes(ctx, t.Dir, nil, nil, "cat-file", "blob", id)
		return &File{Data: data, Link: true}, err
	}
	data, err := gitBytes(ctx, t.Dir, nil, nil, "cat-file", "--filters", "--path="+path, id)
	return &File{Data: data, Exec: mode == "100755"}, err
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
	if err := copyIndex(real, index); err != nil {
		return "", err
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

// copyIndex copies an index, if there is one: what git knows of unchanged files saves reading
// them. The copy keeps the time of the original. Files that are as new as the index are compared
// by content, as a change right after a checkout may leave size and time as they were.
func copyIndex(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return nil //nolint:nilerr // git reads all files then
	}
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

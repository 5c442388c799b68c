package worktree

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // it is git's name for a content
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/paths"
)

// linkMode is git's mode of another repository in a tree.
const linkMode = "160000"

// mostNamed bounds how many paths a command line names.
const mostNamed = 500

// tree returns what git's tree of the start has of some paths, and perhaps more.
func (d *difference) tree(names []string) (map[string]obj, error) {
	switch {
	case len(names) == 0:
		return map[string]obj{}, nil
	case len(names) > mostNamed:
		return d.listed("-r", d.start.base)
	}
	return d.listed(append([]string{d.start.base, "--"}, names...)...)
}

// listed returns what "git ls-tree" lists.
func (d *difference) listed(args ...string) (map[string]obj, error) {
	out := map[string]obj{}
	args = append([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree"}, args...)
	list, err := gitBytes(d.ctx, d.t.Git, d.t.Dir, nil, nil, args...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(list), "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		if words := strings.Fields(about); ok && len(words) == 3 && words[1] != "tree" {
			out[name] = obj{words[0], words[2]}
		}
	}
	return out, nil
}

// blob returns a file of the start as a checkout writes it.
func (d *difference) blob(name string) (*File, error) {
	o := d.base[name]
	if o.mode == "120000" {
		data, err := gitBytes(d.ctx, d.t.Git, d.t.Dir, nil, nil, "cat-file", "blob", o.id)
		return &File{Data: data, Link: true}, err
	}
	data, err := gitBytes(d.ctx, d.t.Git, d.t.Dir, nil, nil, "cat-file", "--filters", "--path="+name, o.id)
	return &File{Data: data, Exec: o.mode == "100755"}, err
}

// file reads a file of the copy; nil if it has just gone, or if it is none and was named.
func (d *difference) file(name string) (*File, error) {
	full := filepath.Join(d.t.Dir, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(full)
		return &File{Data: []byte(filepath.ToSlash(to)), Link: true}, err
	case !info.Mode().IsRegular():
		d.leave(name, "not a regular file")
		return nil, nil //nolint:nilnil // there is none
	}
	data, err := paths.ReadFile(full, maxCompared)
	return &File{Data: data, Exec: info.Mode()&0o100 != 0}, err
}

// maxCompared is the largest file that is compared, in bytes.
const maxCompared = 1 << 30

// blobID returns git's name for a content, in a repository whose names have a length.
func blobID(data []byte, length int) string {
	var h hash.Hash
	if length == 2*sha256.Size {
		h = sha256.New()
	} else {
		h = sha1.New() //nolint:gosec // it is git's
	}
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(data)) // a hash never fails
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// ignored returns which of some paths git ignores.
func (d *difference) ignored(names []string) (map[string]bool, error) {
	in := strings.NewReader(strings.Join(names, "\x00") + "\x00")
	list, err := gitBytes(d.ctx, d.t.Git, d.t.Dir, nil, in, "check-ignore", "-z", "--stdin")
	out := map[string]bool{}
	if err != nil && (d.ctx.Err() != nil || len(list) > 0 || !strings.HasSuffix(err.Error(), "exit status 1")) {
		return nil, err
	}
	for name := range strings.SplitSeq(string(list), "\x00") {
		out[name] = true
	}
	return out, nil
}

// renames joins what went and what came where git takes them for one file.
func (d *difference) renames() error {
	var went, came []Change
	for _, c := range d.work.Changes {
		switch {
		case c.Theirs == nil:
			went = append(went, c)
		case c.Base == nil:
			came = append(came, c)
		}
	}
	if len(went) == 0 || len(came) == 0 {
		return nil
	}
	said, err := d.t.between(d.ctx, append(went, came...), "-M", "--name-status", "-z")
	if err != nil {
		return err
	}
	from := map[string]string{}
	for fields := strings.Split(said, "\x00"); len(fields) > 1; {
		if !strings.HasPrefix(fields[0], "R") || len(fields) < 3 {
			fields = fields[2:]
			continue
		}
		from[strings.TrimPrefix(fields[2], "b/")] = strings.TrimPrefix(fields[1], "a/")
		fields = fields[3:]
	}
	bases := map[string]*File{}
	for _, c := range went {
		bases[c.Path] = c.Base
	}
	renamed := map[string]bool{}
	for i, c := range d.work.Changes {
		if old := from[c.Path]; old != "" && bases[old] != nil {
			d.work.Changes[i].From, d.work.Changes[i].Base, renamed[old] = old, bases[old], true
		}
	}
	kept := d.work.Changes[:0]
	for _, c := range d.work.Changes {
		if c.Theirs != nil || !renamed[c.Path] {
			kept = append(kept, c)
		}
	}
	d.work.Changes = kept
	return nil
}

// Diff returns changes as a unified diff.
func (t Tree) Diff(ctx context.Context, changes []Change) (string, error) {
	if len(changes) == 0 {
		return "", nil
	}
	plain := make([]Change, 0, len(changes))
	for _, c := range changes {
		if c.From != "" {
			plain = append(plain, Change{Path: c.From, Base: c.Base})
			c.Base = nil
		}
		plain = append(plain, c)
	}
	said, err := t.between(ctx, plain, "--no-renames", "--src-prefix=", "--dst-prefix=")
	return strings.ToValidUTF8(said, "\uFFFD"), err
}

// between has git compare both sides of changes, in a folder of their own, where no repository says how.
func (t Tree) between(ctx context.Context, changes []Change, flags ...string) (string, error) {
	tmp, err := os.MkdirTemp("", "jcode-compare-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // nothing of it is needed
	for _, side := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(tmp, side), 0o700); err != nil {
			return "", err
		}
	}
	for _, c := range changes {
		err := put(filepath.Join(tmp, "a"), c.Path, c.Base)
		if err == nil {
			err = put(filepath.Join(tmp, "b"), c.Path, c.Theirs)
		}
		if err != nil {
			return "", err
		}
	}
	env := []string{"GIT_DIR=" + filepath.Join(tmp, "none"), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(tmp)}
	args := append([]string{"diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color"}, flags...)
	out, err := gitBytes(ctx, t.Git, tmp, env, nil, append(args, "a", "b")...)
	if err != nil && ctx.Err() == nil && len(out) > 0 {
		err = nil // that is how it says that they differ
	}
	return string(bytes.TrimSuffix(out, nil)), err
}

// put writes a file of one side below a folder; nil writes none.
func put(dir, name string, f *File) error {
	if f == nil {
		return nil
	}
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	if f.Link {
		return os.Symlink(string(f.Data), full)
	}
	mode := fs.FileMode(0o600)
	if f.Exec {
		mode = 0o700
	}
	return os.WriteFile(full, f.Data, mode)
}

// Sparse reports whether git leaves a file out of the original.
func (t Tree) Sparse(ctx context.Context, name string) bool {
	said, err := git(ctx, t.Git, t.Root, nil, "--literal-pathspecs", "ls-files", "-t", "-z", "--", name)
	return err == nil && strings.HasPrefix(said, "S ")
}

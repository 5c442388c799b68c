package clone

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/filelock"
	"jcode/internal/launch"
	"jcode/internal/paths"
	"jcode/internal/worktree"
)

// The limits of what waits for another machine.
const (
	askLimit   = 30 * time.Second
	fetchLimit = 15 * time.Minute
	pipeDelay  = 2 * time.Second
	// maxSettings bounds the settings of a clone, in bytes.
	maxSettings = 1 << 20
)

// ErrGone says that a repository has no such commit any more.
var ErrGone = errors.New("the commit is gone")

// ErrUnreachable says that a repository could not be reached, or read. The same may work later.
var ErrUnreachable = errors.New("the repository can't be read")

// Clones are the clones of one data folder.
type Clones struct {
	dir string
	git launch.Git
	// Ask and Fetch limit how long a host may take to name a commit and to send objects; 0 is the usual time.
	Ask, Fetch time.Duration
}

// In returns the clones of a data folder.
func In(data string) Clones {
	dir := filepath.Join(data, "clones")
	roots := func() []string { return []string{dir, filepath.Join(data, "worktrees")} }
	return Clones{dir: dir, git: launch.Git{Programs: launch.Programs{Roots: roots}}}
}

// Root returns the folder of an address's clone, which need not exist. Nothing is checked out there: it is what worktrees
// are made of.
func (c Clones) Root(address string) string { return c.of(address).root }

// Roots returns the folders of all clones.
func (c Clones) Roots() ([]string, error) {
	found, err := filepath.Glob(filepath.Join(c.dir, "*", "*", ".git"))
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found, err
}

// Remove removes a worktree of a clone that is older than an age, with its branch, whatever is in it.
func (c Clones) Remove(ctx context.Context, root, dir string, age time.Duration) error {
	if info, err := os.Stat(dir); err != nil || time.Since(info.ModTime()) < age {
		return nil //nolint:nilerr // it was removed in the meantime
	}
	tree, err := worktree.Find(ctx, c.git, root, dir)
	if err != nil && !errors.Is(err, worktree.ErrGone) {
		return err
	}
	return tree.Remove(ctx)
}

// place is where a clone is. What is fetched comes by a bare repository of its own, whose settings nobody but jcode
// writes: of the clone itself, the work in its worktrees could change them.
type place struct {
	address, root, mirror, lock string
}

func (c Clones) of(address string) place {
	sum := sha256.Sum256([]byte(address))
	name := readable(address)
	dir := filepath.Join(c.dir, name+"-"+hex.EncodeToString(sum[:6]))
	return place{address, filepath.Join(dir, name), filepath.Join(dir, "mirror.git"), filepath.Join(dir, "lock")}
}

// readable is the part of an address that people recognise, as the name of a folder.
func readable(address string) string {
	last := path.Base(strings.ReplaceAll(address, ":", "/"))
	last = strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
			return r
		}
		return '_'
	}, strings.TrimSuffix(last, ".git"))
	return last[:min(len(last), 40)]
}

// Commit asks the host of an address which commit a ref is now; "" is the one that the host shows first.
func (c Clones) Commit(ctx context.Context, address, ref string) (string, error) {
	if err := Check(address); err != nil {
		return "", err
	}
	if IsCommit(ref) {
		return ref, nil
	}
	names := []string{"HEAD"}
	if ref != "" {
		if err := CheckRef(ref); err != nil {
			return "", err
		}
		names = []string{"refs/heads/" + ref, "refs/tags/" + ref + "^{}", "refs/tags/" + ref}
		if strings.HasPrefix(ref, "refs/") {
			names = []string{ref + "^{}", ref}
		}
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", err
	}
	out, err := c.remote(ctx, c.dir, cmp.Or(c.Ask, askLimit), place{address: address}, append([]string{"ls-remote", "--quiet", "--", address}, names...)...)
	if err != nil {
		return "", err
	}
	found := map[string]string{}
	for line := range strings.Lines(out) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && IsCommit(commit) {
			found[name] = commit
		}
	}
	for _, name := range names {
		if commit := found[name]; commit != "" {
			return commit, nil
		}
	}
	if ref == "" {
		return "", fmt.Errorf("%s has no commit yet", address)
	}
	return "", fmt.Errorf("%s has no branch or tag %s: git ls-remote %s lists them, and a commit is named in full", address, ref, address)
}

// Prepare makes the clone of an address, or fetches into it what it lacks, and returns its folder with the commit that
// a base means, "" for the one that the host shows first. Fetching ends with ctx, and after a while.
func (c Clones) Prepare(ctx context.Context, address, base string) (root, commit string, err error) {
	if err := Check(address); err != nil {
		return "", "", err
	}
	p := c.of(address)
	if err := os.MkdirAll(filepath.Dir(p.lock), 0o700); err != nil {
		return "", "", err
	}
	lock, err := filelock.Wait(ctx, p.lock) // another one fetches the same
	if err != nil {
		return "", "", fmt.Errorf("the clone of %s: %w", address, err)
	}
	defer func() { _ = lock.Remove() }() // whoever finds it can take it
	if err := c.begin(ctx, p); err != nil {
		return "", "", err
	}
	if commit, err = c.Commit(ctx, address, base); err != nil {
		return "", "", err
	}
	if !worktree.Has(ctx, c.git, p.root, commit) {
		if err := c.fetch(ctx, p, commit); err != nil {
			return "", "", err
		}
	}
	// What is checked out of it names its own commit; that it has one at all is what counts.
	_, err = c.own(ctx, p.root, "update-ref", "--no-deref", "HEAD", commit)
	return p.root, commit, err
}

// Push pushes a commit of the clone as a new branch, without hooks.
func (c Clones) Push(ctx context.Context, address, commit, branch string) error {
	if err := Check(address); err != nil {
		return err
	}
	p := c.of(address)
	_, err := c.remote(ctx, p.mirror, cmp.Or(c.Fetch, fetchLimit), p, "--git-dir="+p.mirror, "push", "--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no", "--", address, commit+":refs/heads/"+branch)
	if err != nil {
		return fmt.Errorf("git push: %w", err)
	}
	return nil
}

// begin makes what is not there, and makes the settings of the clone what they were: nothing that was done in one of its
// worktrees steers the next one.
func (c Clones) begin(ctx context.Context, p place) error {
	for _, repo := range []struct{ dir, git string }{{p.root, filepath.Join(p.root, ".git")}, {p.mirror, p.mirror}} {
		if _, err := os.Stat(filepath.Join(repo.git, "HEAD")); errors.Is(err, fs.ErrNotExist) {
			args := []string{"init", "-q", "--template=", "--initial-branch=main"}
			if repo.dir == repo.git {
				args = append(args, "--bare")
			}
			if _, err := c.own(ctx, filepath.Dir(repo.dir), append(args, "--", repo.dir)...); err != nil {
				return err
			}
		}
	}
	settings := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = " + p.address + "\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"
	at := filepath.Join(p.root, ".git")
	if now, err := paths.ReadFile(filepath.Join(at, "config"), maxSettings); err != nil || string(now) != settings {
		if err := os.WriteFile(filepath.Join(at, "config"), []byte(settings), 0o600); err != nil {
			return err
		}
	}
	var err error
	for _, name := range []string{"hooks", "config.worktree", filepath.Join("info", "attributes"), filepath.Join("info", "grafts"), filepath.Join("objects", "info", "alternates")} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(at, name)))
	}
	return err
}

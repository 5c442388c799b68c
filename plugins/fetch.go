package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/text"
)

// The limits of a plugin's files.
const (
	maxFiles = 5000
	maxBytes = 64 << 20
	gitLimit = 2 * time.Minute
)

// marketFile lists the plugins of a marketplace.
const marketFile = ".claude-plugin/marketplace.json"

// Offer is a plugin of a marketplace.
type Offer struct {
	Name, Description string
	// Source is a path in the marketplace, or an address.
	Source string
}

// Address is where a plugin comes from.
type Address struct {
	// From is a folder or a git address. At is a branch, tag or commit, "" for the default branch.
	From string `json:"from"`
	At   string `json:"at,omitempty"`
	// Plugin is the name of a plugin, if From is a marketplace.
	Plugin string `json:"plugin,omitempty"`
}

// String returns the address as a person writes it.
func (a Address) String() string {
	s := a.From
	if a.At != "" {
		s += "#" + a.At
	}
	if a.Plugin != "" {
		s += " " + a.Plugin
	}
	return s
}

// ParseAddress parses FOLDER or GIT-ADDRESS, either with #REF. A folder becomes absolute.
func ParseAddress(s, plugin string) (Address, error) {
	a := Address{From: s, Plugin: plugin}
	if _, err := os.Stat(s); err != nil {
		a.From, a.At, _ = strings.Cut(s, "#")
	}
	switch {
	case a.From == "" || strings.HasPrefix(a.From, "-") || strings.HasPrefix(a.At, "-"):
		return a, fmt.Errorf("%q is neither a folder nor a git address", s)
	case strings.Contains(a.From, "://"), isSCP(a.From):
		scheme, _, _ := strings.Cut(a.From, "://")
		if strings.Contains(a.From, "://") && scheme != "https" && scheme != "ssh" && scheme != "file" && scheme != "http" && scheme != "git" {
			return a, fmt.Errorf("%s: addresses begin with https, ssh, git or file", a.From)
		}
		return a, nil
	}
	abs, err := filepath.Abs(a.From)
	if err != nil {
		return a, err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return a, fmt.Errorf("%s is neither a folder nor a git address", a.From)
	}
	a.From = abs
	return a, nil
}

// isSCP reports whether s is an address such as git@host:path.
func isSCP(s string) bool {
	host, path, ok := strings.Cut(s, ":")
	return ok && strings.Contains(host, "@") && !strings.Contains(host, "/") && path != ""
}

// fetch copies a plugin's files into dir, a new folder, and returns their commit, "" for a folder
// without one. If the address is a marketplace and names no plugin, offers are the plugins to
// choose from.
func fetch(ctx context.Context, git launch.Git, a Address, dir string) (commit string, offers []Offer, err error) {
	source := a.From
	if info, err := os.Stat(a.From); err != nil || !info.IsDir() || isRepository(a.From) {
		clone := dir + ".git"
		defer func() { _ = os.RemoveAll(clone) }()
		if commit, err = cloneAt(ctx, git, a, clone); err != nil {
			return "", nil, err
		}
		source = clone
	}
	if offers, err = readMarket(source); err != nil {
		return "", nil, err
	}
	if offers != nil && (a.Plugin != "" || !isPlugin(source)) {
		if source, offers, err = choose(a, source, offers); err != nil || source == "" {
			return commit, offers, err
		}
	} else if a.Plugin != "" {
		return "", nil, fmt.Errorf("%s is not a marketplace: it has no %s", a.From, marketFile)
	}
	return commit, nil, copyTree(source, dir)
}

// choose finds the folder of the plugin that an address names, in a marketplace.
func choose(a Address, market string, offers []Offer) (source string, left []Offer, err error) {
	if a.Plugin == "" {
		return "", offers, nil
	}
	for _, o := range offers {
		if o.Name != a.Plugin {
			continue
		}
		if !filepath.IsLocal(filepath.Clean(o.Source)) || strings.Contains(o.Source, "://") {
			return "", nil, fmt.Errorf("plugin %s of this marketplace is elsewhere: jcode plugins add %s", o.Name, o.Source)
		}
		return filepath.Join(market, o.Source), nil, nil
	}
	var names []string
	for _, o := range offers {
		names = append(names, o.Name)
	}
	return "", nil, fmt.Errorf("%s has no plugin %q; it has: %s", a.From, a.Plugin, strings.Join(names, ", "))
}

func isPlugin(dir string) bool {
	for _, name := range manifestFiles {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func isRepository(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil
}

// readMarket lists the plugins of a marketplace. It returns nil if dir is not one.
func readMarket(dir string) ([]Offer, error) {
	data, err := readSmall(dir, marketFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var m struct {
		Plugins []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Source      json.RawMessage `json:"source"`
		} `json:"plugins"`
	}
	if err == nil {
		err = decode(data, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", marketFile, err)
	}
	offers := []Offer{}
	for _, p := range m.Plugins {
		o := Offer{Name: p.Name, Description: p.Description}
		var where struct{ Repo, URL string }
		switch {
		case json.Unmarshal(p.Source, &o.Source) == nil:
		case json.Unmarshal(p.Source, &where) == nil && where.URL != "":
			o.Source = where.URL
		case where.Repo != "":
			o.Source = "https://github.com/" + where.Repo + ".git"
		}
		offers = append(offers, o)
	}
	return offers, nil
}

// cloneAt clones a repository and checks out one commit. Nothing of the repository runs: no
// hooks, no submodules, and no filters except the person's own.
func cloneAt(ctx context.Context, by launch.Git, a Address, dir string) (commit string, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	git := func(args ...string) (string, error) {
		cmd, err := by.Remote(ctx, filepath.Dir(dir), append([]string{"-c", "core.symlinks=true"}, args...)...)
		if err != nil {
			return "", err
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.WaitDelay = time.Second
		if err := cmd.Run(); err != nil {
			lines := strings.Split(strings.TrimSpace(text.Clean(errs.String())), "\n")
			return "", fmt.Errorf("git %s: %s", args[0], text.Cut(lines[len(lines)-1], 300))
		}
		return strings.TrimSpace(out.String()), nil
	}
	if _, err := git("clone", "--no-checkout", "--quiet", "--", a.From, dir); err != nil {
		return "", err
	}
	ref := "HEAD"
	if a.At != "" {
		ref = a.At
		if _, err := git("-C", dir, "rev-parse", "--verify", "--quiet", "refs/remotes/origin/"+ref+"^{commit}"); err == nil {
			ref = "refs/remotes/origin/" + ref
		}
	}
	if commit, err = git("-C", dir, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}"); err != nil {
		return "", fmt.Errorf("%s has no commit %q", a.From, a.At)
	}
	_, err = git("-C", dir, "checkout", "--quiet", "--detach", commit)
	return commit, err
}

// copyTree copies the files of a plugin. Links are followed if they stay within it.
func copyTree(from, to string) error {
	root, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	files, total := 0, int64(0)
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		real := path
		if d.Type()&fs.ModeSymlink != 0 {
			if real, err = filepath.EvalSymlinks(path); err != nil {
				return fmt.Errorf("the link %s leads nowhere", rel)
			}
			if inside, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(inside) {
				return fmt.Errorf("the link %s leads out of the plugin", rel)
			}
		}
		info, err := os.Stat(real)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a file that can be copied", rel)
		}
		if files, total = files+1, total+info.Size(); files > maxFiles || total > maxBytes {
			return fmt.Errorf("the plugin is larger than %d files or %d MiB", maxFiles, maxBytes>>20)
		}
		return copyFile(real, target, info.Mode()&0o111 != 0)
	})
}

func copyFile(from, to string, program bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read only
	mode := fs.FileMode(0o600)
	if program {
		mode = 0o700
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// HashTree returns the hash of all files of a folder: of their paths, their bytes, and whether
// they are executable.
func HashTree(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() { // this package creates none: the copy was changed
			_, _ = fmt.Fprintf(h, "%s\x00%s\x00", rel, info.Mode())
			return nil
		}
		_, _ = fmt.Fprintf(h, "%s\x00%d\x00%v\x00", rel, info.Size(), info.Mode()&0o111 != 0) // a hash never fails
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(h, f)
		return errors.Join(err, f.Close())
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

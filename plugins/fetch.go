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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/launch"
	"jcode/internal/paths"
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

	entry map[string]json.RawMessage // as the marketplace has it
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
		var left []Offer
		if source, left, err = choose(a, source, offers); err != nil || source == "" {
			return commit, left, err
		}
	} else if a.Plugin != "" {
		return "", nil, fmt.Errorf("%s is not a marketplace: it has no %s", a.From, marketFile)
	}
	if err := copyTree(source, dir); err != nil {
		return "", nil, err
	}
	return commit, nil, describe(dir, a, offers)
}

// describe writes the manifest of a plugin that has none: what its marketplace says of it, or its folder's name.
func describe(dir string, a Address, offers []Offer) error {
	if isPlugin(dir) {
		return nil
	}
	entry := map[string]json.RawMessage{}
	for _, o := range offers {
		if o.Name == a.Plugin && a.Plugin != "" {
			entry = maps.Clone(o.entry)
			delete(entry, "source")
			delete(entry, "author") // nothing of it is read
		}
	}
	if len(entry) == 0 {
		if !hasParts(dir) {
			return nil // Read says that it is no plugin
		}
		name := strings.Trim(strings.Map(plainName, strings.ToLower(strings.TrimSuffix(filepath.Base(a.From), ".git"))), "-")
		raw, err := json.Marshal(name)
		if err != nil {
			return err
		}
		entry["name"] = raw
	}
	data, err := json.MarshalIndent(entry, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestFiles[0]), append(data, '\n'), 0o600)
}

// plainName maps what a plugin's name may not have to a hyphen.
func plainName(r rune) rune {
	if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
		return r
	}
	return '-'
}

// hasParts reports whether a folder without a manifest has parts of a plugin.
func hasParts(dir string) bool {
	return slices.ContainsFunc([]string{"commands", "agents", "skills", "hooks/hooks.json", ".mcp.json", ".lsp.json", "lua"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	})
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
		Plugins []map[string]json.RawMessage `json:"plugins"`
	}
	if err == nil {
		err = decode(data, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", marketFile, err)
	}
	offers := []Offer{}
	for _, p := range m.Plugins {
		o := Offer{entry: p}
		_ = json.Unmarshal(p["name"], &o.Name)               // a plugin without a name can't be chosen
		_ = json.Unmarshal(p["description"], &o.Description) // it is only shown
		var where struct{ Repo, URL string }
		switch {
		case json.Unmarshal(p["source"], &o.Source) == nil:
		case json.Unmarshal(p["source"], &where) == nil && where.URL != "":
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
	real, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only read
	files, left := 0, int64(maxBytes)
	return fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, filepath.FromSlash(rel))
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if files++; files > maxFiles {
			return tooLarge()
		}
		n, err := copyFile(root, rel, target, left)
		if left -= n; err == nil && left < 0 {
			err = tooLarge()
		}
		return err
	})
}

func tooLarge() error {
	return fmt.Errorf("the plugin is larger than %d files or %d MiB", maxFiles, maxBytes>>20)
}

// copyFile copies a regular file of a folder, and at most one byte more than limit of it.
func copyFile(root *os.Root, rel, to string, limit int64) (n int64, err error) {
	in, err := root.OpenFile(rel, os.O_RDONLY|paths.NoWait, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("the link %s leads nowhere", rel)
	case err != nil:
		if info, lerr := root.Lstat(rel); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return 0, fmt.Errorf("the link %s leads out of the plugin", rel)
		}
		return 0, err
	}
	defer func() { _ = in.Close() }() // read only
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a file that can be copied", rel)
	}
	mode := fs.FileMode(0o600)
	if info.Mode()&0o111 != 0 {
		mode = 0o700
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, limit+1))
	return n, errors.Join(err, out.Close())
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
		f, err := paths.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(h, f)
		return errors.Join(err, f.Close())
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

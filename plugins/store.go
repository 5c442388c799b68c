package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/launch"
)

// lockWait is how long a change waits for another process that is making one.
const lockWait = 10 * time.Second

// Store keeps a person's plugins: a copy of each, and a file that says what was accepted.
type Store struct {
	// Dir is the folder of the copies; it need not exist.
	Dir string
	// Git clones plugins.
	Git launch.Git
}

// Installed is a plugin that a person accepted.
type Installed struct {
	Name    string  `json:"name"`
	Address Address `json:"address"`
	Commit  string  `json:"commit,omitempty"`
	Version string  `json:"version,omitempty"`
	// Hash is the hash of the files that were accepted.
	Hash  string    `json:"hash"`
	Added time.Time `json:"added"`
	// Confined says that it was accepted by a version of jcode that confines its servers.
	Confined bool `json:"confined,omitempty"`
	// Off says that the person disabled it.
	Off bool `json:"off,omitempty"`
}

// Plugin is an installed plugin with the current state of its copy.
type Plugin struct {
	Installed
	// Bundle is its content; nil if Problem says that it cannot be read.
	Bundle *Bundle
	// Now is the hash of the copy. If it differs from Hash, the copy has changed since it was
	// accepted, and nothing of it may run.
	Now     string
	Problem string
}

// Intact reports whether the copy is what was accepted.
func (p Plugin) Intact() bool { return p.Problem == "" && p.Now == p.Hash }

// ListFile is the file that says what was accepted. Every change of the plugins writes it.
func (s Store) ListFile() string { return filepath.Join(s.Dir, "plugins.json") }

func (s Store) load() ([]Installed, error) {
	data, err := os.ReadFile(s.ListFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Installed
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.ListFile(), err)
	}
	return list, nil
}

// List reads all plugins with their content. Without plugins it costs one look for a file.
func (s Store) List() ([]Plugin, error) {
	list, err := s.load()
	if err != nil {
		return nil, err
	}
	out := make([]Plugin, len(list))
	for i, in := range list {
		out[i] = s.look(in)
	}
	return out, nil
}

// Stamp tells whether the list or a copy may have changed since an earlier stamp: it covers the
// sizes, times and modes of all files. "" means that there are no plugins, which costs one look
// for a file.
func (s Store) Stamp() string {
	info, err := os.Stat(s.ListFile())
	if err != nil {
		return ""
	}
	h := fnv.New64a()
	note := func(path string, info fs.FileInfo) {
		_, _ = fmt.Fprintf(h, "%s %d %d %o\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode()) // a hash never fails
	}
	note("", info)
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		_ = filepath.WalkDir(filepath.Join(s.Dir, e.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what cannot be read differs from what could
			}
			if info, err := d.Info(); err == nil {
				note(path, info)
			}
			return nil
		})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func (s Store) look(in Installed) Plugin {
	p := Plugin{Installed: in}
	dir := filepath.Join(s.Dir, in.Name)
	var err error
	if p.Now, err = HashTree(dir); err == nil {
		p.Bundle, err = Read(dir)
	}
	if err != nil {
		p.Bundle, p.Problem = nil, err.Error()
	}
	return p
}

// Staged is a plugin that was fetched and waits for a person's approval. Nothing of it is in use.
type Staged struct {
	Bundle *Bundle
	Installed
	// Before is the installed plugin with the same name, nil if there is none.
	Before *Plugin
	// Offers are the plugins to choose from, if the address is a marketplace; then nothing was
	// fetched.
	Offers []Offer

	dir string
}

// Stage fetches a plugin. The caller must call Keep or Drop afterwards.
func (s Store) Stage(ctx context.Context, a Address) (*Staged, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("add plugin: %w", err)
	}
	s.sweep()
	dir, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return nil, fmt.Errorf("add plugin: %w", err)
	}
	st := &Staged{dir: dir, Installed: Installed{Address: a, Confined: true, Added: time.Now().UTC().Truncate(time.Second)}}
	if st.Commit, st.Offers, err = fetch(ctx, s.Git, a, dir); err == nil && st.Offers == nil {
		if st.Bundle, err = Read(dir); err == nil {
			st.Name, st.Version = st.Bundle.Name, st.Bundle.Version
			st.Hash, err = HashTree(dir)
		}
	}
	if err != nil {
		st.Drop()
		if text := err.Error(); strings.Contains(text, dir) { // a folder that nobody knows, and that is gone
			err = errors.New(strings.ReplaceAll(text, dir, a.String()))
		}
		return nil, fmt.Errorf("add plugin: %w", err)
	}
	list, err := s.List()
	if err != nil {
		st.Drop()
		return nil, err
	}
	if i := slices.IndexFunc(list, func(p Plugin) bool { return p.Name == st.Name }); i >= 0 {
		st.Before = &list[i]
	}
	return st, nil
}

// staleAfter is how old what a fetch left is when it is removed: no fetch takes so long.
const staleAfter = 15 * time.Minute

// sweep removes what fetches left that were killed.
func (s Store) sweep() {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return // there is nothing yet
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), ".new-") && time.Since(info.ModTime()) > staleAfter {
			_ = os.RemoveAll(filepath.Join(s.Dir, e.Name())) // the next fetch tries again
		}
	}
}

// Drop deletes a fetched plugin.
func (st *Staged) Drop() { _ = os.RemoveAll(st.dir) } // a left-over begins with .new- and is never read

// Keep installs a fetched plugin in place of the one with its name. It is an error if that one is
// from another address.
func (s Store) Keep(st *Staged) error {
	defer st.Drop()
	return s.change(func(list []Installed) ([]Installed, error) {
		i := slices.IndexFunc(list, func(in Installed) bool { return in.Name == st.Name })
		if i >= 0 && (list[i].Address.From != st.Address.From || list[i].Address.Plugin != st.Address.Plugin) {
			return nil, fmt.Errorf("a plugin named %s already exists, from %s: remove it first", st.Name, list[i].Address)
		}
		place := filepath.Join(s.Dir, st.Name)
		old := st.dir + ".old"
		defer func() { _ = os.RemoveAll(old) }()
		if err := os.Rename(place, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("keep plugin %s: %w", st.Name, err)
		}
		if err := os.Rename(st.dir, place); err != nil {
			return nil, errors.Join(fmt.Errorf("keep plugin %s: %w", st.Name, err), os.Rename(old, place))
		}
		if i < 0 {
			return append(list, st.Installed), nil
		}
		st.Off = list[i].Off
		list[i] = st.Installed
		return list, nil
	})
}

// Accept records the present state of a copy as accepted by a person.
func (s Store) Accept(name, hash string) error {
	return s.change(func(list []Installed) ([]Installed, error) {
		i := slices.IndexFunc(list, func(in Installed) bool { return in.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no plugin %s", name)
		}
		list[i].Hash, list[i].Confined = hash, true
		return list, nil
	})
}

// Enable enables or disables a plugin.
func (s Store) Enable(name string, on bool) error {
	return s.change(func(list []Installed) ([]Installed, error) {
		i := slices.IndexFunc(list, func(in Installed) bool { return in.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no plugin %s; jcode plugins list shows the installed ones", name)
		}
		list[i].Off = !on
		return list, nil
	})
}

// Remove deletes a plugin with everything that belongs to it.
func (s Store) Remove(name string) error {
	return s.change(func(list []Installed) ([]Installed, error) {
		i := slices.IndexFunc(list, func(in Installed) bool { return in.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no plugin %s; jcode plugins list shows the installed ones", name)
		}
		if err := os.RemoveAll(filepath.Join(s.Dir, name)); err != nil {
			return nil, fmt.Errorf("remove plugin %s: %w", name, err)
		}
		return slices.Delete(list, i, i+1), nil
	})
}

// change rewrites the list, one process at a time.
func (s Store) change(f func([]Installed) ([]Installed, error)) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("plugins: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := filelock.Wait(ctx, filepath.Join(s.Dir, ".lock"))
	if err != nil {
		return fmt.Errorf("plugins: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	list, err := s.load()
	if err != nil {
		return err
	}
	if list, err = f(list); err != nil {
		return err
	}
	if len(list) == 0 {
		err := os.Remove(s.ListFile())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(s.ListFile(), append(data, '\n'), atomicfile.Options{Perm: 0o600, Sync: true})
}

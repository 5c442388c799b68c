package lsp

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/folders"
	"jcode/internal/ignore"
	"jcode/internal/paths"
	"jcode/internal/watch"
	"jcode/tools/lsp/protocol"
)

const (
	watchDepth = 32      // folders below the root
	maxWatched = 20_000  // files whose stamps are kept
	maxLooked  = 200_000 // entries of folders that one look may visit
	maxSent    = 500     // changes in one message
)

// registration is a capability that a server registered after its start.
type registration struct {
	method string
	globs  []fileGlob
}

// fileGlob selects files whose changes a server wants to be told of.
type fileGlob struct {
	pattern  string // with slashes
	relative bool   // to each of the server's folders; otherwise it is absolute
	kinds    int    // the sum of watchCreated and so on
}

// The kinds of change that a server may ask for.
const (
	watchCreated = 1
	watchChanged = 2
	watchDeleted = 4
	watchAll     = watchCreated | watchChanged | watchDeleted
)

// registered adds capabilities that a server registers while it runs.
func (in *instance) registered(params json.RawMessage) {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, r := range p.Registrations {
		if len(in.registrations) >= 1000 {
			break
		}
		added := registration{method: r.Method}
		if r.Method == "workspace/didChangeWatchedFiles" {
			added.globs = globsOf(r.Options)
			if len(added.globs) > 0 && !in.watching && !in.stopping {
				in.watching = true
				for _, dir := range in.folders {
					in.around.work.Go(func() { in.watchFiles(dir) })
				}
			}
		}
		in.registrations[r.ID] = added
	}
	in.tell()
}

// unregistered removes registrations.
func (in *instance) unregistered(params json.RawMessage) {
	var p struct {
		// This is the protocol's spelling.
		Unregistrations []struct {
			ID string `json:"id"`
		} `json:"unregisterations"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, r := range p.Unregistrations {
		delete(in.registrations, r.ID)
	}
	in.tell()
}

// can reports whether the server has a capability, by its introduction or by a registration.
func (in *instance) can(provider json.RawMessage, method string) bool {
	if protocol.Provides(provider) {
		return true
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, r := range in.registrations {
		if r.method == method {
			return true
		}
	}
	return false
}

// globsOf decodes the options of a registration for watched files.
func globsOf(options json.RawMessage) []fileGlob {
	var o struct {
		Watchers []struct {
			Pattern json.RawMessage `json:"globPattern"`
			Kind    *int            `json:"kind"`
		} `json:"watchers"`
	}
	if json.Unmarshal(options, &o) != nil {
		return nil
	}
	var out []fileGlob
	for _, w := range o.Watchers {
		pattern, relative := decodePattern(w.Pattern)
		if pattern == "" || !doublestar.ValidatePattern(pattern) {
			continue
		}
		g := fileGlob{pattern: pattern, relative: relative, kinds: watchAll}
		if w.Kind != nil {
			g.kinds = *w.Kind
		}
		out = append(out, g)
	}
	return out
}

// decodePattern decodes a pattern, which is a text or an object with a base.
func decodePattern(raw json.RawMessage) (pattern string, relative bool) {
	if json.Unmarshal(raw, &pattern) == nil {
		return filepath.ToSlash(strings.TrimPrefix(pattern, "./")), !filepath.IsAbs(pattern)
	}
	var based struct {
		Base    json.RawMessage `json:"baseUri"`
		Pattern string          `json:"pattern"`
	}
	var folder struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(raw, &based) != nil || json.Unmarshal(based.Base, &folder.URI) != nil && json.Unmarshal(based.Base, &folder) != nil {
		return "", false
	}
	base := protocol.Path(folder.URI)
	if base == "" || based.Pattern == "" {
		return "", false
	}
	return below(base, based.Pattern), false
}

// below returns a pattern for what is below a folder, whose path is not a pattern.
func below(folder, pattern string) string {
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`)
	return escape.Replace(filepath.ToSlash(folder)) + "/" + strings.TrimPrefix(pattern, "./")
}

// fits reports whether the pattern selects a path; folders are the server's.
func (g fileGlob) fits(path string, folders []string) bool {
	if !g.relative {
		return doublestar.MatchUnvalidated(g.pattern, path)
	}
	return slices.ContainsFunc(folders, func(dir string) bool { return doublestar.MatchUnvalidated(below(dir, g.pattern), path) })
}

// wants returns the kinds of change of a file that the server asked for.
func (in *instance) wants(path string) (kinds int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	path = filepath.ToSlash(path)
	for _, r := range in.registrations {
		for _, g := range r.globs {
			if kinds&g.kinds != g.kinds && g.fits(path, in.folders) {
				kinds |= g.kinds
			}
		}
	}
	return kinds
}

// watchFiles notifies the server of all changes below a folder, whoever made them, until it ends.
func (in *instance) watchFiles(root string) {
	ctx, end := context.WithCancel(in.around.life)
	defer end()
	in.around.work.Go(func() {
		select {
		case <-in.gone:
			end()
		case <-ctx.Done():
		}
	})
	f := &watchedFiles{in: in, root: root, known: map[string]stamp{}, ignored: map[string]bool{}}
	w := watch.New(ctx, []watch.Root{{Path: root, Depth: watchDepth, Enter: f.enter}}, watch.Options{
		Notice: func(text string) { _, _ = in.stderr.Write([]byte(text + "\n")) }, // it never fails
	})
	defer w.Close()
	f.look(ctx, root) // existing files are not changes
	for e := range w.Events() {
		in.announce(f.changes(ctx, e))
	}
}

// announce notifies the server of changed files.
func (in *instance) announce(list []fileChange) {
	for part := range slices.Chunk(list, maxSent) {
		ctx, cancel := context.WithTimeout(in.around.life, in.around.wait())
		err := in.changedFiles(ctx, part...)
		cancel()
		if err != nil {
			return // it has ended, or does not read
		}
	}
}

// watchedFiles holds the files below a root as they were last seen.
type watchedFiles struct {
	in    *instance
	root  string
	known map[string]stamp

	mu      sync.Mutex
	ignored map[string]bool // folders, by path
}

// enter reports whether a folder is watched: not one that git ignores, nor git's own.
func (f *watchedFiles) enter(folder string) bool {
	switch filepath.Base(folder) {
	case ".git", ".hg", ".svn", "node_modules":
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if is, ok := f.ignored[folder]; ok {
		return !is
	}
	is := isIgnored(f.root, folder)
	f.ignored[folder] = is
	return !is
}

// isIgnored reports whether the ignore files from root down exclude a folder.
func isIgnored(root, folder string) bool {
	rel, err := filepath.Rel(root, folder)
	if err != nil || rel == "." {
		return false
	}
	rel = filepath.ToSlash(rel)
	var rules *ignore.Stack
	at := ""
	for name := range strings.SplitSeq(rel, "/") {
		if data, err := paths.ReadFile(filepath.Join(root, filepath.FromSlash(at), ".gitignore"), 1<<20); err == nil {
			rules = rules.Push(at, ignore.Parse(data))
		}
		if at != "" {
			at += "/"
		}
		at += name
		if rules.Ignored(at, true) {
			return true
		}
	}
	return false
}

// changes returns what an event means for the server.
func (f *watchedFiles) changes(ctx context.Context, e watch.Event) []fileChange {
	paths := e.Paths
	if e.Overflow {
		paths = []string{f.root}
	}
	f.mu.Lock()
	clear(f.ignored) // the change may be to an ignore file
	f.mu.Unlock()
	var out []fileChange
	for _, path := range paths {
		out = append(out, f.gone(path)...)
		out = append(out, f.look(ctx, path)...)
	}
	return out
}

// gone removes the files at path or below it.
func (f *watchedFiles) gone(path string) (out []fileChange) {
	below := path + string(filepath.Separator)
	for known := range f.known {
		if known != path && !strings.HasPrefix(known, below) {
			continue
		}
		if info, err := os.Lstat(known); err == nil && info.Mode().IsRegular() {
			continue
		}
		delete(f.known, known)
		if f.in.wants(known)&watchDeleted != 0 {
			out = append(out, fileChange{known, changeDeleted})
		}
	}
	slices.SortFunc(out, func(a, b fileChange) int { return strings.Compare(a.path, b.path) })
	return out
}

// look reads what is at path or below it, and returns what is new or has changed.
func (f *watchedFiles) look(ctx context.Context, path string) (out []fileChange) {
	_ = folders.Walk{MaxEntries: maxLooked}.Run(ctx, path, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it was removed, or can't be read
		case d.IsDir() && p != f.root && !f.enter(p):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		kinds := f.in.wants(p)
		info, err := d.Info()
		if kinds == 0 || err != nil {
			return nil
		}
		now := stamp{info.Size(), info.ModTime()}
		before, known := f.known[p]
		switch {
		case known && before != now && kinds&watchChanged != 0:
			out = append(out, fileChange{p, changeChanged})
		case !known && kinds&watchCreated != 0:
			out = append(out, fileChange{p, changeCreated})
		}
		if known || len(f.known) < maxWatched {
			f.known[p] = now
		}
		return nil
	})
	return out
}

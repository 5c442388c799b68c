package builtin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/tools"
)

// searchRoot is where a search begins.
type searchRoot struct {
	t     target
	info  fs.FileInfo
	root  *os.Root
	top   string // resolved path of root
	dir   string // slash path below root
	close func()
}

// finder holds the file tools that search: grep, glob and ls.
type finder struct{ files *files }

// searchRoot opens the folder, or for grep the file, in which to search; "" means Start.
func (f finder) searchRoot(call tools.Call, arg string) (searchRoot, error) {
	t, err := f.files.ws.resolve(cmp.Or(arg, "."))
	if err != nil {
		return searchRoot{}, err
	}
	if err := judged(call, tools.AccessRead, t); err != nil {
		return searchRoot{}, err
	}
	p, err := f.files.ws.open(t.abs)
	if err != nil {
		return searchRoot{}, ioError(err, t)
	}
	info, err := p.stat(t)
	if err != nil {
		p.close()
		return searchRoot{}, err
	}
	s := searchRoot{t: t, info: info, root: p.root, dir: filepath.ToSlash(p.name), close: p.close}
	if own, ok := f.files.ws.folder(t.abs); ok {
		s.top = own.path
		return s, nil
	}
	// Outside of the workspace the folder itself is the top.
	s.top = filepath.Dir(t.abs)
	if info.IsDir() {
		root, err := p.root.OpenRoot(p.name)
		p.close()
		if err != nil {
			return searchRoot{}, ioError(err, t)
		}
		s.root, s.dir, s.top = root, ".", t.abs
		s.close = func() { _ = root.Close() }
	}
	return s, nil
}

// walk prepares a walk over the folder, without what a rule denies.
func (f finder) walk(call tools.Call, s searchRoot) search.Walk {
	w := search.Walk{Top: s.root, Dir: s.dir, Above: search.Outer(s.top), Tracked: search.TrackedIn(s.top)}
	if hidden := call.Hidden; hidden != nil {
		w.Skip = func(path string, _ bool) bool {
			return hidden(filepath.Join(s.top, filepath.FromSlash(path)))
		}
	}
	return w
}

// shown writes a path below the search's top for a result's text, on one line.
func (f finder) shown(s searchRoot, p string) string { return paths.Escape(f.named(s, p)) }

// named is shown for scripts: the name unchanged.
func (f finder) named(s searchRoot, p string) string {
	if s.top == f.files.ws.Start() {
		return p
	}
	return f.files.ws.named(filepath.Join(s.top, filepath.FromSlash(p)))
}

// below returns a path relative to the folder that is searched.
func (s searchRoot) below(p string) string {
	if s.dir == "." {
		return p
	}
	return strings.TrimPrefix(p, s.dir+"/")
}

// namePattern parses a pattern for file names: one without a slash matches the last part, and a
// leading `!` excludes what it matches.
func namePattern(pattern string) (func(rel string) bool, error) {
	if pattern == "" {
		return nil, nil
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, tools.Errorf(tools.KindInvalidArgs, "include has a NUL byte")
	}
	glob, negated := strings.CutPrefix(pattern, "!")
	glob = strings.TrimPrefix(glob, "./")
	if !doublestar.ValidatePattern(glob) {
		return nil, tools.Errorf(tools.KindInvalidArgs, "invalid pattern for file names: %q", pattern)
	}
	whole := strings.Contains(glob, "/")
	glob = strings.TrimPrefix(glob, "/")
	return func(rel string) bool {
		if !whole {
			rel = path.Base(rel)
		}
		return doublestar.MatchUnvalidated(glob, rel) != negated
	}, nil
}

// noteLine returns a line with those of the notes that say something, or "".
func noteLine(notes []string) string {
	notes = slices.DeleteFunc(notes, func(n string) bool { return n == "" })
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}

// missedNote says what a walk did not search, or returns "".
func missedNote(m search.Missed) string {
	var parts []string
	if m.Unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d files or folders could not be read", m.Unreadable))
	}
	if m.Deep > 0 {
		parts = append(parts, fmt.Sprintf("folders more than %d deep were not searched (%d)", search.MaxDepth, m.Deep))
	}
	return strings.Join(parts, "; ")
}

// searchLimit returns the limit argument of a search.
func searchLimit(call tools.Call, given *int, normal int) (int, error) {
	switch {
	case given == nil && call.Caller.Origin == tools.OriginScript:
		return maxResults, nil
	case given == nil:
		return normal, nil
	case *given < 1:
		return 0, tools.Errorf(tools.KindInvalidArgs, "limit must be at least 1")
	}
	return min(*given, maxResults), nil
}

// searchError converts the error of a walk to one for the model.
func searchError(err error, t target) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return ioError(err, t)
	}
	return err
}

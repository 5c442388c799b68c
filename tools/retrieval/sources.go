package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/internal/text"
)

// maxFiles bounds the documents of one collection.
const maxFiles = 20_000

// item is one document that a source leads to.
type item struct {
	path    string // resolved path, or address
	named   bool   // the source names it itself
	problem string // why it is not read
}

// place returns the folder at which a source begins, and the pattern below it ("" for a file or
// folder itself).
func (r *Room) place(source string) (base, pattern string) {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(source), "~/"); ok {
		source = filepath.Join(r.opts.Home, rest)
	} else if source == "~" {
		source = r.opts.Home
	}
	if !filepath.IsAbs(source) {
		source = filepath.Join(r.opts.Root, source)
	}
	slash := filepath.ToSlash(source)
	if !strings.ContainsAny(slash, "*?[{") {
		return filepath.Clean(source), ""
	}
	if _, err := os.Lstat(source); err == nil { // a name that contains such characters
		return filepath.Clean(source), ""
	}
	base, pattern = doublestar.SplitPattern(slash)
	return filepath.FromSlash(base), pattern
}

// check says what is wrong with a source that a person adds.
func (r *Room) check(ctx context.Context, source string) error {
	if paths.IsAddress(source) {
		if r.opts.Fetch == nil {
			return fmt.Errorf("%s: addresses can't be fetched here", source)
		}
		return nil
	}
	found, err := r.expand(ctx, source)
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0].problem != "" {
		return fmt.Errorf("%s: %s", source, found[0].problem)
	}
	if len(found) == 0 {
		return fmt.Errorf("%s: there is nothing to read: name files, folders, globs such as docs/**/*.md, or addresses", source)
	}
	return nil
}

// expand finds the documents that a source leads to, sorted by path. A source that does not exist
// is an item with a problem.
func (r *Room) expand(ctx context.Context, source string) ([]item, error) {
	if paths.IsAddress(source) {
		return []item{{path: source, named: true}}, nil
	}
	base, pattern := r.place(source)
	if pattern != "" && !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%s: this is not a valid glob", source)
	}
	resolved, err := paths.Resolve(base)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(resolved)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if pattern != "" {
			return nil, nil
		}
		return []item{{path: base, named: true, problem: "there is no such file"}}, nil
	case err != nil:
		return []item{{path: base, named: true, problem: err.Error()}}, nil
	case !paths.LeadsOut(source) && !r.opts.Inside(resolved):
		return []item{{path: base, named: true, problem: "it leads out of the project by a link: name " + resolved + " itself"}}, nil
	}
	if pattern == "" && !info.IsDir() {
		return []item{r.judged(resolved, true)}, nil
	}
	return r.below(ctx, source, resolved, pattern)
}

// below walks a folder as the search tools do: what git ignores is left out, links are not
// followed.
func (r *Room) below(ctx context.Context, source, dir, pattern string) ([]item, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []item{{path: dir, named: true, problem: err.Error()}}, nil
	}
	defer func() { _ = root.Close() }() // it was read only
	var mu sync.Mutex
	var out []item
	more := false
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	walk := search.Walk{Top: root, Dir: ".", Above: search.Outer(dir), Workers: 1}
	missed, err := walk.Run(ctx, func(_ int, f search.File) {
		if f.Link || pattern == "" && !documentKind(f.Path) || pattern != "" && !doublestar.MatchUnvalidated(pattern, f.Path) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if len(out) >= maxFiles {
			more = true
			stop()
			return
		}
		out = append(out, r.judged(filepath.Join(dir, filepath.FromSlash(f.Path)), false))
	})
	if err != nil && !more {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	slices.SortFunc(out, func(a, b item) int { return strings.Compare(a.path, b.path) })
	var problems []string
	if more {
		problems = append(problems, fmt.Sprintf("it holds more than %d documents: name a part of it", maxFiles))
	}
	if missed.Deep > 0 {
		problems = append(problems, fmt.Sprintf("left out, as they are more than %d folders deep in it: %s; name them to have them read", search.MaxDepth, text.Count(missed.Deep, "folder")))
	}
	if missed.Unreadable > 0 {
		problems = append(problems, fmt.Sprintf("%s in it can't be read", text.Count(missed.Unreadable, "folder")))
	}
	if len(problems) > 0 {
		out = append(out, item{path: dir, problem: strings.Join(problems, "; ")})
	}
	return out, nil
}

func (r *Room) judged(path string, named bool) item {
	it := item{path: path, named: named}
	if why := r.opts.Denied(path); why != "" {
		it.problem = "it may not be read: " + why
	}
	return it
}

// watched are the folders in which changes of the sources show.
func (r *Room) watched(sources []string) []string {
	var out []string
	for _, source := range sources {
		if paths.IsAddress(source) {
			continue
		}
		base, _ := r.place(source)
		if info, err := os.Stat(base); err != nil || !info.IsDir() {
			base = filepath.Dir(base)
		}
		if !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	return out
}

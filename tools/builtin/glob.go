package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed glob.md
var globDescription string

const globParameters = `{"type":"object","properties":{` +
	`"pattern":{"type":"string"},` +
	`"dir":{"type":"string","description":"where"},` +
	`"newest":{"type":"boolean","description":"order by time of change"},` +
	`"limit":{"type":"integer","description":"default 200"}},` +
	`"required":["pattern"]}`

const globLimit = 200

type globArgs struct {
	Pattern string `json:"pattern"`
	Dir     string `json:"dir"`
	Newest  bool   `json:"newest"`
	Limit   *int   `json:"limit"`
}

func (f finder) glob() tools.Tool {
	s := spec(tools.GroupCore, "glob", globDescription, globParameters, tools.CapRead)
	s.Aliases = map[string]string{"path": "dir"}
	return makeTool(s, func(_ context.Context, _ tools.Call, a globArgs) (tools.Plan, error) {
		_, start, err := f.globStart(a)
		if err != nil {
			return tools.Plan{}, err
		}
		return f.files.planRead(start, "Find files in")
	}, f.runGlob)
}

// globStart checks a pattern and splits it into the folder at which to begin, which has no
// wildcard, and the pattern below it.
func (f finder) globStart(a globArgs) (pattern, start string, err error) {
	// On Windows a backslash separates folders; elsewhere it quotes, and ToSlash leaves it.
	pattern = strings.TrimPrefix(filepath.ToSlash(a.Pattern), "./")
	if strings.IndexByte(a.Pattern, 0) >= 0 {
		return "", "", tools.Errorf(tools.KindInvalidArgs, "pattern has a NUL byte")
	}
	if !doublestar.ValidatePattern(pattern) || pattern == "" {
		return "", "", tools.Errorf(tools.KindInvalidArgs, "invalid pattern %q", a.Pattern)
	}
	if slices.Contains(strings.Split(pattern, "/"), "..") {
		return "", "", tools.Errorf(tools.KindInvalidArgs, "invalid pattern %q: it must not have `..`; name the folder with dir", a.Pattern)
	}
	base, rest := doublestar.SplitPattern(pattern)
	start = cmp.Or(a.Dir, ".")
	switch {
	case filepath.IsAbs(filepath.FromSlash(base)):
		return rest, base, nil
	case base != ".":
		return rest, path.Join(start, base), nil
	}
	return rest, start, nil
}

func (f finder) runGlob(ctx context.Context, call tools.Call, a globArgs) (tools.Result, error) {
	limit, err := searchLimit(call, a.Limit, globLimit)
	if err != nil {
		return tools.Result{}, err
	}
	pattern, start, err := f.globStart(a)
	if err != nil {
		return tools.Result{}, err
	}
	s, err := f.searchRoot(call, start)
	if err != nil {
		if f.onlyPatternIsAbsent(a, start) {
			return f.globResult(searchRoot{}, nil, limit, text.Visible(start)+" does not exist", search.Missed{}), nil
		}
		return tools.Result{}, err
	}
	defer s.close()
	if !s.info.IsDir() {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "%s is not a folder", s.t.shown)
	}
	w := f.walk(call, s)
	w.Workers = runtime.GOMAXPROCS(0)
	hits := make([][]string, w.Workers)
	deeper := make([]int, w.Workers)
	missed, err := w.Run(ctx, func(worker int, file search.File) {
		rel := s.below(file.Path)
		if !doublestar.MatchUnvalidated(pattern, rel) {
			if !strings.Contains(pattern, "/") && doublestar.MatchUnvalidated(pattern, path.Base(rel)) {
				deeper[worker]++
			}
			return
		}
		if file.Link && !f.insideFile(s, file.Path) {
			return
		}
		hits[worker] = append(hits[worker], file.Path)
	})
	if err != nil {
		return tools.Result{}, searchError(err, s.t)
	}
	all := slices.Concat(hits...)
	slices.SortFunc(all, search.ComparePaths)
	if a.Newest {
		all = newest(s, all)
	}
	hint := ""
	if n := sum(deeper); len(all) == 0 && n > 0 {
		hint = fmt.Sprintf("deeper down there are %d: use **/%s", n, pattern)
	}
	return f.globResult(s, all, limit, hint, missed), nil
}

// onlyPatternIsAbsent reports whether the named folder exists, but not the path that the pattern
// adds. Then nothing matches, which is not an error.
func (f finder) onlyPatternIsAbsent(a globArgs, start string) bool {
	dir, err := f.files.ws.resolve(cmp.Or(a.Dir, "."))
	if err != nil || !exists(dir.abs) {
		return false
	}
	t, err := f.files.ws.resolve(start)
	return err == nil && !exists(t.abs)
}

// insideFile reports whether a link leads to a file in the workspace.
func (f finder) insideFile(s searchRoot, p string) bool {
	info, err := s.root.Stat(filepath.FromSlash(p))
	if err == nil {
		return info.Mode().IsRegular()
	}
	// os.Root refuses absolute links, even those that lead inside.
	real, err := paths.Resolve(filepath.Join(s.top, filepath.FromSlash(p)))
	if err != nil || !f.files.ws.Contains(real) {
		return false
	}
	place, err := f.files.ws.open(real)
	if err != nil {
		return false
	}
	defer place.close()
	info, err = place.root.Lstat(place.name)
	return err == nil && info.Mode().IsRegular()
}

// newest orders files by modification time, the latest first.
func newest(s searchRoot, files []string) []string {
	type dated struct {
		path string
		at   time.Time
	}
	list := make([]dated, 0, len(files))
	for _, p := range files {
		if info, err := s.root.Lstat(filepath.FromSlash(p)); err == nil { // else it was removed in the meantime
			list = append(list, dated{p, info.ModTime()})
		}
	}
	slices.SortStableFunc(list, func(a, b dated) int { return b.at.Compare(a.at) })
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.path
	}
	return out
}

func sum(n []int) int {
	total := 0
	for _, v := range n {
		total += v
	}
	return total
}

// globResult returns the result of a search for files.
func (f finder) globResult(s searchRoot, all []string, limit int, hint string, missed search.Missed) tools.Result {
	kept := all[:min(len(all), limit)]
	list := make([]any, len(kept))
	var b strings.Builder
	shown := 0
	for i, p := range kept {
		name := f.shown(s, p)
		list[i] = f.named(s, p)
		if shown == i && b.Len()+len(name) < resultBytes {
			b.WriteString(name + "\n")
			shown++
		}
	}
	summary := text.Count(len(all), "file")
	var notes []string
	switch {
	case len(all) == 0:
		summary = "no files"
		notes = append(notes, "no files match")
	case len(all) > shown:
		notes = append(notes, fmt.Sprintf("%s, the first %d are shown: narrow the pattern or raise limit", summary, shown))
	}
	b.WriteString(noteLine(append(notes, hint, missedNote(missed), s.t.note)))
	return tools.Result{
		Text:    strings.TrimSuffix(b.String(), "\n"),
		Data:    map[string]any{"files": list, "count": len(all), "truncated": len(all) > len(kept)},
		Display: tools.Display{Summary: summary, Path: s.t.shown},
	}
}

package builtin

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed grep.md
var grepDescription string

const grepParameters = `{"type":"object","properties":{` +
	`"pattern":{"type":"string"},` +
	`"path":{"type":"string","description":"default: all"},` +
	`"include":{"type":"string","description":"file name pattern, such as *.go"},` +
	`"literal":{"type":"boolean","description":"not a regexp"},` +
	`"context":{"type":"integer","description":"lines around"},` +
	`"limit":{"type":"integer","description":"default 100"}},` +
	`"required":["pattern"]}`

const (
	grepLimit   = 100
	maxResults  = 10_000
	maxContext  = 20
	contextLine = 400      // bytes of a line around a match
	scriptLine  = 4000     // bytes of a line that a script gets
	resultBytes = 50 << 10 // bytes of a search's text
)

type grepArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Include string `json:"include"`
	Literal bool   `json:"literal"`
	Context int    `json:"context"`
	Limit   *int   `json:"limit"`
}

func (f finder) grep() tools.Tool {
	s := spec(tools.GroupCore, "grep", grepDescription, grepParameters, tools.CapRead)
	s.Aliases = map[string]string{"file_path": "path", "glob": "include", "query": "pattern"}
	return makeTool(s, func(_ context.Context, _ tools.Call, a grepArgs) (tools.Plan, error) {
		return f.files.planRead(cmp.Or(a.Path, "."), "Search in")
	}, f.runGrep)
}

func (f finder) runGrep(ctx context.Context, call tools.Call, a grepArgs) (tools.Result, error) {
	if strings.IndexByte(a.Pattern, 0) >= 0 {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "pattern has a NUL byte")
	}
	pattern, err := search.Compile(a.Pattern, a.Literal)
	if err != nil {
		return tools.Result{}, patternError(a.Pattern, err)
	}
	limit, err := searchLimit(call, a.Limit, grepLimit)
	if err != nil {
		return tools.Result{}, err
	}
	include, err := namePattern(a.Include)
	if err != nil {
		return tools.Result{}, err
	}
	s, err := f.searchRoot(call, a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	defer s.close()
	g := search.Grep{Pattern: pattern, Limit: limit}
	if call.Caller.Origin == tools.OriginScript {
		g.LineBytes = scriptLine
	}
	if include != nil {
		// Models write the pattern relative to the folder that is searched, or to the root.
		leaveOut := strings.HasPrefix(a.Include, "!")
		g.Want = func(p string) bool {
			if leaveOut {
				return include(s.below(p)) && include(p)
			}
			return include(s.below(p)) || include(p)
		}
	}
	found, err := f.find(ctx, call, g, s)
	if err != nil {
		return tools.Result{}, searchError(err, s.t)
	}
	lines := found.Matches
	if n := min(a.Context, maxContext); n > 0 {
		if lines, err = withContext(ctx, s.root, found.Matches, n); err != nil {
			return tools.Result{}, err
		}
	}
	return f.grepResult(ctx, s, found, lines, limit), nil
}

// find searches a folder, or the one file that was named.
func (f finder) find(ctx context.Context, call tools.Call, g search.Grep, s searchRoot) (search.Found, error) {
	if s.info.IsDir() {
		return g.Files(ctx, f.walk(call, s))
	}
	if !s.info.Mode().IsRegular() {
		return search.Found{}, refuseKind(s.info, s.t)
	}
	file, err := s.root.OpenFile(filepath.FromSlash(s.dir), os.O_RDONLY|paths.NoWait, 0)
	if err != nil {
		return search.Found{}, err
	}
	defer func() { _ = file.Close() }() // only read
	return g.One(ctx, s.dir, file)
}

// patternError says why a pattern is invalid, and how to search for the text literally.
func patternError(pattern string, err error) error {
	why := err.Error()
	if se, ok := errors.AsType[*syntax.Error](err); ok {
		why = fmt.Sprintf("%s: %q", se.Code, se.Expr)
	}
	return tools.Errorf(tools.KindInvalidArgs, "invalid pattern %q: %s; set literal to search for it as plain text", pattern, why)
}

// withContext adds n lines before and after each match, read from the files again.
func withContext(ctx context.Context, root *os.Root, matches []search.Match, n int) ([]search.Match, error) {
	var out []search.Match
	for len(matches) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		same := 1
		for same < len(matches) && matches[same].Path == matches[0].Path {
			same++
		}
		lines, err := fileContext(root, matches[:same], n)
		if err != nil {
			lines = matches[:same] // the file was removed: the matches alone are still true
		}
		out = append(out, lines...)
		matches = matches[same:]
	}
	return out, nil
}

// fileContext adds the lines around the matches of one file.
func fileContext(root *os.Root, matches []search.Match, n int) ([]search.Match, error) {
	file, err := root.OpenFile(filepath.FromSlash(matches[0].Path), os.O_RDONLY|paths.NoWait, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	var out []search.Match
	content, err := search.Text(file)
	if err != nil {
		return nil, err
	}
	br := bufio.NewReaderSize(content, 64<<10)
	last := matches[len(matches)-1].Line + n
	for number, next := 1, 0; number <= last; number++ {
		line, err := shortLine(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(line) == 0 && err != nil {
			break
		}
		for next < len(matches) && matches[next].Line+n < number {
			next++
		}
		if next < len(matches) && matches[next].Line-n <= number {
			i := slices.IndexFunc(matches[next:], func(m search.Match) bool { return m.Line >= number })
			if i >= 0 && matches[next+i].Line == number {
				out = append(out, matches[next+i])
			} else {
				text := search.Excerpt(line, 0, 0, contextLine)
				out = append(out, search.Match{Path: matches[0].Path, Line: number, Text: text, Context: true})
			}
		}
	}
	return out, nil
}

// shortLine reads a line without its line break, and keeps at most 64 KiB of it.
func shortLine(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	line = slices.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = br.ReadSlice('\n')
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1], nil
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		return line, nil
	}
	return line, err
}

// grepResult returns the result of a search for lines.
func (f finder) grepResult(ctx context.Context, s searchRoot, found search.Found, lines []search.Match, limit int) tools.Result {
	var b strings.Builder
	shown, full := 0, false
	for i, m := range lines {
		sep := ":"
		if m.Context {
			sep = "-"
		}
		if i > 0 && len(lines) > len(found.Matches) && (lines[i-1].Path != m.Path || lines[i-1].Line+1 < m.Line) {
			b.WriteString("--\n")
		}
		line := fmt.Sprintf("%s%s%d%s%s\n", f.shown(s, m.Path), sep, m.Line, sep, m.Text)
		if b.Len()+len(line) > resultBytes {
			full = true
			break
		}
		b.WriteString(line)
		if !m.Context {
			shown++
		}
	}
	summary := text.Count(found.Total, "match") + " in " + text.Count(found.Files, "file")
	var notes []string
	switch {
	case found.Total == 0:
		summary = "no matches"
		notes = append(notes, "no matches in "+text.Count(found.Searched, "file"))
	case full:
		notes = append(notes, fmt.Sprintf("%s, the first %d are shown (%s reached): narrow the search", summary, shown, size(resultBytes)))
	case found.Total > shown:
		notes = append(notes, fmt.Sprintf("%s, the first %d are shown: narrow the search or raise limit", summary, shown))
	}
	notes = append(notes, f.binaryNote(s, found), f.files.unsavedNote(ctx, s, matchedFiles(found.Matches)), missedNote(found.Missed), s.t.note)
	b.WriteString(noteLine(notes))
	matches := make([]any, 0, len(found.Matches))
	for _, m := range found.Matches {
		matches = append(matches, map[string]any{"path": f.named(s, m.Path), "line_number": m.Line, "line": m.Text, "column": m.Column})
	}
	return tools.Result{
		Text:    strings.TrimSuffix(b.String(), "\n"),
		Data:    map[string]any{"matches": matches, "count": found.Total, "truncated": found.Total > len(found.Matches)},
		Display: tools.Display{Summary: summary, Path: s.t.shown},
	}
}

// matchedFiles returns the files of matches, each once.
func matchedFiles(matches []search.Match) []string {
	var out []string
	for _, m := range matches {
		if len(out) == 0 || out[len(out)-1] != m.Path {
			out = append(out, m.Path)
		}
	}
	return out
}

// binaryNote says which files were skipped as binary and so not searched, or returns "".
func (f finder) binaryNote(s searchRoot, found search.Found) string {
	if found.Binary == 0 {
		return ""
	}
	names := make([]string, len(found.BinaryNames))
	for i, n := range found.BinaryNames {
		names[i] = f.shown(s, n)
	}
	list := strings.Join(names, ", ")
	if more := found.Binary - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if found.Binary == 1 {
		return "1 file was skipped as binary: " + list + " (name it as path to search it)"
	}
	return fmt.Sprintf("%d files were skipped as binary: %s", found.Binary, list)
}

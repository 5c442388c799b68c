package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/internal/text"
)

const (
	bufSize = 256 << 10 // bytes read at once
	maxBuf  = 4 << 20   // bytes of one line that are buffered together
	// pieceOverlap is how much two pieces of a line that is too long for the buffer overlap.
	pieceOverlap = 1 << 10
	binarySize   = 512 // a NUL byte in this many first bytes makes a file binary
	normalLine   = 400 // bytes of a line in a result, unless the search says otherwise
	maxBinary    = 5   // binary files that are named
)

// Match is one matching line.
type Match struct {
	// Path is below the walk's Top, with slashes.
	Path string
	// Line is 1-based.
	Line int
	// Column is the 1-based byte at which the match begins in the line.
	Column int
	// Text is the line without its line break, valid UTF-8. For a long line it is the part around the match,
	// with marks where it was cut.
	Text string
	// Context is true for a line that is only near a match.
	Context bool
}

// Found is the result of a search.
type Found struct {
	// Matches are sorted by path and line, as many as were asked for.
	Matches []Match
	// Total counts all matching lines, Files the files that contain some.
	Total, Files int
	// Searched counts the files that were searched.
	Searched int
	// Binary counts the files skipped as binary; a few are named.
	Binary      int
	BinaryNames []string
	Missed      Missed
}

// Grep is a search of lines.
type Grep struct {
	Pattern *Pattern
	// Want selects files by their path below Top; nil selects all. It is called from several goroutines.
	Want func(path string) bool
	// Limit is the number of matches that are kept.
	Limit int
	// LineBytes bounds the text of a match; 0 means 400.
	LineBytes int
}

// Files searches the files of a walk.
func (g Grep) Files(ctx context.Context, w Walk) (Found, error) {
	c := &collector{grep: g}
	if w.Workers <= 0 {
		w.Workers = runtime.GOMAXPROCS(0)
	}
	scanners := make([]*scanner, w.Workers)
	missed, err := w.Run(ctx, func(worker int, f File) {
		if f.Link || g.Want != nil && !g.Want(f.Path) {
			return
		}
		if scanners[worker] == nil {
			scanners[worker] = g.scanner()
		}
		r, err := f.at.file(f.name)
		if err != nil {
			c.unreadable(err)
			return
		}
		defer r.close()
		scanners[worker].limit = c.wanted(f.Path)
		c.add(f.Path, scanners[worker].scan(ctx, r, false))
	})
	c.found.Missed.Deep = missed.Deep
	c.found.Missed.Unreadable += missed.Unreadable
	return c.finish(), err
}

// One searches a single named file, even if it looks binary.
func (g Grep) One(ctx context.Context, path string, r io.Reader) (Found, error) {
	c := &collector{grep: g}
	c.add(path, g.scanner().scan(ctx, r, true))
	if c.err != nil {
		return Found{}, c.err
	}
	return c.finish(), ctx.Err()
}

// collector collects what scanners find.
type collector struct {
	grep  Grep
	mu    sync.Mutex
	found Found
	err   error // of a file that could not be read to its end
	files []fileMatches
	kept  int
	// Once as many matches are kept as requested, matches of paths after last are only counted.
	last atomic.Pointer[string]
}

type fileMatches struct {
	path    string
	matches []Match
}

func (g Grep) scanner() *scanner {
	width := g.LineBytes
	if width <= 0 {
		width = normalLine
	}
	return &scanner{matcher: newMatcher(g.Pattern), limit: g.Limit, width: width, buf: make([]byte, bufSize)}
}

func (c *collector) unreadable(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found.Missed.Unreadable++
}

func (c *collector) add(path string, r scanned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.err != nil {
		c.err = r.err
		c.found.Missed.Unreadable++
	}
	if r.binary {
		c.found.Binary++
		// The first by name, so that the answer does not depend on the order of the walk.
		i, _ := slices.BinarySearch(c.found.BinaryNames, path)
		c.found.BinaryNames = slices.Insert(c.found.BinaryNames, i, path)
		if len(c.found.BinaryNames) > maxBinary {
			c.found.BinaryNames = c.found.BinaryNames[:maxBinary]
		}
		return
	}
	c.found.Searched++
	if r.total == 0 {
		return
	}
	c.found.Files++
	c.found.Total += r.total
	for i := range r.matches {
		r.matches[i].Path = path
	}
	if len(r.matches) == 0 {
		return
	}
	c.files = append(c.files, fileMatches{path, r.matches})
	if c.kept += len(r.matches); c.kept > 4*c.grep.Limit+1000 {
		c.trim()
	}
}

// wanted returns how many matches of a file may still be among those that are kept.
func (c *collector) wanted(path string) int {
	if last := c.last.Load(); last != nil && ComparePaths(path, *last) > 0 {
		return 0
	}
	return c.grep.Limit
}

// trim keeps the first matches by path.
func (c *collector) trim() {
	slices.SortFunc(c.files, func(a, b fileMatches) int { return ComparePaths(a.path, b.path) })
	c.kept = 0
	for i := range c.files {
		f := &c.files[i]
		if room := c.grep.Limit - c.kept; len(f.matches) > room {
			f.matches = f.matches[:room]
		}
		c.kept += len(f.matches)
		if c.kept >= c.grep.Limit {
			c.files = c.files[:i+1]
			last := f.path
			c.last.Store(&last)
			return
		}
	}
}

func (c *collector) finish() Found {
	c.trim()
	for _, f := range c.files {
		c.found.Matches = append(c.found.Matches, f.matches...)
	}
	return c.found
}

// ComparePaths orders paths so that the files of a folder are adjacent.
func ComparePaths(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	switch {
	case n == len(a) || n == len(b):
		return len(a) - len(b)
	case a[n] == '/':
		return -1
	case b[n] == '/':
		return 1
	}
	return int(a[n]) - int(b[n])
}

// scanner searches one file after another with one buffer.
type scanner struct {
	matcher *matcher
	limit   int
	width   int // bytes of a line in a result
	buf     []byte
}

// scanned is what was found in one file.
type scanned struct {
	matches []Match
	total   int
	last    int // number of the last matching line, if it may continue in the next piece
	binary  bool
	err     error
}

// scan reads r to its end. A text of another encoding is searched as read shows it: where its first bytes or the
// pattern say that this matters, or where something was found in it.
func (s *scanner) scan(ctx context.Context, r io.Reader, named bool) scanned {
	return s.pass(ctx, r, named, false)
}

// pass is scan, of as many whole lines at once as the buffer holds; decoded: the text is as it is shown already.
func (s *scanner) pass(ctx context.Context, r io.Reader, named, decoded bool) (out scanned) {
	line := 1  // number of the line at buf[0]
	have := 0  // bytes in buf
	split := 0 // bytes of the line at buf[0] that were searched and dropped
	for first := true; ; first = false {
		n, err := s.fill(r, have)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			out.err = err
			return out
		}
		have += n
		data := s.buf[:have]
		if first && !decoded && (utf16Marked(data) || utf16(data) || s.matcher.p.wide && otherText(data)) {
			content, changed := asText(bytes.Clone(data), r)
			return s.pass(ctx, content, named || changed, true)
		}
		if first && bytes.HasPrefix(data, utf8Mark) {
			have = copy(s.buf, data[len(utf8Mark):])
			data = s.buf[:have]
		}
		if first && !named && bytes.IndexByte(data[:min(have, binarySize)], 0) >= 0 {
			out.binary = true
			return out
		}
		whole := have
		if !end {
			if whole = bytes.LastIndexByte(data, '\n') + 1; whole == 0 {
				if len(s.buf) < maxBuf {
					s.buf = append(s.buf, make([]byte, len(s.buf))...)
					continue
				}
				whole = have // a line that exceeds the buffer: search it in pieces
			}
		}
		line = s.lines(&out, data[:whole], line, split, !end)
		if first && end && !decoded && out.total > 0 && otherText(data) {
			if content, changed := asText(data, r); changed {
				return s.pass(ctx, content, true, true)
			}
		}
		if end || ctx.Err() != nil {
			return out
		}
		if data[whole-1] == '\n' {
			split = 0
		} else { // a match across the cut is found in the next piece
			whole -= pieceOverlap
			split += whole
		}
		have = copy(s.buf, data[whole:])
	}
}

// lines searches whole lines and returns the number of the line after them, if there is more to come.
func (s *scanner) lines(out *scanned, data []byte, number, split int, more bool) int {
	s.matcher.reset(data)
	counted := 0 // bytes of data whose line breaks are in number
	first := number
	for from := 0; ; {
		line, lineEnd, ok := s.matcher.find(data, from)
		if !ok {
			if more {
				number += bytes.Count(data[counted:], []byte{'\n'})
			}
			return number
		}
		from = lineEnd + 1
		if line == 0 && split > 0 && out.last == first {
			continue // an earlier piece of this line matched
		}
		out.total++
		if lineEnd == len(data) {
			out.last = number + bytes.Count(data[counted:line], []byte{'\n'})
		}
		if len(out.matches) < s.limit {
			number += bytes.Count(data[counted:line], []byte{'\n'})
			counted = line
			start, end := s.matcher.place(data[line:lineEnd])
			column := start + 1
			if line == 0 {
				column += split
			}
			out.matches = append(out.matches, Match{Line: number, Column: column, Text: Excerpt(data[line:lineEnd], start, end, s.width)})
		}
	}
}

// Excerpt returns a line for a result: without its carriage return, valid UTF-8, and if it has more than
// width bytes only the part around the bytes start to end.
func Excerpt(line []byte, start, end, width int) string {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) <= width {
		return text.Valid(string(line))
	}
	from := 0
	if end > width*3/4 {
		from = max(0, start-width/4)
	}
	to := min(len(line), from+width)
	part := string(line[from:to])
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
		part = text.CutTail(part, len(part)-runeRest(part))
	}
	if to < len(line) {
		part = text.Cut(part, len(part)-partialRune(part))
	}
	b.WriteString(text.Valid(part))
	if to < len(line) {
		b.WriteString("…")
	}
	return b.String()
}

// runeRest returns how many bytes at the start of s belong to a rune that began earlier.
func runeRest(s string) int {
	n := 0
	for n < len(s) && n < 3 && s[n]&0xc0 == 0x80 {
		n++
	}
	return n
}

// partialRune returns how many bytes at the end of s belong to a rune that continues after it.
func partialRune(s string) int {
	for n := 1; n <= 3 && n <= len(s); n++ {
		c := s[len(s)-n]
		if c&0xc0 == 0x80 {
			continue
		}
		if c >= 0xf0 && n < 4 || c >= 0xe0 && c < 0xf0 && n < 3 || c >= 0xc0 && c < 0xe0 && n < 2 {
			return n
		}
		break
	}
	return 0
}

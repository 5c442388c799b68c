package patch

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of change to a file.
type Kind int

// The kinds of changes.
const (
	Add Kind = iota
	Update
	Delete
)

// File is the change of one file in a patch.
type File struct {
	Kind Kind
	Path string
	// MoveTo is the file's new path, "" if it stays.
	MoveTo string
	// Text is the content of a file that is added.
	Text string
	// Hunks are the changes of an update, in the order of the file.
	Hunks []Hunk
}

// Hunk is one change.
type Hunk struct {
	// Headers are lines that are before the place, the outermost first ("class A", "def f").
	Headers []string
	// AtEnd says that the lines are the file's last.
	AtEnd bool
	// Line is the hunk's line in the patch, from 1.
	Line  int
	lines []line
}

// line is a line of a hunk: kept (' '), added ('+') or removed ('-').
type line struct {
	op   byte
	text string
}

const (
	begin     = "*** Begin Patch"
	end       = "*** End Patch"
	addFile   = "*** Add File:"
	update    = "*** Update File:"
	deleteIt  = "*** Delete File:"
	moveTo    = "*** Move to:"
	endOfFile = "*** End of File"
)

// form shows a model the format of a patch.
const form = "a patch is\n*** Begin Patch\n*** Update File: path\n@@ a line before the place, where that helps\n line that stays\n-line that goes\n+line that comes\n*** End Patch\n" +
	"As further headings: *** Add File: (every line begins with +), *** Delete File: and, below Update File, *** Move to:"

// Parse parses a patch. An error says what is wrong with which line.
func Parse(text string) ([]File, error) {
	p := parser{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	if err := p.frame(); err != nil {
		return nil, err
	}
	var out []File
	for p.at < len(p.lines) {
		s := strings.TrimRight(p.lines[p.at], " \t")
		if s == "" {
			p.at++
			continue
		}
		f, err := p.file(s)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the patch is empty; %s", form)
	}
	return out, nil
}

// Paths returns the paths that a patch names, each once, or none if the patch cannot be parsed.
func Paths(text string) (out []string) {
	files, err := Parse(text)
	if err != nil {
		return nil
	}
	for _, f := range files {
		for _, path := range []string{f.Path, f.MoveTo} {
			if path != "" && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

type parser struct {
	lines []string
	at    int
	first int // the number of lines of the patch before lines[0]
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: "+format, append([]any{p.first + p.at + 1}, args...)...)
}

// frame removes the first and last line, and what models write around them: a Markdown fence, or the
// here-document of a shell.
func (p *parser) frame() error {
	from, to := -1, -1
	for i, s := range p.lines {
		switch strings.TrimSpace(s) {
		case begin:
			if from >= 0 && to < 0 {
				p.at = i
				return p.errorf("a second %q before %q: give one patch a call", begin, end)
			}
			if from < 0 {
				from = i
			}
		case end:
			if to < 0 {
				to = i
			}
		}
	}
	switch {
	case from < 0:
		return fmt.Errorf("the patch does not begin with %q; %s", begin, form)
	case to < from:
		return fmt.Errorf("the patch does not end with %q: it was cut, or the line was left out; nothing was changed", end)
	}
	for i, s := range p.lines {
		s = strings.TrimSpace(s)
		outside := i < from || i > to
		if !outside || s == "" || strings.HasPrefix(s, "```") || strings.Contains(s, "apply_patch") || i > to && strings.Trim(s, "EOFPATCH'\")") == "" {
			continue
		}
		p.at = i
		return p.errorf("%q is outside of %q and %q: send only the patch", s, begin, end)
	}
	p.lines, p.first = p.lines[from+1:to], from+1
	return nil
}

// heading returns the path of a heading such as "*** Add File: path".
func (p *parser) heading(s, kind string) (path string, ok bool, err error) {
	rest, ok := strings.CutPrefix(s, kind)
	if !ok {
		return "", false, nil
	}
	if path = strings.TrimSpace(rest); path == "" {
		return "", true, p.errorf("%q names no file", kind)
	}
	return path, true, nil
}

func (p *parser) file(s string) (File, error) {
	for kind, word := range []string{Add: addFile, Update: update, Delete: deleteIt} {
		path, ok, err := p.heading(s, word)
		if err != nil {
			return File{}, err
		}
		if !ok {
			continue
		}
		f := File{Kind: Kind(kind), Path: path}
		p.at++
		switch f.Kind {
		case Add:
			err = p.added(&f)
		case Update:
			err = p.updated(&f)
		case Delete:
		}
		return f, err
	}
	return File{}, p.errorf("%q is not a heading; %s", s, form)
}

// over reports whether the lines of a file have ended.
func (p *parser) over() bool {
	if p.at >= len(p.lines) {
		return true
	}
	s := p.lines[p.at]
	return strings.HasPrefix(s, addFile) || strings.HasPrefix(s, update) || strings.HasPrefix(s, deleteIt)
}

func (p *parser) added(f *File) error {
	var b strings.Builder
	for ; !p.over(); p.at++ {
		s := p.lines[p.at]
		rest, ok := strings.CutPrefix(s, "+")
		if !ok {
			if s == "" || strings.HasPrefix(s, endOfFile) {
				continue
			}
			return p.errorf("%q begins with no +: every line of an added file does", s)
		}
		b.WriteString(rest)
		b.WriteByte('\n')
	}
	f.Text = b.String()
	return nil
}

func (p *parser) updated(f *File) error {
	if !p.over() {
		to, ok, err := p.heading(strings.TrimRight(p.lines[p.at], " \t"), moveTo)
		if err != nil {
			return err
		}
		if ok {
			f.MoveTo = to
			p.at++
		}
	}
	for !p.over() {
		if strings.TrimSpace(p.lines[p.at]) == "" && p.blankRest() {
			continue
		}
		h, err := p.hunk(len(f.Hunks) == 0)
		if err != nil {
			return err
		}
		f.Hunks = append(f.Hunks, h)
	}
	if len(f.Hunks) == 0 && f.MoveTo == "" {
		return p.errorf("the update of %s changes nothing; %s", f.Path, form)
	}
	return nil
}

// blankRest skips empty lines before the next heading. It returns false, and skips none, if something
// else follows, which they belong to.
func (p *parser) blankRest() bool {
	back := p.at
	for p.at < len(p.lines) && strings.TrimSpace(p.lines[p.at]) == "" {
		p.at++
	}
	if p.over() || strings.HasPrefix(p.lines[p.at], "@@") {
		return true
	}
	p.at = back
	return false
}

func (p *parser) hunk(first bool) (Hunk, error) {
	h := Hunk{Line: p.first + p.at + 1}
	for !p.over() && strings.HasPrefix(p.lines[p.at], "@@") {
		if s := header(p.lines[p.at]); s != "" {
			h.Headers = append(h.Headers, s)
		}
		p.at++
		first = true
	}
	if !first {
		return h, p.errorf("a hunk begins with @@")
	}
	for ; !p.over(); p.at++ {
		s := p.lines[p.at]
		if strings.TrimRight(s, " \t") == endOfFile {
			h.AtEnd = true
			p.at++
			break
		}
		if strings.HasPrefix(s, "@@") {
			break
		}
		switch {
		case s == "":
			h.lines = append(h.lines, line{' ', ""})
		case s[0] == ' ' || s[0] == '+' || s[0] == '-':
			h.lines = append(h.lines, line{s[0], s[1:]})
		default:
			return h, p.errorf("%q begins with neither a space, + nor -: a line that stays begins with a space before its own indentation", s)
		}
	}
	h.trim()
	if len(h.lines) == 0 {
		return h, p.errorf("the hunk before this line is empty")
	}
	if !slices.ContainsFunc(h.lines, func(l line) bool { return l.op != ' ' }) {
		return h, fmt.Errorf("the hunk at line %d of the patch changes nothing: mark lines with + or -", h.Line)
	}
	return h, nil
}

// trim drops empty lines at the end that separate the hunk from what follows in the patch.
func (h *Hunk) trim() {
	for n := len(h.lines); n > 0 && h.lines[n-1] == (line{' ', ""}) && !h.AtEnd; n-- {
		h.lines = h.lines[:n-1]
	}
}

// header returns the line that a hunk's heading names, or "" if it names none, or only numbers as
// other formats of patches do.
func header(s string) string {
	s = strings.TrimSpace(strings.TrimPrefix(s, "@@"))
	if strings.HasPrefix(s, "-") && strings.Contains(s, " +") {
		if _, rest, ok := strings.Cut(s, "@@"); ok {
			return strings.TrimSpace(rest)
		}
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(s, "@@"))
}

package look

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/cells"
)

// Files finds the words of a text that name files of a folder, so that they become links. What it has looked up it keeps,
// because texts are drawn often. Nil finds none.
type Files struct {
	root  string
	known map[string]string // targets by name, "" = no file
}

// NewFiles returns what finds the files of a folder.
func NewFiles(root string) *Files { return &Files{root: root, known: map[string]string{}} }

const (
	longestName = 300  // of a word that may be a file's name, in bytes
	namesKnown  = 4000 // before all are looked up again
)

// Of returns the address of the file that a word names, also with a line and a column behind it: "a/b.go:12:3". It
// returns "" unless the file is in the folder and exists.
func (f *Files) Of(word string) string {
	if f == nil || f.root == "" || len(word) > longestName || !strings.ContainsAny(word, "./") || strings.Contains(word, "//") {
		return ""
	}
	name := withoutLine(word)
	target, known := f.known[name]
	if !known {
		if len(f.known) >= namesKnown {
			clear(f.known)
		}
		target = f.look(name)
		f.known[name] = target
	}
	return target
}

func (f *Files) look(name string) string {
	file := filepath.FromSlash(name)
	if filepath.IsAbs(file) {
		rel, err := filepath.Rel(f.root, file)
		if err != nil {
			return ""
		}
		file = rel
	}
	if !filepath.IsLocal(file) || file == "." {
		return ""
	}
	file = filepath.Join(f.root, file)
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	file = filepath.ToSlash(file)
	if !strings.HasPrefix(file, "/") { // a drive
		file = "/" + file
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

// withoutLine takes a line, a range of lines and a column off a name.
func withoutLine(word string) string {
	for range 2 {
		i := strings.LastIndexByte(word, ':')
		if i <= 0 || i+1 == len(word) || strings.Trim(word[i+1:], "0123456789-") != "" {
			break
		}
		word = word[:i]
	}
	return word
}

// marksAround are the marks that a name in prose may stand in.
const marksAround = "()[]{}<>,;\"'`*"

// Linked makes the words of a text that name files links; the rest of it stays as it is.
func (f *Files) Linked(s cells.Span) []cells.Span {
	if f == nil || s.Link != "" || !strings.ContainsAny(s.Text, "./") {
		return []cells.Span{s}
	}
	var out []cells.Span
	from := 0
	add := func(to int, link string) {
		if to > from {
			out = append(out, cells.Span{Text: s.Text[from:to], Style: s.Style, Link: link})
			from = to
		}
	}
	at := 0
	for word := range strings.SplitSeq(s.Text, " ") {
		name := strings.TrimRight(strings.Trim(word, marksAround), ".:")
		if name != "" {
			if target := f.Of(name); target != "" {
				start := at + strings.Index(word, name)
				add(start, "")
				add(start+len(name), target)
			}
		}
		at += len(word) + 1
	}
	add(len(s.Text), "")
	return out
}

// Fresh looks all files up again: some may have come.
func (f *Files) Fresh() *Files {
	if f == nil {
		return nil
	}
	return NewFiles(f.root)
}

// Package instructions owns the files in which a project tells the agent how to work in
// it: AGENTS.md, CLAUDE.md and its like, and the rules of .claude, from the project's root down to the working folder, those
// of subfolders when work first touches them, the person's own global one, and what they
// import. Each file is sent once, even if several paths lead to it.
//
// It must not know how the text reaches a model.
package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/internal/charset"
	"jcode/internal/frontmatter"
	"jcode/internal/paths"
	"jcode/internal/text"
)

const (
	maxText    = 32 << 10 // bytes sent at once
	maxRead    = 1 << 20  // bytes of one file that are looked at
	maxImports = 5        // levels of imports
	maxSources = 200      // files in all
)

// names are the files that are looked for in a folder, in this order. The last one is a person's own, which they keep
// out of the repository.
var names = [...]string{"AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"}

// Names returns the files that are looked for in a folder, besides its rules.
func Names() []string { return names[:] }

// Options say where instructions are looked for. Empty fields are left out.
type Options struct {
	// Config is jcode's configuration folder, whose AGENTS.md holds everywhere.
	Config string
	// Home is what `~/` means in an import of the global file.
	Home string
	// Root is the project's root and Cwd the working folder, both absolute.
	Root string
	Cwd  string
	// Denied reports whether a file must not be read, by its resolved path; nil denies none.
	Denied func(path string) bool
	// Foreign returns whose a file is if it belongs to another user whose instructions do not count, else "". Nil
	// means that all files of the project count.
	Foreign func(path string) string
}

// Set is the instructions of one conversation. It is safe for concurrent use.
type Set struct {
	opts Options

	mu      sync.Mutex
	loaded  bool
	given   []*source // in the order in which they were sent
	touched []string  // subfolders that work has touched and that hold instructions
	rules   map[string]rule
	matched []string // files of rules about files that work has touched
	notices []string
	said    map[string]bool // notices that were made before
}

// source is one file that was sent.
type source struct {
	path     string // as it was reached
	info     fs.FileInfo
	text     string
	mod      time.Time
	size     int64
	personal bool     // the person's own: may import from anywhere
	folder   string   // where it holds; empty for everywhere
	prompt   bool     // is in the system prompt
	globs    []string // of the files that it is about, none for all
}

// New makes a Set. It reads nothing before the first Prompt.
func New(opts Options) *Set {
	if real, err := paths.Resolve(opts.Root); err == nil && opts.Root != "" {
		opts.Root = real
	}
	if real, err := paths.Resolve(opts.Cwd); err == nil && opts.Cwd != "" {
		opts.Cwd = real
	}
	return &Set{opts: opts, said: map[string]bool{}}
}

// Prompt reads everything again and returns it for a system prompt: global file, root to
// working folder, then the subfolders that were touched. It is empty when there is nothing.
func (s *Set) Prompt() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded, s.given = true, nil
	var list []*source
	list = append(list, s.own()...)
	for _, dir := range append(s.folders(), s.touched...) {
		list = append(list, s.folder(dir)...)
	}
	for _, src := range list {
		src.prompt = true
	}
	return s.join(list)
}

// own reads the files that hold everywhere: jcode's, and that of Claude Code.
func (s *Set) own() (list []*source) {
	if s.opts.Config != "" {
		list = append(list, s.take(filepath.Join(s.opts.Config, names[0]), "", true, 0)...)
	}
	if s.opts.Home != "" {
		list = append(list, s.take(filepath.Join(s.opts.Home, ".claude", "CLAUDE.md"), "", true, 0)...)
	}
	return list
}

// folders lists the folders from the root down to the working folder.
func (s *Set) folders() []string {
	root, cwd := s.opts.Root, s.opts.Cwd
	switch {
	case cwd == "" && root == "":
		return nil
	case cwd == "" || root == "" || !paths.Within(root, cwd):
		return slices.DeleteFunc([]string{root, cwd}, func(d string) bool { return d == "" })
	}
	return between(root, cwd)
}

// between lists root and the folders from there down to dir, which is below it.
func between(root, dir string) []string {
	list := []string{dir}
	for dir != root {
		dir = filepath.Dir(dir)
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}

// folder takes the instruction files of one folder of the project.
func (s *Set) folder(dir string) []*source {
	var list []*source
	for _, name := range names {
		list = append(list, s.take(filepath.Join(dir, filepath.FromSlash(name)), dir, false, 0)...)
	}
	return append(list, s.always(dir)...)
}

// take reads a file and what it imports, unless it was sent before.
func (s *Set) take(path, folder string, personal bool, depth int) []*source {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // most folders have none
	}
	if !personal && !s.inside(path) {
		s.notice("%s leads out of the project and is not read", path)
		return nil
	}
	if !personal && s.denied(path) {
		s.notice("%s: your rules forbid to read it", path)
		return nil
	}
	if s.opts.Foreign != nil && !personal {
		if whose := s.opts.Foreign(path); whose != "" {
			s.notice("%s belongs to %s and is not read", path, whose)
			return nil
		}
	}
	for _, g := range s.given {
		if os.SameFile(g.info, info) {
			return nil
		}
	}
	if len(s.given) >= maxSources {
		s.notice("more than %d files of instructions: %s is left out", maxSources, path)
		return nil
	}
	content, err := s.readText(path)
	if err != nil {
		s.notice("%s: %v", path, err)
		return nil
	}
	if isRule(path) {
		if doc := frontmatter.Parse([]byte(content)); doc.Closed {
			content = doc.Body
		}
	}
	src := &source{
		path: path, info: info, text: clean(content), mod: info.ModTime(), size: info.Size(),
		folder: folder, personal: personal,
	}
	if src.text != "" && slices.ContainsFunc(s.given, func(g *source) bool { return g.text == src.text }) {
		return nil // a copy under the other name
	}
	s.given = append(s.given, src)
	list := []*source{src}
	for _, imp := range imports(src.text) {
		target := s.target(src, imp)
		if _, err := os.Stat(target); err != nil {
			if looksLikeFile(imp.path) {
				s.notice("%s:%d: @%s does not exist", path, imp.line, imp.path)
			}
			continue
		}
		if depth+1 > maxImports {
			s.notice("%s:%d: @%s is more than %d imports deep and is left out", path, imp.line, imp.path, maxImports)
			continue
		}
		list = append(list, s.take(target, folder, personal, depth+1)...)
	}
	return list
}

// inside reports whether a file of the project is really inside it: a link in a repository
// must not make a private file part of a prompt.
func (s *Set) inside(path string) bool {
	real, err := paths.Resolve(path)
	if err != nil {
		return false
	}
	for _, root := range []string{s.opts.Root, s.opts.Cwd} {
		if root != "" && paths.Within(root, real) {
			return true
		}
	}
	return false
}

// denied reports whether the person's rules forbid to read a file.
func (s *Set) denied(path string) bool {
	if s.opts.Denied == nil {
		return false
	}
	real, err := paths.Resolve(path)
	return err != nil || s.opts.Denied(real)
}

// target returns the file that an import means.
func (s *Set) target(src *source, imp imported) string {
	path := filepath.FromSlash(imp.path)
	if rest, ok := strings.CutPrefix(imp.path, "~/"); ok {
		return filepath.Join(s.opts.Home, filepath.FromSlash(rest))
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(src.path), path)
}

// notice keeps what the person should know, once.
func (s *Set) notice(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !s.said[n] {
		s.said[n] = true
		s.notices = append(s.notices, n)
	}
}

// readHead reads at most maxRead bytes.
func readHead(path string) ([]byte, error) {
	f, err := paths.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxRead))
	if err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return data, nil
}

// readText reads a file of any encoding, and tells the person of one that had to be guessed.
func (s *Set) readText(path string) (string, error) {
	data, err := readHead(path)
	if err != nil {
		return "", err
	}
	content, encoding := charset.Decode(data)
	switch encoding {
	case charset.Binary:
		if bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 {
			return "", errors.New("is not text and is not read")
		}
		return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd"), nil
	case charset.UTF8:
	default:
		s.notice("%s is read as %s: save it as UTF-8 if a character is wrong", s.show(path), encoding)
	}
	return content, nil
}

func clean(content string) string { return strings.TrimSpace(text.Clean(content)) }

// join makes one text of the sources, at most maxText bytes, and says what is left out.
func (s *Set) join(list []*source) string {
	var b strings.Builder
	for _, src := range list {
		if src.text == "" {
			continue
		}
		head := "# Instructions from " + s.show(src.path)
		if src.folder != "" && src.folder != s.opts.Root {
			head += " (for " + s.show(src.folder) + ")"
		}
		if len(src.globs) > 0 {
			head += " (for files that match " + strings.Join(src.globs, ", ") + ")"
		}
		head += "\n\n"
		if b.Len() > 0 {
			head = "\n\n" + head
		}
		room := maxText - b.Len() - len(head) - 200
		if room < 500 {
			s.notice("%s is left out: instructions are cut at %d KB", s.show(src.path), maxText>>10)
			continue
		}
		body, cut := text.CutMark(src.text, room, "")
		b.WriteString(head + body)
		if cut {
			line := 1 + strings.Count(body, "\n")
			fmt.Fprintf(&b, "\n[… cut here at line %d; read the rest of %s when it matters …]", line, s.show(src.path))
			s.notice("%s is cut at line %d: instructions are cut at %d KB in all", s.show(src.path), line, maxText>>10)
		}
	}
	return b.String()
}

// show returns a path as the person knows it: relative to the root if it is below it.
func (s *Set) show(path string) string {
	if s.opts.Root != "" && paths.Within(s.opts.Root, path) {
		if rel, err := filepath.Rel(s.opts.Root, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// Notices returns what a person should know since the last call: files that were cut, left
// out, or not found.
func (s *Set) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.notices
	s.notices = nil
	return list
}

// Files lists the files that were sent so far, in order.
func (s *Set) Files() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]string, len(s.given))
	for i, src := range s.given {
		list[i] = src.path
	}
	return list
}

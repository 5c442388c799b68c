package notes

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
	"time"

	"jcode/internal/atomicfile"
	"jcode/internal/filelock"
	"jcode/internal/paths"
	"jcode/internal/secret"
	"jcode/internal/text"
)

// The limits of a book. What a person wrote beyond them is kept, and named as a problem.
const (
	maxFile   = 256 << 10 // bytes of a topic's file
	maxTopics = 300       // files
	maxNotes  = 2000      // of a book
	lockWait  = 10 * time.Second
)

// indexName is the file that names every note in a line; inboxName holds the drafts.
const (
	indexName = "MEMORY.md"
	inboxName = "inbox.md"
)

// Options are the settings of Open.
type Options struct {
	// Folder holds the books.
	Folder string
	// Project is the name of the project's book: all worktrees of a repository have the same.
	Project string
	// Root is the project's folder, to which the files are relative that notes depend on.
	Root string
	// Locks are between all processes that write the books.
	Locks filelock.Paths
	// Embedder opens the model that ranks notes by their meaning; it is closed after each search. Both it and what it
	// returns may be nil: they are ranked by their words alone.
	Embedder func() (Embedder, error)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Problem is something that keeps notes from being read.
type Problem struct{ File, Text string }

func (p Problem) String() string { return p.File + ": " + p.Text }

// Store has the notes of a project and of the user. It is safe for concurrent use, also between processes.
type Store struct {
	opts Options

	mu    sync.Mutex
	known map[string]known  // files that were parsed, by path
	sums  map[string]string // hashes of files that notes depend on

	model   string               // of vectors
	vectors map[string][]float32 // embeddings of notes, by text
}

// known is a file as it was parsed.
type known struct {
	size     int64
	modified time.Time
	file     file
}

// Open returns the store of a folder. It reads nothing.
func Open(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Locks.Limit = lockWait
	return &Store{opts: o, known: map[string]known{}, sums: map[string]string{}}
}

// Folder returns the folder of a book.
func (s *Store) Folder(about About) string {
	if about == User {
		return filepath.Join(s.opts.Folder, string(User))
	}
	return filepath.Join(s.opts.Folder, s.opts.Project)
}

// today is the day of the clock.
func (s *Store) today() time.Time {
	y, m, d := s.opts.Now().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// topic is a topic's file that was read.
type topic struct {
	name, path string
	file       file
}

// book is a book that was read.
type book struct {
	about    About
	topics   []topic
	byHand   []*Note // lines that a person wrote into MEMORY.md
	problems []Problem
}

// notes lists the notes of a book.
func (b book) notes() (out []*Note) {
	for _, t := range b.topics {
		for _, part := range t.file.blocks {
			if part.note != nil {
				out = append(out, part.note)
			}
		}
	}
	return append(out, b.byHand...)
}

// broken reports whether a file of the book could not be read.
func (b book) broken(path string) bool {
	return slices.ContainsFunc(b.problems, func(p Problem) bool { return p.File == path })
}

// read reads a book. A folder that does not exist is an empty book.
func (s *Store) read(about About) book {
	b := book{about: about}
	dir := s.Folder(about)
	names, err := topicNames(dir)
	if err != nil {
		b.problems = append(b.problems, Problem{dir, plain(err)})
	}
	if len(names) > maxTopics {
		b.problems = append(b.problems, Problem{dir, fmt.Sprintf("it has %d files, of which the first %d are read", len(names), maxTopics)})
		names = names[:maxTopics]
	}
	count := 0
	for _, name := range names {
		path := filepath.Join(dir, name)
		f, err := s.parse(path)
		if err != nil {
			b.problems = append(b.problems, Problem{path, plain(err)})
			continue
		}
		t := topic{name: strings.TrimSuffix(name, ".md"), path: path}
		for _, part := range f.blocks {
			if part.note != nil {
				if count++; count > maxNotes {
					part.note = nil
				} else {
					part.note = s.placed(*part.note, about, t.name, path, part.line)
				}
			}
			t.file.blocks = append(t.file.blocks, part)
		}
		b.topics = append(b.topics, t)
	}
	if count > maxNotes {
		b.problems = append(b.problems, Problem{dir, fmt.Sprintf("it has %d notes, of which the first %d are read", count, maxNotes)})
	}
	index := filepath.Join(dir, indexName)
	f, err := s.parse(index)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.problems = append(b.problems, Problem{index, plain(err)})
	}
	kept := b.notes()
	for _, part := range f.blocks {
		if part.note == nil || indexed(part.raw) {
			continue
		}
		n := s.placed(*part.note, about, general, index, part.line)
		if !slices.ContainsFunc(kept, func(k *Note) bool { return k.ID == n.ID }) {
			b.byHand = append(b.byHand, n)
		}
	}
	return b
}

// placed completes a note with what its place says.
func (s *Store) placed(n Note, about About, topic, path string, line int) *Note {
	n.About, n.Topic, n.File, n.Line = about, topic, path, line
	n.ID = noteID(about, topic, n.Text)
	n.Secret = secret.Value(n.Text)
	if n.Since.IsZero() {
		s.mu.Lock()
		n.Since = s.known[path].modified
		s.mu.Unlock()
		y, m, d := n.Since.Date()
		n.Since = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return &n
}

// topicNames lists the files of topics in a folder.
func topicNames(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range list {
		name := e.Name()
		if strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".") && name != indexName && name != inboxName && !atomicfile.IsTemporary(name) {
			names = append(names, name)
		}
	}
	return names, err
}

var (
	errHuge    = fmt.Errorf("it is larger than %d KB and is not read: divide it", maxFile>>10)
	errDamaged = errors.New("it is damaged: it holds bytes that are no text, and is not read")
)

// parse reads and parses a file, if it has changed since it was last parsed.
func (s *Store) parse(path string) (file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, errors.New("it is no regular file")
	}
	if info.Size() > maxFile {
		return file{}, errHuge
	}
	s.mu.Lock()
	was, ok := s.known[path]
	s.mu.Unlock()
	if ok && was.size == info.Size() && was.modified.Equal(info.ModTime()) {
		return was.file, nil
	}
	data, err := paths.ReadFile(path, maxFile)
	if err != nil {
		return file{}, err
	}
	if text.Valid(string(data)) != string(data) || strings.ContainsRune(string(data), 0) {
		return file{}, errDamaged
	}
	f := parseFile(string(data))
	s.mu.Lock()
	s.known[path] = known{info.Size(), info.ModTime(), f}
	s.mu.Unlock()
	return f, nil
}

// plain removes a file's name from an error.
func plain(err error) string {
	if in, ok := errors.AsType[*fs.PathError](err); ok {
		return in.Err.Error()
	}
	return err.Error()
}

// List returns the notes of some books, or of both, in the order of their files, with what could not be read.
func (s *Store) List(about ...About) (list []Note, problems []Problem) {
	if len(about) == 0 {
		about = []About{Project, User}
	}
	for _, a := range about {
		b := s.read(a)
		problems = append(problems, b.problems...)
		for _, n := range b.notes() {
			n.Changed = s.changed(n.Depends)
			list = append(list, *n)
		}
	}
	return list, problems
}

// ErrUnknown says that there is no note of an ID.
var ErrUnknown = errors.New("there is no such note")

// Find returns a note by its ID, or by the beginning of one that only one note has.
func (s *Store) Find(id string) (Note, error) {
	list, _ := s.List()
	var found []Note
	for _, n := range list {
		if n.ID == id {
			return n, nil
		}
		if id != "" && strings.HasPrefix(n.ID, id) {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		return Note{}, fmt.Errorf("%q: %w", id, ErrUnknown)
	}
	return found[0], nil
}

// Stamp changes with every change of the books that jcode or a person makes in MEMORY.md or among the files.
func (s *Store) Stamp() string {
	var b strings.Builder
	for _, about := range []About{Project, User} {
		for _, path := range []string{s.Folder(about), filepath.Join(s.Folder(about), indexName)} {
			if info, err := os.Stat(path); err == nil {
				fmt.Fprintf(&b, "%d.%d ", info.ModTime().UnixNano(), info.Size())
			}
		}
	}
	return b.String()
}

// change lets do change a book that nobody else writes meanwhile, and writes MEMORY.md anew.
func (s *Store) change(ctx context.Context, about About, do func(b book) error) error {
	dir := s.Folder(about)
	real, err := paths.Resolve(dir)
	if err != nil {
		return fmt.Errorf("notes: %w", err)
	}
	unlock, err := s.opts.Locks.Lock(ctx, real)
	if err != nil {
		return fmt.Errorf("another jcode writes the notes in %s: %w", dir, err)
	}
	defer unlock()
	b, err := s.adopt(s.read(about))
	if err != nil {
		return err
	}
	if err := do(b); err != nil {
		return err
	}
	return s.writeIndex(about)
}

// save writes a file of a book, or removes it if nothing but its heading is left.
func (s *Store) save(path string, f file) error {
	if !slices.ContainsFunc(f.blocks, func(b block) bool { return b.note != nil || !blank(b.raw) }) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove %s: %w", path, err)
		}
		return nil
	}
	return s.put(path, f.String())
}

// blank reports whether a part of a file says nothing by itself.
func blank(raw string) bool {
	bare := strings.TrimSpace(raw)
	return bare == "" || strings.HasPrefix(bare, "#")
}

// put writes a file in one step, so that a full disk costs nothing that was there.
func (s *Store) put(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep notes: %w", err)
	}
	if err := atomicfile.Write(path, []byte(content), atomicfile.Options{Perm: 0o600, Sync: true}); err != nil {
		return fmt.Errorf("keep notes: %w", err)
	}
	return nil
}

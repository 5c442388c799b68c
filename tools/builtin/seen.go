package builtin

import (
	"container/list"
	"hash/maphash"
	"sync"
	"time"

	"jcode/tools"
)

const (
	seenFilesMax = 4096      // files remembered, over all sessions
	seenTextMax  = 256 << 10 // bytes of one file that are kept to show what changed
	seenTextsMax = 4 << 20   // bytes kept in all
)

// Seen remembers the contents of files that the conversations of a process saw, to notice later
// changes by others. Scripts are not tracked: they read and write as programs do.
type Seen struct {
	mu    sync.Mutex
	seed  maphash.Seed
	files map[seenKey]*list.Element
	order *list.List // of *seenFile, the latest first
	texts int
	// commands are the running commands, at whose ends the files are compared.
	commands map[*commandFiles]struct{}
}

type seenKey struct{ session, path string }

type seenFile struct {
	key  seenKey
	hash uint64
	text string // the content, or "" if it was too long
	kept bool
	at   time.Time
}

// NewSeen returns a Seen that knows no file.
func NewSeen() *Seen {
	return &Seen{seed: maphash.MakeSeed(), files: map[seenKey]*list.Element{}, order: list.New(), commands: map[*commandFiles]struct{}{}}
}

// record remembers the content that a caller saw or wrote.
func (s *Seen) record(call tools.Call, path string, content []byte) {
	if call.Caller.Origin == tools.OriginScript {
		return
	}
	key := seenKey{call.Caller.Session, path}
	file := &seenFile{key: key, hash: maphash.Bytes(s.seed, content), at: time.Now()}
	if len(content) <= seenTextMax {
		file.text, file.kept = string(content), true
	}
	for _, c := range s.running() {
		c.follow(path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key)
	s.files[key] = s.order.PushFront(file)
	s.texts += len(file.text)
	for e := s.order.Back(); e != nil && s.texts > seenTextsMax; e = e.Prev() {
		old := e.Value.(*seenFile)
		s.texts -= len(old.text)
		old.text, old.kept = "", false
	}
	for s.order.Len() > seenFilesMax {
		s.drop(s.order.Back().Value.(*seenFile).key)
	}
}

// forget drops paths that were removed.
func (s *Seen) forget(call tools.Call, paths ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range paths {
		s.drop(seenKey{call.Caller.Session, path})
	}
}

func (s *Seen) drop(key seenKey) {
	if e := s.files[key]; e != nil {
		s.texts -= len(e.Value.(*seenFile).text)
		s.order.Remove(e)
		delete(s.files, key)
	}
}

// has reports whether the caller saw or wrote a path before.
func (s *Seen) has(call tools.Call, path string) bool { return !s.since(call, path).IsZero() }

// since returns when the caller last saw or wrote a path, zero if it never did.
func (s *Seen) since(call tools.Call, path string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.files[seenKey{call.Caller.Session, path}]; e != nil {
		return e.Value.(*seenFile).at
	}
	return time.Time{}
}

// changed reports whether the caller saw content other than this. before is what it saw, nil if
// that was not kept.
func (s *Seen) changed(call tools.Call, path string, content []byte) (before *string, changed bool) {
	if call.Caller.Origin == tools.OriginScript {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.files[seenKey{call.Caller.Session, path}]
	if e == nil {
		return nil, false
	}
	file := e.Value.(*seenFile)
	if file.hash == maphash.Bytes(s.seed, content) {
		return nil, false
	}
	if file.kept {
		before = &file.text
	}
	return before, true
}

package builtin

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"

	"jcode/internal/edit"
	"jcode/internal/fileview"
	"jcode/internal/paths"
	"jcode/tools"
)

const (
	seenFilesMax = 4096      // files remembered, over all sessions
	seenTextMax  = 512 << 10 // bytes of one file that are kept to show what changed
	seenTextsMax = 8 << 20   // bytes kept in all
)

// Seen remembers what conversations were shown of files, line by line: to notice later changes by others,
// and lines that a conversation replaces without ever having seen them. Scripts are not tracked: they read
// and write as programs do.
type Seen struct {
	kept Kept
	seed maphash.Seed
	// changing is held while what is known of a file changes.
	changing sync.Mutex

	mu    sync.Mutex
	files map[seenKey]*list.Element
	order *list.List // of *seenFile, the latest first
	texts int
	// refused are the contents over which a write was refused because it would remove lines never shown.
	refused map[seenKey]digest
	// commands are the running commands, at whose ends the files are compared.
	commands map[*watchedFiles]struct{}
}

// Kept stores what conversations were shown beyond the life of a process. It reports its own failures.
type Kept interface {
	// View returns what a session was shown of a file: nothing but the stamp if that is still the given
	// one, and a zero stamp if there is nothing.
	View(ctx context.Context, session, path string, stamp int64) KeptView
	// Keep stores it, and returns its new stamp; 0 if it is not stored.
	Keep(ctx context.Context, session, path string, v KeptView) (stamp int64)
	Drop(ctx context.Context, session string, paths []string)
	// Move gives what is stored of a path, and of what is below it, to another path.
	Move(ctx context.Context, session, from, to string)
}

// KeptView is what a session was shown of a file, as it is stored.
type KeptView struct {
	Stamp int64
	// Known is a digest of what the file held then.
	Known []byte
	View  fileview.View
	At    time.Time
}

type seenKey struct{ session, path string }

// seenFile is what a conversation knows of a file.
type seenFile struct {
	key   seenKey
	known digest // of what the file held when the conversation last learned of it
	view  fileview.View
	held  bool // view is kept; it is not if the text is too long
	whole bool // the conversation knew all of what the file held
	at    time.Time
	stamp int64 // of the stored view
}

// digest identifies a content.
type digest [16]byte

// NewSeen returns a Seen. kept may be nil: then it knows no file that its process has not shown.
func NewSeen(kept Kept) *Seen {
	return &Seen{kept: kept, seed: maphash.MakeSeed(), files: map[seenKey]*list.Element{}, refused: map[seenKey]digest{}, order: list.New(), commands: map[*watchedFiles]struct{}{}}
}

func (s *Seen) digest(content []byte) (d digest) {
	if len(content) > seenTextMax { // it is not stored
		binary.NativeEndian.PutUint64(d[:], maphash.Bytes(s.seed, content))
		binary.NativeEndian.PutUint64(d[8:], uint64(len(content)))
		return d
	}
	sum := sha256.Sum256(content)
	copy(d[:], sum[:])
	return d
}

// of returns what a caller knows of a path; ok is false if it was never shown it.
func (s *Seen) of(ctx context.Context, call tools.Call, path string) (f seenFile, ok bool) {
	if call.Caller.Origin == tools.OriginScript {
		return f, false
	}
	key := seenKey{call.Caller.Session, path}
	s.mu.Lock()
	e := s.files[key]
	if e != nil {
		f, ok = *e.Value.(*seenFile), true
	}
	s.mu.Unlock()
	if s.kept == nil || key.session == "" {
		return f, ok
	}
	stamp := f.stamp
	if !f.held {
		stamp = 0 // its text was dropped here
	}
	v := s.kept.View(ctx, key.session, path, stamp)
	switch {
	case v.Stamp == 0 && f.stamp != 0: // it was taken out of the conversation
		s.mu.Lock()
		s.drop(key)
		s.mu.Unlock()
		return seenFile{}, false
	case v.Stamp == 0 || v.Stamp == f.stamp && f.held:
		return f, ok
	}
	f.key, f.view, f.held, f.at, f.stamp = key, v.View, true, v.At, v.Stamp
	copy(f.known[:], v.Known)
	s.put(f)
	return f, true
}

// learn changes what a caller knows of a path that holds content now. next returns its new view, given the
// old one, if there is one.
func (s *Seen) learn(ctx context.Context, call tools.Call, path string, content []byte, whole bool, next func(old fileview.View, known bool, text string) fileview.View) {
	if call.Caller.Origin == tools.OriginScript {
		return
	}
	for _, c := range s.running() {
		c.follow(path)
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	old, had := s.of(ctx, call, path)
	f := seenFile{key: seenKey{call.Caller.Session, path}, known: s.digest(content), at: time.Now()}
	text, _, err := edit.Decode(content)
	if err == nil && len(text) <= seenTextMax {
		f.view, f.held = next(old.view, had && old.held, text), true
		f.whole = f.view.Complete() && f.view.Text == text
	} else {
		f.whole = whole || had && old.whole && old.known == f.known
	}
	if s.kept != nil && f.key.session != "" {
		if f.held {
			f.stamp = s.kept.Keep(ctx, f.key.session, path, KeptView{Known: f.known[:], View: f.view, At: f.at})
		} else if had {
			s.kept.Drop(ctx, f.key.session, []string{path})
		}
	}
	s.put(f)
}

// showed notes that lines of a file were shown; without lines, that the whole was.
func (s *Seen) showed(ctx context.Context, call tools.Call, path string, content []byte, lines ...fileview.Span) {
	s.learn(ctx, call, path, content, lines == nil, func(old fileview.View, known bool, text string) fileview.View {
		switch {
		case lines == nil:
			return fileview.All(text)
		case !known:
			old = fileview.None(text)
		}
		return old.Show(text, lines...)
	})
}

// wrote notes that a caller wrote a file as a whole. What it holds now may have changes of others too,
// which the caller does not know.
func (s *Seen) wrote(ctx context.Context, call tools.Call, path, believed string, content []byte) {
	s.learn(ctx, call, path, content, true, func(fileview.View, bool, string) fileview.View { return fileview.All(believed) })
}

// changed notes that a caller changed a part of a file.
func (s *Seen) changed(ctx context.Context, call tools.Call, path string, before, after []byte) {
	s.learn(ctx, call, path, after, false, func(old fileview.View, known bool, text string) fileview.View {
		was, enc, err := edit.Decode(before)
		if now, nowErr := enc.Text(after); err == nil && nowErr == nil {
			text = now // also where the guess at its encoding is another one now
		}
		switch {
		case err != nil:
			return fileview.None(text)
		case !known:
			old = fileview.None(was)
		}
		return old.Change(was, text)
	})
}

// move gives what a caller knows of a path, and of what is below it, to another path.
func (s *Seen) move(ctx context.Context, call tools.Call, from, to string) {
	if call.Caller.Origin == tools.OriginScript {
		return
	}
	for _, c := range s.running() {
		c.follow(to)
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	for key, e := range s.files {
		if key.session != call.Caller.Session || !paths.Within(from, key.path) {
			continue
		}
		f := *e.Value.(*seenFile)
		s.drop(key)
		f.key.path = to + key.path[len(from):]
		s.drop(f.key)
		s.files[f.key] = s.order.PushFront(&f)
		s.texts += len(f.view.Text)
	}
	s.mu.Unlock()
	if s.kept != nil && call.Caller.Session != "" {
		s.kept.Move(ctx, call.Caller.Session, from, to)
	}
}

// refuse notes that a write over content was refused because it would remove lines never shown.
func (s *Seen) refuse(call tools.Call, path string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) >= seenFilesMax {
		clear(s.refused)
	}
	s.refused[seenKey{call.Caller.Session, path}] = s.digest(content)
}

// refusedOver reports whether the last write that was refused would have replaced this content.
func (s *Seen) refusedOver(call tools.Call, path string, content []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.refused[seenKey{call.Caller.Session, path}]
	return ok && d == s.digest(content)
}

func (s *Seen) put(f seenFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(f.key)
	s.files[f.key] = s.order.PushFront(&f)
	s.texts += len(f.view.Text)
	for e := s.order.Back(); e != nil && s.texts > seenTextsMax; e = e.Prev() {
		old := e.Value.(*seenFile)
		s.texts -= len(old.view.Text)
		old.view, old.held = fileview.View{}, false
	}
	for s.order.Len() > seenFilesMax {
		s.drop(s.order.Back().Value.(*seenFile).key)
	}
}

// forget drops paths that were removed.
func (s *Seen) forget(ctx context.Context, call tools.Call, paths ...string) {
	if call.Caller.Origin == tools.OriginScript {
		return
	}
	s.mu.Lock()
	for _, path := range paths {
		key := seenKey{call.Caller.Session, path}
		s.drop(key)
		delete(s.refused, key)
	}
	s.mu.Unlock()
	if s.kept != nil && call.Caller.Session != "" {
		s.kept.Drop(ctx, call.Caller.Session, paths)
	}
}

func (s *Seen) drop(key seenKey) {
	if e := s.files[key]; e != nil {
		s.texts -= len(e.Value.(*seenFile).view.Text)
		s.order.Remove(e)
		delete(s.files, key)
	}
}

// differs reports whether a caller knows of other content than this. before is the file as it believes it
// to be, nil if that is not kept.
func (s *Seen) differs(ctx context.Context, call tools.Call, path string, content []byte) (before *string, differs bool) {
	f, ok := s.of(ctx, call, path)
	if !ok || f.known == s.digest(content) {
		return nil, false
	}
	if f.held {
		before = &f.view.Text
	}
	return before, true
}

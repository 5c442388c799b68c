package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jcode/internal/paths"
)

// Kind is what is at a path.
type Kind byte

// The kinds of things at a path. The zero kind is nothing.
const (
	None    Kind = 0
	File    Kind = 'f'
	Folder  Kind = 'd'
	Link    Kind = 'l'
	Other   Kind = 'o' // a device, a pipe: never changed
	LeftOut Kind = 'x' // a folder that is not looked into

	// Repository is what git keeps of one, .git: not looked into, but known again when it was moved.
	Repository Kind = 'g'
)

// Entry is what is at a path.
type Entry struct {
	Kind Kind
	// Hash names the content of a file or the target of a link; "" if it was not read.
	Hash string
	Mode uint32 // permission bits of files and folders
	Size int64  // of a file, in bytes
	// Why says why the content is not kept, "" if it is.
	Why   string
	stamp stamp
}

// named is an entry with its name in its folder.
type named struct {
	name string
	is   Entry
}

// listing is what is in a folder, in the order of the disk.
type listing []named

// index returns where each name is.
func (l listing) index() map[string]int {
	at := make(map[string]int, len(l))
	for i, e := range l {
		at[e.name] = i
	}
	return at
}

// same reports whether two entries are alike, as far as is known.
func (e Entry) same(o Entry) bool {
	return e.Kind == o.Kind && e.Mode == o.Mode && e.Size == o.Size && e.Hash == o.Hash && (e.Hash != "" || e.stamp == o.stamp)
}

// Change is a path whose entry differs from that of the look before.
type Change struct {
	Path          string // absolute
	Before, After Entry
}

// The reasons why a content is not kept.
const (
	whySize   = "it is too large to keep"
	whySecret = "a secret is not kept"
	whyRead   = "it could not be read"
	whyLate   = "it had not been read before"
)

// Options say what a tree keeps.
type Options struct {
	// LeftOut are names of folders that are not looked into: what a build writes.
	LeftOut []string
	// Skip returns, for a folder, what tells which names in it are not looked at; for a folder neither what is in it.
	// Either may be nil. It is asked once for each folder of a look.
	Skip func(dir string) func(name string) bool
	// Secret reports files whose content is not kept. May be nil.
	Secret func(path string) bool
	// Entries is how many paths a tree may have; MaxFile bounds the bytes of a file that is kept.
	Entries int
	MaxFile int64
}

// Tree is what is known of a folder. It may be used by several goroutines.
type Tree struct {
	root     string
	contents *Contents
	opts     Options

	// turn is held by whoever looks or reads files: only then known may change, so that a look need not hold mu.
	turn chan struct{}

	mu    sync.Mutex
	late  int                // how many files were not read, or had no room, as of the last look
	known map[string]listing // by folder, relative to the root; nil before the first look
	dirty bool               // something is known that was not saved
}

// NewTree returns a tree of which nothing is known.
func NewTree(root string, contents *Contents, opts Options) *Tree {
	return &Tree{root: root, contents: contents, opts: opts, turn: make(chan struct{}, 1)}
}

// TooManyError says that a folder has more entries than a tree may have.
type TooManyError struct {
	Root string
	Max  int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%s has more than %d files: what commands change there is not kept", e.Root, e.Max)
}

// Look compares the tree with the disk and returns what changed since the look before, sorted by path. At the
// first one, of which nothing is returned, there is nothing to compare. What changed is read and kept as long as
// within has not passed; 0 means no limit. What is left then has no hash, and Fill reads it.
//
// It waits for another look as long as the context allows.
func (t *Tree) Look(ctx context.Context, within time.Duration) ([]Change, error) {
	if err := t.take(ctx); err != nil {
		return nil, err
	}
	defer t.give()
	l := &look{tree: t, ctx: ctx, began: time.Now(), now: make(map[string]listing, len(t.known))}
	if within > 0 {
		l.until = l.began.Add(within)
	}
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	l.root = root
	if err := l.run(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.known == nil
	t.known, t.late = l.now, l.late
	t.dirty = t.dirty || first || len(l.changes) > 0
	if first {
		return nil, nil
	}
	slices.SortFunc(l.changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return l.changes, nil
}

// take waits until nobody else looks or reads.
func (t *Tree) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Tree) give() { <-t.turn }

// Known reports whether there was a look.
func (t *Tree) Known() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known != nil
}

// Unread reports whether there are files that were not read or had no room, for Fill to try.
func (t *Tree) Unread() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known == nil || t.late > 0
}

// fillStep is how many files are read before others may look.
const fillStep = 32

// Fill reads and keeps the files that have not been read, and those for which there was no room, the newest first. Between them others may look.
func (t *Tree) Fill(ctx context.Context) error {
	if !t.Known() {
		if _, err := t.Look(ctx, time.Nanosecond); err != nil {
			return err
		}
	}
	for step := range slices.Chunk(t.unread(), fillStep) {
		if err := t.fill(ctx, step); err != nil {
			return err
		}
		timer := time.NewTimer(time.Millisecond) // it is in no hurry
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return nil
}

// unread is a file without a hash.
type unread struct {
	dir, name string
	at        int // where it was in its folder's listing
	modified  int64
}

// unread lists the files that have not been read or had no room, the newest first.
func (t *Tree) unread() (list []unread) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.late = 0
	for dir, entries := range t.known {
		for i, e := range entries {
			if e.is.Kind == File && (e.is.Why == whyLate || t.contents.room(e.is)) {
				list = append(list, unread{dir, e.name, i, e.is.stamp.modified})
			}
		}
	}
	slices.SortFunc(list, func(a, b unread) int { return cmp.Compare(b.modified, a.modified) })
	return list
}

func (t *Tree) fill(ctx context.Context, list []unread) error {
	if err := t.take(ctx); err != nil {
		return err
	}
	defer t.give()
	t.mu.Lock()
	defer t.mu.Unlock()
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil //nolint:nilerr // the next look says so
	}
	defer func() { _ = root.Close() }() // only read
	began := time.Now()
	for _, u := range list {
		now := t.known[u.dir]
		if u.at >= len(now) || now[u.at].name != u.name {
			continue // a look has been there since, and says that there is something to read
		}
		e := now[u.at].is
		if e.Why != whyLate && !t.contents.room(e) {
			continue
		}
		rel := filepath.Join(u.dir, u.name)
		if is, err := lstat(filepath.Join(t.root, rel)); err == nil && is.mode.IsRegular() && is.stamp == e.stamp {
			now[u.at].is = t.read(root, rel, is, began)
			t.dirty = true
		} // otherwise the next look sees a change
	}
	return nil
}

// read reads a file and keeps its content.
func (t *Tree) read(root *os.Root, rel string, is status, began time.Time) Entry {
	path := filepath.Join(t.root, rel)
	e := Entry{Kind: File, Mode: uint32(is.mode.Perm()), Size: is.stamp.size, stamp: is.stamp}
	switch {
	case e.Size > t.opts.MaxFile:
		e.Why = whySize
		return e
	case t.opts.Secret != nil && t.opts.Secret(path):
		e.Why = whySecret
	}
	data, err := paths.ReadIn(root, rel, t.opts.MaxFile)
	if err != nil {
		e.Why = whyRead
		return e
	}
	e.Size = int64(len(data))
	if e.Why != "" {
		e.Hash = Hash(data)
	} else if e.Hash, err = t.contents.Put(data); err != nil {
		e.Why = err.Error()
	}
	if after, err := lstat(path); err != nil || after.stamp != e.stamp || e.stamp.recent(began) {
		e.stamp = stamp{} // it may change again without a trace
	}
	return e
}

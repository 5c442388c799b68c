package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// look is one comparison of a tree with the disk.
type look struct {
	tree  *Tree
	ctx   context.Context
	began time.Time
	until time.Time // zero without a limit

	mu      sync.Mutex
	now     map[string]map[string]Entry
	changes []Change
	entries int
	failed  error
	device  uint64
}

// run walks the tree. Folders are read beside each other: most of the time goes into asking the system.
func (l *look) run() error {
	info, err := os.Lstat(l.tree.root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "look", Path: l.tree.root, Err: errors.New("it is not a folder")}
	}
	l.device = deviceOf(info)
	queue := newQueue()
	queue.add("")
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for {
				dir, ok := queue.next()
				if !ok {
					return
				}
				if !l.stopped() {
					l.folder(dir, queue)
				}
				queue.done()
			}
		})
	}
	workers.Wait()
	if l.failed != nil {
		return l.failed
	}
	for dir, entries := range l.tree.known { // folders that are gone
		if _, there := l.now[dir]; !there {
			for name, was := range entries {
				l.changes = append(l.changes, Change{Path: filepath.Join(l.tree.root, dir, name), Before: was})
			}
		}
	}
	return l.ctx.Err()
}

func (l *look) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed != nil || l.ctx.Err() != nil
}

// named is an entry with its name in its folder.
type named struct {
	name string
	Entry
}

// folder compares what is in a folder.
func (l *look) folder(dir string, queue *queue) {
	full := filepath.Join(l.tree.root, dir)
	list, err := readFolder(full)
	was := l.tree.known[dir]
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.keep(dir, was, nil) // what can't be read is as it was, as far as is known
		return
	}
	found := make([]named, 0, len(list))
	as := was != nil // everything is as it was
	var changes []Change
	for _, d := range list {
		name := d.Name()
		path := filepath.Join(full, name)
		if name == ".git" || l.tree.opts.Skip != nil && l.tree.opts.Skip(path) {
			continue
		}
		info, err := d.Info()
		if err != nil {
			continue // it has just gone
		}
		before, known := was[name]
		e := l.entry(path, name, info, before, known)
		found = append(found, named{name, e})
		as = as && known && e == before
		if e.Kind == Folder {
			queue.add(filepath.Join(dir, name))
		}
		if !known || !e.same(before) {
			changes = append(changes, Change{Path: path, Before: before, After: e})
		}
	}
	if as && len(found) == len(was) {
		l.keep(dir, was, nil) // it is not copied: most folders of a look are unchanged
		return
	}
	now := make(map[string]Entry, len(found))
	for _, f := range found {
		now[f.name] = f.Entry
	}
	for name, before := range was {
		if _, there := now[name]; !there {
			changes = append(changes, Change{Path: filepath.Join(full, name), Before: before})
		}
	}
	l.keep(dir, now, changes)
}

func (l *look) keep(dir string, now map[string]Entry, changes []Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now[dir] = now
	l.changes = append(l.changes, changes...)
	if l.entries += len(now); l.entries > l.tree.opts.Entries && l.failed == nil {
		l.failed = &TooManyError{Root: l.tree.root, Max: l.tree.opts.Entries}
	}
}

// entry returns what is at a path. What is as before is not read.
func (l *look) entry(path, name string, info fs.FileInfo, before Entry, known bool) Entry {
	mode := info.Mode()
	e := Entry{Mode: uint32(mode.Perm()), stamp: stampOf(info)}
	switch {
	case mode.IsDir():
		e.Kind = Folder
		if slices.Contains(l.tree.opts.LeftOut, name) || deviceOf(info) != l.device {
			e.Kind = LeftOut
			return e
		}
		e.stamp = stamp{}
		return e
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		e.Kind, e.Mode, e.stamp = Link, 0, stamp{}
		if err != nil {
			e.Why = whyRead
			return e
		}
		if e.Hash, err = l.tree.contents.Put([]byte(target)); err != nil {
			e.Why = err.Error()
		}
		return e
	case !mode.IsRegular():
		return Entry{Kind: Other}
	case known && before.Kind == File && before.stamp == e.stamp && e.stamp != (stamp{}):
		return before
	}
	if !l.until.IsZero() && time.Now().After(l.until) {
		e.Kind, e.Size, e.Why = File, info.Size(), whyLate
		return e
	}
	return l.tree.read(path, info, l.began)
}

// readFolder lists a folder in the order of the disk.
func readFolder(path string) ([]fs.DirEntry, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // only read
	return d.ReadDir(-1)
}

// queue hands out folders until none is left and nobody adds one any more.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	dirs    []string
	open    int // handed out or waiting
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

func (q *queue) add(dir string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dirs = append(q.dirs, dir)
	q.open++
	q.changed.Signal()
}

func (q *queue) next() (dir string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.dirs) == 0 && q.open > 0 {
		q.changed.Wait()
	}
	if q.open == 0 {
		return "", false
	}
	dir = q.dirs[len(q.dirs)-1]
	q.dirs = q.dirs[:len(q.dirs)-1]
	return dir, true
}

func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open--; q.open == 0 {
		q.changed.Broadcast()
	}
}

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
	root  *os.Root
	ctx   context.Context
	began time.Time
	until time.Time // zero without a limit

	mu      sync.Mutex
	now     map[string]listing
	changes []Change
	entries int
	late    int // files that Fill shall try
	failed  error
	device  uint64
}

// run walks the tree. Folders are read beside each other: most of the time goes into asking the system.
func (l *look) run() error {
	root, err := lstat(l.tree.root)
	if err != nil {
		return err
	}
	if !root.mode.IsDir() {
		return &fs.PathError{Op: "look", Path: l.tree.root, Err: errors.New("it is not a folder")}
	}
	l.device = root.device
	queue := newQueue()
	queue.add("")
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			var r reader
			for {
				dir, ok := queue.next()
				if !ok {
					return
				}
				if !l.stopped() {
					l.folder(&r, dir, queue)
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
			for _, was := range entries {
				l.changes = append(l.changes, Change{Path: filepath.Join(l.tree.root, dir, was.name), Before: was.is})
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

// folder compares what is in a folder. Most are as they were, so nothing is made anew before something differs.
func (l *look) folder(r *reader, dir string, queue *queue) {
	full := filepath.Join(l.tree.root, dir)
	was := l.tree.known[dir]
	list, err := r.folder(full, was)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.keep(dir, was, 0, nil) // what can't be read is as it was, as far as is known
		return
	}
	var skip func(name string) bool
	if l.tree.opts.Skip != nil {
		skip = l.tree.opts.Skip(full)
	}
	c := comparison{was: was}
	late := 0
	for _, d := range list {
		if skip != nil && skip(d.name) {
			continue
		}
		before, known := c.before(d)
		e := before
		if d.name == ".git" {
			e = Entry{Kind: Repository, stamp: stamp{node: d.is.stamp.node}}
		} else if !known || before.Kind != File || before.stamp != d.is.stamp || before.stamp == (stamp{}) {
			e = l.entry(dir, d, before, known)
		}
		c.add(full, d.name, before, e, known)
		if e.Why != "" && e.Kind == File && (e.Why == whyLate || l.tree.contents.room(e)) {
			late++
		}
		if e.Kind == Folder {
			queue.add(filepath.Join(dir, d.name))
		}
	}
	l.keep(dir, c.end(full), late, c.changes)
}

func (l *look) keep(dir string, now listing, late int, changes []Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late += late
	l.now[dir] = now
	l.changes = append(l.changes, changes...)
	if l.entries += len(now); l.entries > l.tree.opts.Entries && l.failed == nil {
		l.failed = &TooManyError{Root: l.tree.root, Max: l.tree.opts.Entries}
	}
}

// entry returns what is in a folder that is not a file as before.
func (l *look) entry(dir string, d found, before Entry, known bool) Entry {
	mode := d.is.mode
	e := Entry{Mode: uint32(mode.Perm()), stamp: d.is.stamp}
	switch {
	case mode.IsDir():
		e.Kind = Folder
		if slices.Contains(l.tree.opts.LeftOut, d.name) || d.is.device != l.device {
			e.Kind = LeftOut
			return e
		}
		e.stamp = stamp{}
		return e
	case mode&fs.ModeSymlink != 0:
		e.Kind, e.Mode = Link, 0
		if known && before.Kind == Link && before.stamp == e.stamp && e.stamp != (stamp{}) {
			return before
		}
		return l.link(filepath.Join(l.tree.root, dir, d.name), e)
	case !mode.IsRegular():
		return Entry{Kind: Other}
	}
	if !l.until.IsZero() && time.Now().After(l.until) {
		e.Kind, e.Size, e.Why = File, d.is.stamp.size, whyLate
		return e
	}
	return l.tree.read(l.root, filepath.Join(dir, d.name), d.is, l.began)
}

// link reads where a link leads.
func (l *look) link(path string, e Entry) Entry {
	target, err := os.Readlink(path)
	if err != nil {
		e.Why = whyRead
		return e
	}
	if e.Hash, err = l.tree.contents.Put([]byte(target)); err != nil {
		e.Why = err.Error()
	}
	if e.stamp.recent(l.began) {
		e.stamp = stamp{}
	}
	return e
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

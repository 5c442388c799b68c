package retrieval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/internal/watch"
	"jcode/session"
)

// keeper is the upkeep of the index of one collection: one run at a time, and one more after it
// if something changed in the meantime. Its fields are guarded by the room's lock.
type keeper struct {
	Collection

	cancel  context.CancelFunc // of the run
	done    chan struct{}      // closed when the run ends, nil while none runs
	moved   chan struct{}      // closed when state changes
	whole   bool               // a run was completed: the index has all documents
	settled bool               // a step has waited for the first run
	again   bool               // another run will follow
	anew    bool               // the next run reads all documents, changed or not
	state   state
	tried   map[string]bool // documents that this process looked at; it belongs to the run
	listed  uint64          // the documents as the last run left them, see print; it belongs to the run
	watcher *watch.Watcher
	watched []string
}

// state is the progress of a run, and how the last one ended.
type state struct {
	phase       string // "looking", "reading", "embedding", "" for not running
	done, total int
	err         error // why the last run ended early
}

func (s state) progress(name string) string {
	switch s.phase {
	case "":
		return ""
	case "looking":
		return "looking for the documents of " + name
	}
	return fmt.Sprintf("%s the documents of %s: %d of %d", s.phase, name, s.done, s.total)
}

// indexing is the work on one collection of a room.
type indexing struct {
	room   *Room
	keeper *keeper
}

// refresh starts a run, or schedules one after the running one. It is called under the lock.
func (in indexing) refresh(anew bool) {
	k, r := in.keeper, in.room
	if k.done != nil {
		k.again = true
		k.anew = k.anew || anew
		return
	}
	if r.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	k.cancel, k.done, k.moved = cancel, make(chan struct{}), make(chan struct{})
	k.state = state{phase: "looking"}
	r.running.Go(func() { in.run(ctx, anew) })
}

// stop ends the run. It is called under the lock.
func (k *keeper) stop() {
	k.again = false
	if k.cancel != nil {
		k.cancel()
	}
}

// stopWatching is called under the lock.
func (k *keeper) stopWatching() {
	if k.watcher != nil {
		k.watcher.Close()
		k.watcher, k.watched = nil, nil
	}
}

func (in indexing) run(ctx context.Context, anew bool) {
	k, r := in.keeper, in.room
	for {
		r.mu.Lock()
		c := k.Collection
		r.mu.Unlock()
		in.watch(ctx, c.Sources)
		rep, err := in.sync(ctx, c, anew)
		if err == nil {
			err = in.embedNew(ctx, c, rep, anew)
		}
		if ctx.Err() != nil {
			err = errStopped
		}
		r.mu.Lock()
		k.whole = true
		r.mu.Unlock()
		r.offer()
		in.tell(c, rep, err)
		if in.ended(ctx, err) {
			return
		}
		r.mu.Lock()
		anew, k.again, k.anew = k.anew, false, false
		r.mu.Unlock()
	}
}

// errStopped is the error of a run that was stopped.
var errStopped = errors.New("indexing was stopped: /docs rebuild continues")

// ended records how a run ended, and reports whether no other follows.
func (in indexing) ended(ctx context.Context, err error) bool {
	k, r := in.keeper, in.room
	r.mu.Lock()
	defer r.mu.Unlock()
	k.state = state{err: err}
	if k.again && ctx.Err() == nil {
		return false
	}
	k.cancel()
	close(k.moved)
	close(k.done)
	k.cancel, k.done = nil, nil
	return true
}

// tell reports the result of a run to the person, if it changed anything.
func (in indexing) tell(c Collection, rep report, err error) {
	r := in.room
	if r.ctx.Err() != nil {
		return
	}
	if err != nil && !errors.Is(err, errStopped) {
		r.opts.Notify("warn", fmt.Sprintf("documents of %s: %v", c.Name, err))
	}
	if rep.read == 0 && rep.gone == 0 && len(rep.problems) == 0 {
		return
	}
	var parts []string
	if rep.read > 0 {
		parts = append(parts, fmt.Sprintf("%d indexed", rep.read))
	}
	if n := len(rep.guessed); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not UTF-8: read %s", n, strings.Join(rep.guessed[:min(3, n)], ", ")))
	}
	if rep.gone > 0 {
		parts = append(parts, fmt.Sprintf("%d gone", rep.gone))
	}
	level := "info"
	if n := len(rep.problems); n > 0 {
		level = "warn"
		parts = append(parts, fmt.Sprintf("%d not read: %s", n, strings.Join(rep.problems[:min(3, n)], "; ")))
		if n > 3 {
			parts = append(parts, "/docs list shows all")
		}
	}
	r.opts.Notify(level, fmt.Sprintf("documents of %s: %s", c.Name, strings.Join(parts, ", ")))
}

// progress records how far a run is.
func (in indexing) progress(phase string, done, total int) {
	k, r := in.keeper, in.room
	r.mu.Lock()
	defer r.mu.Unlock()
	k.state = state{phase: phase, done: done, total: total}
	close(k.moved)
	k.moved = make(chan struct{})
}

// watch starts a run after changes in the folders of the sources.
func (in indexing) watch(ctx context.Context, sources []string) {
	k, r := in.keeper, in.room
	if !r.opts.Watch {
		return
	}
	dirs := r.watched(sources)
	r.mu.Lock()
	same := slices.Equal(dirs, k.watched)
	r.mu.Unlock()
	if same {
		return
	}
	var roots []watch.Root
	for _, dir := range dirs {
		roots = append(roots, watch.Root{
			Path: dir, Depth: 16,
			Enter: func(folder string) bool {
				name := filepath.Base(folder)
				return name != ".git" && name != "node_modules"
			},
			Match: func(path string) bool { return !watch.IsEditorTemp(filepath.Base(path)) },
		})
	}
	life, end := context.WithCancel(r.ctx)
	kept := context.AfterFunc(ctx, end) // a run that is stopped ends the first walk
	w := watch.New(life, roots, watch.Options{Debounce: 500 * time.Millisecond, MaxDelay: 5 * time.Second, Notice: func(text string) {
		r.opts.Notify("warn", "documents of "+k.Name+": "+text)
	}})
	r.mu.Lock()
	defer r.mu.Unlock()
	if !kept() || r.using[k.Owner] != k {
		w.Close()
		end()
		return
	}
	k.stopWatching()
	k.watcher, k.watched = w, dirs
	r.running.Go(func() {
		defer end()
		for range w.Events() {
			r.mu.Lock()
			if k.watcher == w {
				in.refresh(false)
			}
			r.mu.Unlock()
		}
	})
}

// report is the result of a run.
type report struct {
	read, gone int
	problems   []string           // of documents that had none, or another, before
	guessed    []string           // documents that were read in another encoding than UTF-8, with its name
	known      []session.Document // of the index as the run found it
}

// sync brings the index of a collection up to date with its files. A document that cannot be read
// is recorded as a problem, and its earlier passages stay.
func (in indexing) sync(ctx context.Context, c Collection, anew bool) (rep report, err error) {
	r := in.room
	found := map[string]item{}
	for _, source := range c.Sources {
		items, err := r.expand(ctx, source)
		if err != nil {
			if ctx.Err() != nil {
				return rep, ctx.Err()
			}
			rep.problems = append(rep.problems, err.Error())
			continue
		}
		for _, it := range items {
			if old, ok := found[it.path]; !ok || old.problem != "" {
				it.named = it.named || old.named
				found[it.path] = it
			}
		}
	}
	all, err := r.opts.Index.List(ctx, c.Owner)
	if err != nil {
		return rep, err
	}
	rep.known = all
	known := map[string]session.Document{}
	var gone []string
	for _, d := range all {
		known[d.Path] = d
		if _, still := found[d.Path]; !still {
			gone = append(gone, d.Path)
		}
	}
	if len(gone) > 0 {
		if err := r.opts.Index.Drop(ctx, c.Owner, gone...); err != nil {
			return rep, err
		}
		rep.gone = len(gone)
		r.vectors.clear()
	}
	list := slices.Sorted(maps.Keys(found))
	told := time.Now()
	for i, path := range list {
		if ctx.Err() != nil {
			return rep, ctx.Err()
		}
		if time.Since(told) > 100*time.Millisecond {
			told = time.Now()
			in.progress("reading", i, len(list))
		}
		before, had := known[path]
		read, as, problem, err := in.bring(ctx, c.Owner, found[path], before, had, anew)
		if err != nil {
			return rep, err
		}
		if read {
			rep.read++
			r.vectors.clear()
			if as != "" {
				rep.guessed = append(rep.guessed, r.shown(path)+" as "+as)
			}
		}
		if problem != "" && problem != before.Problem {
			rep.problems = append(rep.problems, r.shown(path)+": "+problem)
		}
	}
	return rep, nil
}

// bring brings one document up to date. as is its encoding if it was read and is not UTF-8. The error is one of the
// index; a problem of the document is returned as problem.
func (in indexing) bring(ctx context.Context, owner string, it item, before session.Document, had, anew bool) (read bool, as, problem string, err error) {
	k, r := in.keeper, in.room
	index := r.opts.Index
	note := func(d session.Document, problem string) (bool, string, string, error) {
		d.Path, d.Problem = it.path, problem
		if had && d.Problem == before.Problem && d.Size == before.Size && d.Modified == before.Modified && d.Hash == before.Hash {
			return false, "", problem, nil
		}
		return false, "", problem, index.Note(ctx, owner, d)
	}
	again := anew || !k.tried[it.path] // what failed in an earlier process may be read now
	k.tried[it.path] = true
	if !had { // another collection may have it
		if before, err = index.Known(ctx, it.path); err != nil && !errors.Is(err, session.ErrNotFound) {
			return false, "", "", err
		}
	}
	if it.problem != "" {
		if before.Hash != "" && strings.HasPrefix(it.problem, "there is no") {
			it.problem = "the file is gone: this is its last text"
		}
		return note(before, it.problem)
	}
	doc := session.Document{Path: it.path, Hash: before.Hash, Title: before.Title}
	var new loaded
	if paths.IsAddress(it.path) {
		if (before.Hash != "" || had && before.Problem != "" && !again) && !anew {
			return note(before, before.Problem)
		}
		new, doc.Size, err = r.loadPage(ctx, it.path)
	} else {
		var info fs.FileInfo
		if info, err = os.Stat(it.path); err == nil {
			doc.Size, doc.Modified = info.Size(), info.ModTime().UnixNano()
			if before.Hash != "" && before.Problem == "" && doc.Size == before.Size && doc.Modified == before.Modified && !anew {
				return note(before, "")
			}
			if had && before.Problem != "" && doc.Size == before.Size && doc.Modified == before.Modified && !again {
				return note(before, before.Problem)
			}
			new, err = loadFile(ctx, it.path, info)
		}
	}
	if ctx.Err() != nil {
		return false, "", "", ctx.Err()
	}
	if err != nil {
		return note(doc, plainError(err).Error())
	}
	if new.hash == before.Hash {
		return note(doc, "")
	}
	doc.Hash, doc.Title = new.hash, new.title
	return true, new.charset, "", index.Put(ctx, owner, doc, new.passages)
}

func (r *Room) loadPage(ctx context.Context, address string) (loaded, int64, error) {
	if r.opts.Fetch == nil {
		return loaded{}, 0, errors.New("addresses can't be fetched here")
	}
	page, err := r.opts.Fetch(ctx, address)
	if err != nil {
		return loaded{}, 0, err
	}
	out, err := load(ctx, address, page.Type, page.Body)
	return out, int64(len(page.Body)), err
}

// shown returns a path for people and models.
func (r *Room) shown(path string) string {
	if rest, ok := strings.CutPrefix(path, r.opts.Root+string(os.PathSeparator)); ok {
		return rest
	}
	return path
}

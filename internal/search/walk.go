package search

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/internal/ignore"
)

// MaxDepth is how many folders deep a walk goes.
const MaxDepth = 32

// kind is what an entry of a folder is.
type kind uint8

const (
	other kind = iota
	file
	folder
	link
)

type entry struct {
	name string
	kind kind
}

// Walk visits the files below a folder that git would not ignore, including hidden ones, but nothing in a
// `.git`. Links are not followed.
type Walk struct {
	// Top is the folder from which ignore files are read: the top of a repository or of a project. Nothing
	// outside of it is visited.
	Top *os.Root
	// Dir is the folder below Top at which the walk begins, "." for Top itself. It is walked even if it is
	// ignored.
	Dir string
	// Above are rules from outside of Top that apply in it, the weakest first.
	Above []Above
	// Tracked are files that are visited although they are ignored. May be nil.
	Tracked *Tracked
	// Skip excludes a path below Top; a folder with everything in it. It is called from several goroutines. May
	// be nil.
	Skip func(path string, folder bool) bool
	// Workers is the number of goroutines, 0 for one per core.
	Workers int
}

// Above are rules of a folder above a walk's Top, to which the slash path Down leads.
type Above struct {
	Down  string
	Rules *ignore.Rules
}

// Missed counts what a walk could not read or did not enter.
type Missed struct {
	// Unreadable counts folders and files that the system does not let us read.
	Unreadable int
	// Deep counts folders below MaxDepth.
	Deep int
}

// File is a file on a walk.
type File struct {
	// Path is below Top, with slashes.
	Path string
	// Link says that it is a symbolic link, to whatever target.
	Link bool

	name string
	at   handle
}

// job is a folder to list, or a part of a folder's files to visit.
type job struct {
	dir   string // below Top, "" for Top
	depth int
	rules *ignore.Stack
	files []entry
	held  *held // the folder of files
	// ignored says that only tracked files are visited: the folder itself is ignored.
	ignored bool
}

// held is an open folder that several jobs share.
type held struct {
	handle
	users atomic.Int32
}

func (h *held) release() {
	if h.users.Add(-1) == 0 {
		h.close()
	}
}

// batch is how many files of one folder a worker takes at once.
const batch = 64

// walker is a running Walk.
type walker struct {
	Walk
	top    handle
	visit  func(worker int, f File)
	ctx    context.Context
	mu     sync.Mutex
	wake   *sync.Cond
	queue  []job // the latest first, so that few are open
	busy   int   // workers that may still add jobs
	missed Missed
}

// Run walks, calling visit for every file from Workers goroutines, each of which has its number. It returns
// when all have ended; the error is the context's, or says that Dir can't be read.
func (w Walk) Run(ctx context.Context, visit func(worker int, f File)) (Missed, error) {
	if w.Workers <= 0 {
		w.Workers = runtime.GOMAXPROCS(0)
	}
	top, err := openTop(w.Top)
	if err != nil {
		return Missed{}, err
	}
	defer top.close()
	r := &walker{Walk: w, top: top, visit: visit, ctx: ctx}
	r.wake = sync.NewCond(&r.mu)
	start := job{dir: w.start()}
	start.rules = r.above(start.dir)
	h, err := top.folder(start.dir)
	if err != nil {
		return Missed{}, err
	}
	h.close()
	r.queue = append(r.queue, start)
	var wg sync.WaitGroup
	stop := context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.wake.Broadcast()
	})
	defer stop()
	for n := range w.Workers {
		wg.Go(func() { r.work(n) })
	}
	wg.Wait()
	for _, j := range r.queue { // left over when the context ended
		if j.held != nil {
			j.held.release()
		}
	}
	return r.missed, ctx.Err()
}

// start returns Dir as a slash path below Top, "" for Top.
func (w Walk) start() string {
	dir := strings.Trim(filepath.ToSlash(filepath.Clean(w.Dir)), "/")
	if dir == "." {
		return ""
	}
	return dir
}

// above returns the rules of the folders from Top down to the parent of dir.
func (r *walker) above(dir string) *ignore.Stack {
	var s *ignore.Stack
	for _, a := range r.Above {
		s = s.PushAbove(a.Down, a.Rules)
	}
	if dir == "" {
		return s
	}
	at := ""
	for name := range strings.SplitSeq(dir, "/") {
		if h, err := r.top.folder(at); err == nil {
			s = s.Push(at, readRules(h))
			h.close()
		}
		at = join(at, name)
	}
	return s
}

// maxRules is the most that is read of a .gitignore, in bytes.
const maxRules = 1 << 20

// readRules reads a folder's .gitignore; one that can't be read has no rules.
func readRules(h handle) *ignore.Rules {
	f, err := h.file(".gitignore")
	if err != nil {
		return nil
	}
	defer f.close()
	data, _ := io.ReadAll(io.LimitReader(f, maxRules)) // what was read before an error counts
	return ignore.Parse(data)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// work takes jobs until there are none and no more can be added.
func (r *walker) work(worker int) {
	buf := make([]byte, 64<<10)
	for {
		j, ok := r.take()
		if !ok {
			return
		}
		if j.held != nil {
			r.visitAll(worker, j)
		} else {
			r.list(worker, j, buf)
		}
		r.mu.Lock()
		r.busy--
		if r.busy == 0 && len(r.queue) == 0 {
			r.wake.Broadcast()
		}
		r.mu.Unlock()
	}
}

func (r *walker) take() (job, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) == 0 && r.busy > 0 && r.ctx.Err() == nil {
		r.wake.Wait()
	}
	if len(r.queue) == 0 || r.ctx.Err() != nil {
		r.wake.Broadcast()
		return job{}, false
	}
	j := r.queue[len(r.queue)-1]
	r.queue = r.queue[:len(r.queue)-1]
	r.busy++
	return j, true
}

func (r *walker) put(jobs []job) {
	if len(jobs) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, jobs...)
	r.wake.Broadcast()
}

func (r *walker) miss(err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return // it was removed meanwhile
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed.Unreadable++
}

// list reads a folder, queues its contents and visits the first part of its files.
func (r *walker) list(worker int, j job, buf []byte) {
	h, err := r.top.folder(j.dir)
	if err != nil {
		r.miss(err)
		return
	}
	entries, err := h.list(buf)
	r.miss(err)
	rules := j.rules
	for _, e := range entries {
		if e.name == ".gitignore" && e.kind == file {
			rules = rules.Push(j.dir, readRules(h))
		}
	}
	var jobs []job
	files := entries[:0]
	for _, e := range entries {
		if e.name == ".git" || e.kind == other {
			continue
		}
		path := join(j.dir, e.name)
		dir := e.kind == folder
		ignored := j.ignored || rules.Ignored(path, dir)
		if ignored && !r.Tracked.has(path, dir) || r.Skip != nil && r.Skip(path, dir) {
			continue
		}
		if !dir {
			files = append(files, e)
			continue
		}
		if j.depth+1 >= MaxDepth {
			r.mu.Lock()
			r.missed.Deep++
			r.mu.Unlock()
			continue
		}
		jobs = append(jobs, job{dir: path, depth: j.depth + 1, rules: rules, ignored: ignored})
	}
	at := &held{handle: h}
	at.users.Store(1)
	first := job{dir: j.dir, files: files, held: at}
	for len(first.files) > batch {
		at.users.Add(1)
		jobs = append(jobs, job{dir: j.dir, files: first.files[len(first.files)-batch:], held: at})
		first.files = first.files[:len(first.files)-batch]
	}
	r.put(jobs)
	r.visitAll(worker, first)
}

func (r *walker) visitAll(worker int, j job) {
	defer j.held.release()
	for _, e := range j.files {
		if r.ctx.Err() != nil {
			return
		}
		r.visit(worker, File{Path: join(j.dir, e.name), Link: e.kind == link, name: e.name, at: j.held.handle})
	}
}

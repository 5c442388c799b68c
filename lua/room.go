package lua

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"jcode/internal/watch"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/tools"
)

// Room is all Lua of one running jcode.
type Room struct {
	opts  Options
	pool  *pool.Pool
	logs  logs
	calls atomic.Uint64
	salt  string
	// turnCalls counts the model's calls of the current turn.
	turnCalls atomic.Int64

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	loads  *queue         // startup script and plugins
	checks *queue         // syntax of changed tools
	queues sync.WaitGroup // both, while they run
	scan   sync.Mutex     // one comparison with the disk at a time
	// starting holds a token for each plugin's host that is being started ahead.
	starting chan struct{}

	trust     folderTrust
	holdings  // its lock guards the fields below, too
	started   bool
	closed    bool
	wanted    string // the set that Untrusted was last called with
	approvals approvals
	dividing  sync.Mutex // guards divided: the values of folders of one name were told apart
	divided   bool
	layers    []string
	ready     chan struct{}
}

// New returns a room. Nothing runs and no file is read before Start.
func New(opts Options) (*Room, error) {
	if opts.Registry == nil || opts.Dispatcher == nil || !filepath.IsAbs(opts.Root) {
		return nil, errors.New("make Lua room: Registry, Dispatcher and an absolute Root are required")
	}
	if opts.start == nil {
		opts.start = pool.StartProcess
	}
	var salt [4]byte
	_, _ = rand.Read(salt[:]) // never fails
	r := &Room{
		opts: opts, salt: hex.EncodeToString(salt[:]), holdings: holdings{tools: map[string]*slot{}},
		loads: newQueue(), checks: newQueue(), ready: make(chan struct{}), starting: make(chan struct{}, 4),
	}
	r.approvals = approvals{store: opts.State, project: opts.ProjectID, logs: &r.logs, known: map[string]approval{}}
	start := opts.start
	r.opts.start = func(ctx context.Context, long bool) (*pool.Conn, error) {
		c, err := start(ctx, long)
		if err == nil {
			r.mu.Lock()
			r.layers = c.Layers
			r.mu.Unlock()
		}
		return c, err
	}
	r.pool = pool.NewPool(r.opts.start, opts.idleLimit)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

// Start reads the folders, starts watching them, and starts the startup script and the plugins.
// Call it after the first frame: it returns once the tool folders are registered, while scripts
// continue in the background, see WaitReady. ctx bounds only this call.
func (r *Room) Start(ctx context.Context) error {
	r.mu.Lock()
	if r.started || r.closed {
		r.mu.Unlock()
		return errors.New("start Lua: started already")
	}
	r.started = true
	r.queues.Go(r.loads.run)
	r.queues.Go(r.checks.run)
	r.mu.Unlock()
	if r.opts.Eval {
		if err := r.opts.Registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, &evalTool{room: r}); err != nil {
			return fmt.Errorf("start Lua: %w", err)
		}
	}
	r.loads.add(func() { r.loadStartup(r.ctx) })
	r.Refresh()
	r.loads.add(func() { close(r.ready) })
	changes, unwatch := r.opts.Registry.Watch()
	var w *watch.Watcher
	if !r.opts.NoWatch {
		w = watch.New(r.ctx, r.watchRoots(), watch.Options{Notice: func(text string) { r.notice("warn", "lua: "+text) }})
	}
	r.wg.Go(func() { r.follow(w, changes, unwatch) })
	return ctx.Err()
}

// follow applies changes on disk, and registers refused tools again when the registry changes.
func (r *Room) follow(w *watch.Watcher, changes <-chan struct{}, unwatch func()) {
	defer unwatch()
	var events <-chan watch.Event // none if nothing is watched
	if w != nil {
		defer w.Close()
		events = w.Events()
	}
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
			r.Refresh()
		case <-changes:
			r.retryRefused()
		case <-r.ctx.Done():
			return
		}
	}
}

// retryRefused registers tools whose names have become free.
func (r *Room) retryRefused() {
	snap := r.opts.Registry.Snapshot(nil)
	r.scan.Lock()
	defer r.scan.Unlock()
	var again []*slot
	for _, s := range r.slots() {
		s.mu.Lock()
		waiting := s.refused != "" && s.cur != nil && !strings.HasPrefix(s.refused, "shadowed")
		s.mu.Unlock()
		if !waiting {
			continue
		}
		if holder, taken, _ := snap.Lookup(s.name); !taken || holder.Rank > s.root.rank {
			again = append(again, s)
		}
	}
	if len(again) > 0 {
		r.register(again)
	}
}

func (r *Room) watchRoots() []watch.Root {
	var roots []watch.Root
	match := func(path string) bool {
		base := filepath.Base(path)
		return !watch.IsEditorTemp(base) && (base == manifest.FileName || strings.HasSuffix(base, ".lua") || filepath.Ext(base) == "")
	}
	for _, t := range r.opts.toolRoots() {
		roots = append(roots, watch.Root{Path: t.path, Depth: 1, Match: match})
	}
	for _, t := range r.opts.pluginRoots() {
		roots = append(roots, watch.Root{Path: t.path, Depth: 3, Match: match})
	}
	return roots
}

// WaitReady waits until the startup script and the trusted plugins have finished, and those that Refresh has found to be
// new or changed since are in force, fail or wait for a person, or ctx ends.
func (r *Room) WaitReady(ctx context.Context) error {
	loaded := make(chan struct{})
	for _, c := range []<-chan struct{}{r.ready, loaded} {
		if c == loaded {
			r.loads.add(func() { close(loaded) })
		}
		select {
		case <-c:
		case <-r.ctx.Done():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Reload reads everything again: after a change of trust, or at a person's request. With a name it enables
// that script or tool again; "startup" reruns the startup script.
func (r *Room) Reload(name string) error {
	if name == startupID {
		r.loads.add(func() {
			if old := r.setStartup(nil, ""); old != nil {
				old.stop()
				r.opts.Registry.UnregisterOwner(startupID)
			}
			r.loadStartup(r.ctx)
		})
		return nil
	}
	known := name == ""
	r.trust.forget()
	r.scan.Lock()
	for _, s := range r.slots() {
		if name == "" || s.name == name {
			known = true
			s.mu.Lock()
			s.failures, s.disabled = 0, ""
			if s.cur != nil {
				old := *s.cur
				old.stamp = manifest.Stamp{} // read it again
				old.hash = ""
				s.cur = &old
			}
			s.mu.Unlock()
		}
	}
	for _, p := range r.plugins() {
		if name == "" || p.id == name {
			known = true
			r.mu.Lock()
			p.bundle.hash = ""
			r.mu.Unlock()
		}
	}
	r.scan.Unlock()
	if !known {
		return fmt.Errorf("no Lua tool or plugin is named %q", name)
	}
	r.Refresh()
	return nil
}

// Close ends all scripts and hosts and waits until they are gone.
func (r *Room) Close() {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.closed = true
	r.mu.Unlock()
	r.loads.close()
	r.checks.close()
	r.cancel()
	r.queues.Wait()
	for _, s := range r.scripts() {
		r.wg.Go(s.stop)
	}
	r.pool.Close()
	r.wg.Wait()
}

// Running reports whether the room was started and is not closed.
func (r *Room) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started && !r.closed
}

func (r *Room) notice(level, text string) {
	r.logs.add("lua", level, text)
	if r.opts.Notices != nil {
		r.opts.Notices.Notice(level, text)
	}
}

// standing returns the caller for code that runs without a call of the model.
func (r *Room) standing() tools.Caller {
	if r.opts.Standing == nil {
		return tools.Caller{Origin: tools.OriginScript}
	}
	c := r.opts.Standing()
	c.Origin = tools.OriginScript
	return c
}

func (r *Room) callID() string { return fmt.Sprintf("lua_%s_%d", r.salt, r.calls.Add(1)) }

package lua

import (
	"context"
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
	around *surroundings
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

	trust    folderTrust
	holdings // its lock guards the fields below, too
	started  bool
	closed   bool
	wanted   string // the set that Untrusted was last called with
	layers   []string
	ready    chan struct{}
}

// New returns a room. Nothing runs and no file is read before Start.
func New(opts Options) (*Room, error) {
	if opts.Registry == nil || opts.Dispatcher == nil || !filepath.IsAbs(opts.Root) {
		return nil, errors.New("make Lua room: Registry, Dispatcher and an absolute Root are required")
	}
	if opts.start == nil {
		opts.start = pool.StartProcess
	}
	r := &Room{
		holdings: holdings{tools: map[string]*slot{}},
		loads:    newQueue(), checks: newQueue(), ready: make(chan struct{}), starting: make(chan struct{}, 4),
	}
	start := opts.start
	opts.start = func(ctx context.Context, long bool) (*pool.Conn, error) {
		c, err := start(ctx, long)
		if err == nil {
			r.mu.Lock()
			r.layers = c.Layers
			r.mu.Unlock()
		}
		return c, err
	}
	r.around = newSurroundings(opts, &r.holdings)
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
	if r.around.opts.Eval {
		if err := r.around.opts.Registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, &evalTool{r.around}); err != nil {
			return fmt.Errorf("start Lua: %w", err)
		}
	}
	r.loads.add(func() { r.loadStartup(r.ctx) })
	r.Refresh()
	r.loads.add(func() { close(r.ready) })
	changes, unwatch := r.around.opts.Registry.Watch()
	var w *watch.Watcher
	if !r.around.opts.NoWatch {
		w = watch.New(r.ctx, r.watchRoots(), watch.Options{Notice: func(text string) { r.around.notice("warn", "lua: "+text) }})
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
	snap := r.around.opts.Registry.Snapshot(nil)
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
	for _, t := range r.around.opts.toolRoots() {
		roots = append(roots, watch.Root{Path: t.path, Depth: 1, Match: match})
	}
	for _, t := range r.around.opts.pluginRoots() {
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
				r.around.opts.Registry.UnregisterOwner(startupID)
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
	r.around.pool.Close()
	r.wg.Wait()
}

// Running reports whether the room was started and is not closed.
func (r *Room) Running() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started && !r.closed
}

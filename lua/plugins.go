package lua

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// maxPluginSource bounds all Lua source of a plugin.
const maxPluginSource = 1 << 20

// startupID is the startup script's component name and owner.
const startupID = "startup"

// plugin is one plugin over all its versions.
type plugin struct {
	id      string
	scope   string // project, user, or the plugin of others that brings it
	path    string
	bundle  bundle
	stamp   string  // sizes and times of its files when it was read
	script  *script // the running one, nil when it never loaded
	problem string
	trusted bool
	// again says that it is being reloaded so that a person sees its permissions.
	again bool
	// ahead delivers the host that was started while other plugins still load.
	ahead chan startedHost
	// ctx ends when a later version replaces this one.
	ctx    context.Context
	cancel context.CancelFunc
}

func (p *plugin) owner() string { return "plugin:" + p.id }

// isPluginID reports whether s may name a plugin: it becomes part of a component name.
func isPluginID(s string) bool {
	return manifest.IsToolName(s) && s != startupID && s[0] != '-' && (s[0] < '0' || s[0] > '9')
}

// pluginRoots returns the folders of plugins, strongest first.
func (o Options) pluginRoots() []toolRoot {
	list := []toolRoot{{filepath.Join(o.Root, ".jcode", "lua", "plugins"), "project", tools.RankPlugin, "", o.Root}}
	if o.Config != "" {
		list = append(list, toolRoot{filepath.Join(o.Config, "lua", "plugins"), "user", tools.RankPlugin, "", ""})
	}
	return append(list, o.brought("plugins", tools.RankPlugin)...)
}

// found is a plugin on the disk.
type found struct {
	id, path string
	root     toolRoot
	folder   bool
}

// findPlugins returns the plugins of all roots; the first one with an id takes precedence.
func findPlugins(roots []toolRoot) []found {
	var out []found
	for _, root := range roots {
		entries, err := os.ReadDir(root.path)
		if err != nil {
			continue // none here
		}
		for _, e := range entries {
			f := found{path: filepath.Join(root.path, e.Name()), root: root}
			name := e.Name()
			info, err := os.Stat(f.path)
			switch {
			case err != nil || strings.HasPrefix(name, "."):
				continue
			case info.IsDir():
				if _, err := os.Stat(filepath.Join(f.path, "init.lua")); err != nil {
					continue
				}
				f.id, f.folder = name, true
			case strings.HasSuffix(name, ".lua"):
				f.id = strings.TrimSuffix(name, ".lua")
			default:
				continue
			}
			if !slices.ContainsFunc(out, func(o found) bool { return o.id == f.id }) {
				out = append(out, f)
			}
		}
	}
	return out
}

// readPlugin reads all of a plugin's source once.
func readPlugin(f found) (bundle, error) {
	b := bundle{id: f.id, path: f.path, chunk: f.id + ".lua"}
	if !isPluginID(f.id) {
		return b, fmt.Errorf("%q is not a plugin name: use letters, digits, _ and -, beginning with a letter, and not %q", f.id, startupID)
	}
	if !f.folder {
		data, err := readFile(f.root, f.path, maxSource)
		b.text, b.hash = string(data), hashOf(data)
		return b, err
	}
	b.chunk = f.id + "/init.lua"
	b.modules = map[string]string{}
	total := 0
	err := filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".lua") {
			return err
		}
		data, err := readFile(f.root, path, maxSource)
		if err != nil {
			return err
		}
		if total += len(data); total > maxPluginSource {
			return fmt.Errorf("the plugin has more than %d KiB of source", maxPluginSource>>10)
		}
		rel, err := filepath.Rel(f.path, path)
		if err != nil {
			return err
		}
		name := strings.ReplaceAll(strings.TrimSuffix(filepath.ToSlash(rel), ".lua"), "/", ".")
		b.modules[name] = string(data)
		return nil
	})
	b.text = b.modules["init"]
	delete(b.modules, "init")
	parts := [][]byte{[]byte(b.text)}
	for _, name := range slices.Sorted(maps.Keys(b.modules)) {
		parts = append(parts, []byte(name), []byte(b.modules[name]))
	}
	b.hash = hashOf(parts...)
	return b, err
}

// stampPlugin returns sizes and times of a plugin's files as a text that changes with them, and
// the time of the newest file.
func stampPlugin(f found) (stamp string, newest time.Time) {
	var b strings.Builder
	_ = filepath.WalkDir(f.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && path != f.path || !d.IsDir() && !strings.HasSuffix(path, ".lua") {
			return nil //nolint:nilerr // readPlugin reports what cannot be read
		}
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			if !d.IsDir() && info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
		return nil
	})
	return b.String(), newest
}

// scanPlugins compares the plugins with the disk. It loads them in the background, because a
// plugin's init may ask a person. The caller holds the scan lock.
func (r *Room) scanPlugins() {
	list := findPlugins(r.around.opts.pluginRoots())
	for _, f := range list {
		p := r.pluginOf(f.id)
		known := p != nil && p.path == f.path && p.bundle.hash != ""
		st, newest := stampPlugin(f)
		again := known && !p.again && r.scriptOf(p).wantsPerson()
		if known && !again && p.stamp == st && p.trusted == r.trusted(f.root.scope) {
			continue
		}
		for began := time.Now(); time.Since(newest) < youngFile && time.Since(began) < settleMax; {
			time.Sleep(settleStep) // it may be half written
			st, newest = stampPlugin(f)
		}
		b, err := readPlugin(f)
		if known && !again && p.bundle.hash == b.hash && p.trusted == r.trusted(f.root.scope) {
			p.stamp = st
			continue
		}
		fresh := &plugin{id: f.id, scope: f.root.scope, path: f.path, bundle: b, stamp: st, trusted: r.trusted(f.root.scope), again: again}
		fresh.ctx, fresh.cancel = context.WithCancel(r.ctx)
		if p != nil {
			fresh.script = r.overtake(p)
		}
		if err != nil {
			fresh.problem = err.Error()
			r.around.notice("warn", fmt.Sprintf("lua plugin %s: %v", f.id, err))
		}
		r.setPlugin(fresh)
		if err == nil && fresh.trusted && r.Running() {
			r.startAhead(fresh)
			r.loads.add(func() { r.loadInTurn(fresh) })
		}
	}
	for _, p := range r.plugins() {
		if !slices.ContainsFunc(list, func(f found) bool { return f.id == p.id }) {
			r.removePlugin(p)
		}
	}
	r.reportUntrusted()
}

// startedHost is a host, or the error of starting it.
type startedHost struct {
	conn *pool.Conn
	err  error
}

// startAhead starts a plugin's host before it is the plugin's turn to load. A host that is not
// used ends with the plugin's version.
func (r *Room) startAhead(p *plugin) {
	p.ahead = make(chan startedHost)
	r.wg.Go(func() {
		select {
		case r.starting <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		c, err := r.around.opts.start(p.ctx, true)
		<-r.starting
		select {
		case p.ahead <- startedHost{c, err}:
		case <-p.ctx.Done():
			if err == nil {
				c.Close()
			}
		}
	})
}

// loadInTurn loads a plugin and returns when it is loaded or waits for a person, which must not
// delay the other plugins.
func (r *Room) loadInTurn(p *plugin) {
	settled := make(chan struct{})
	settle := sync.OnceFunc(func() { close(settled) })
	r.wg.Go(func() {
		defer settle()
		r.loadPlugin(p, settle)
	})
	<-settled
}

// loadPlugin starts a plugin's version in its own host. The old version stays in use until the new one has
// run its init, and also if that fails.
func (r *Room) loadPlugin(p *plugin, asks func()) {
	if p.ctx.Err() != nil {
		return // a later version has replaced it
	}
	scope := r.around.stateScope(p.scope, p.owner())
	sc := r.newScript(wire.EnvPlugin, p.owner(), scope, p.bundle)
	sc.from = p.scope
	old := r.scriptOf(p)
	sc.asks, sc.ahead, sc.swap = asks, p.ahead, func() bool { return r.setScript(p, sc) }
	_, fail := sc.send(&mail{ctx: p.ctx, job: pool.Job{Msg: wire.Message{Type: wire.TypeStart}}, phase: phaseInit, caller: r.around.standing()})
	r.mu.Lock()
	if p.script == sc {
		fail = nil // it was in use before a later version cancelled the wait
	}
	was := p.problem
	p.problem = ""
	if fail != nil {
		p.problem = fail.Text
	}
	r.mu.Unlock()
	if fail != nil {
		r.dropUnseen(p, old)
		sc.stop()
		if fail.Kind != tools.KindCancelled {
			r.around.notice("warn", fmt.Sprintf("lua plugin %s: %s", p.id, fail.Text))
		}
		return
	}
	if was != "" {
		r.around.notice("info", "lua plugin "+p.id+": loads again")
	}
	if old != nil {
		old.stop()
	}
}

// removePlugin removes a plugin whose file is gone.
func (r *Room) removePlugin(p *plugin) {
	r.mu.Lock()
	r.pluginList = slices.DeleteFunc(r.pluginList, func(o *plugin) bool { return o == p })
	r.mu.Unlock()
	if sc := r.overtake(p); sc != nil {
		r.around.opts.Registry.UnregisterOwner(p.owner())
		r.loads.add(func() {
			sc.stop()
			r.around.opts.Registry.UnregisterOwner(p.owner()) // it may have been publishing
		})
	}
}

// loadStartup runs <config>/startup.lua, if there is one.
func (r *Room) loadStartup(ctx context.Context) {
	if r.around.opts.Config == "" {
		return
	}
	path := filepath.Join(r.around.opts.Config, "startup.lua")
	data, err := readFile(toolRoot{}, path, maxSource)
	if os.IsNotExist(err) {
		return
	}
	b := bundle{id: startupID, chunk: "startup.lua", path: path, text: string(data), hash: hashOf(data)}
	if err != nil {
		r.setStartup(nil, err.Error())
		r.around.notice("warn", "startup.lua: "+err.Error())
		return
	}
	sc := r.newScript(wire.EnvStartup, startupID, startupID, b)
	r.setStartup(sc, "")
	_, fail := sc.send(&mail{ctx: ctx, job: pool.Job{Msg: wire.Message{Type: wire.TypeStart}}, phase: phaseInit, caller: r.around.standing()})
	if fail != nil && fail.Kind != tools.KindCancelled {
		r.setStartup(sc, fail.Text)
		r.around.notice("warn", "startup.lua: "+fail.Text)
	}
}

// announcing is an asker that says that it is about to ask. What is decided without a question waits for nobody.
type announcing struct {
	tools.Asker
	asks func()
}

// Ask implements tools.Asker.
func (a announcing) Ask(ctx context.Context, q tools.Question) (tools.Answer, error) {
	a.asks()
	return a.Asker.Ask(ctx, q)
}

// pin asks a person to approve the permissions of a plugin, once per hash. The gate asks and remembers.
func (a *surroundings) pin(ctx context.Context, s *script, p *manifest.Permissions) error {
	if p.Empty() {
		return nil
	}
	notes, diff := a.approvals.shown(s.owner, s.src.path, p, s.src.approval())
	notes = append(notes, a.beyondCapabilities(p)...)
	caller := a.standing()
	caller.Label = "plugin " + s.id
	if s.asks != nil && caller.Asker != nil {
		caller.Asker = announcing{caller.Asker, s.asks}
	}
	spec := tools.Spec{Name: s.owner, Group: tools.GroupLua, Needs: tools.CapLua, Hash: s.src.hash, Trusted: true, ReadOnly: true}
	d := a.opts.Dispatcher.Judge(ctx, caller, spec, tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessLua, Target: s.owner, Hash: s.src.hash, Pin: true, ReadOnly: true}},
		Summary:  "Load plugin " + s.id, Notes: notes, Diff: diff,
	})
	if !d.Allow {
		return tools.Errorf(tools.KindDenied, "needs approval: its permissions were not approved (%s)", d.Reason)
	}
	s.unseen.Store(d.By == tools.ByMode && caller.Mode != nil && caller.Mode() == tools.ModeYolo)
	a.approvals.remember(s.owner, s.src.approval(), d)
	return ctx.Err()
}

// beyondCapabilities returns a note for each declared intent that needs more than the declared
// capabilities.
func (a *surroundings) beyondCapabilities(p *manifest.Permissions) []string {
	var notes []string
	snap := a.opts.Registry.Snapshot(nil)
	for _, name := range p.Intents {
		e, ok, _ := snap.Lookup(name)
		scope := tools.Scope{Capabilities: &p.Capabilities}
		if missing := scope.Missing(e.Spec.Needs); ok && missing != 0 {
			notes = append(notes, fmt.Sprintf("permissions.intents grants %s by name, without the capability %s", name, missing))
		}
	}
	return notes
}

package lua

import (
	"maps"
	"slices"
	"strings"
)

// Item is one tool, plugin or startup script as `/lua` shows it.
type Item struct {
	Kind      string // tool, plugin, startup
	Name      string
	Scope     string // project or user
	Path      string
	State     string   // ok, untrusted, needs approval, shadowed by …, load error, disabled, not started
	Detail    string   // the error or reason behind the state
	Rights    []string // what it may do, in words
	Intents   []string // of a plugin or the startup script
	LastError string   // of the last run
}

// Panel is what `/lua` shows.
type Panel struct {
	Items []Item
	// Layers are the protections of host processes on this system; empty until one has run.
	Layers []string
}

// Panel describes all Lua of this jcode.
func (r *Room) Panel() Panel {
	r.mu.Lock()
	p := Panel{Layers: slices.Clone(r.layers)}
	startup, startupErr := r.startup, r.startupErr
	r.mu.Unlock()
	if startup != nil || startupErr != "" {
		it := Item{Kind: "startup", Name: startupID, Scope: "user", State: "ok", Detail: startupErr}
		if startup != nil {
			it.Path, it.Intents = startup.src.path, startup.names()
		}
		if startupErr != "" {
			it.State = "load error"
		}
		p.Items = append(p.Items, it)
	}
	plugins := r.plugins()
	slices.SortFunc(plugins, func(a, b *plugin) int { return strings.Compare(a.id, b.id) })
	for _, pl := range plugins {
		p.Items = append(p.Items, r.pluginItem(pl))
	}
	slots := slices.SortedFunc(maps.Values(r.slots()), func(a, b *slot) int { return strings.Compare(a.name+a.dir, b.name+b.dir) })
	for _, s := range slots {
		p.Items = append(p.Items, s.item())
	}
	return p
}

func (r *Room) pluginItem(p *plugin) Item {
	r.mu.Lock()
	sc, problem := p.script, p.problem
	r.mu.Unlock()
	it := Item{Kind: "plugin", Name: p.id, Scope: p.scope, Path: p.path, State: "ok", Detail: problem}
	if sc != nil {
		it.Intents = sc.names()
		sc.mu.Lock()
		it.Rights = sc.perms.Rights()
		if sc.disabled != "" {
			it.State, it.Detail = "disabled", sc.disabled
		}
		sc.mu.Unlock()
	}
	switch {
	case !p.trusted:
		it.State = "untrusted"
	case strings.HasPrefix(problem, "needs approval"):
		it.State = "needs approval"
	case problem != "":
		it.State = "load error"
	case sc == nil:
		it.State = "not started"
	}
	return it
}

func (s *script) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, i := range s.live.intents {
		out = append(out, i.name)
	}
	return out
}

func (s *slot) item() Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	it := Item{Kind: "tool", Name: s.name, Scope: s.root.scope, Path: s.dir, State: "ok", LastError: s.lastRun}
	if s.cur == nil {
		it.State = "removed"
		return it
	}
	it.Rights = s.cur.manifest.Permissions.Rights()
	switch {
	case !s.cur.trusted:
		it.State = "untrusted"
	case s.cur.broken != nil:
		it.State, it.Detail = "load error", s.cur.broken.Error()
	case s.disabled != "":
		it.State, it.Detail = "disabled", s.disabled
	case s.refused != "":
		it.State = s.refused
	case !s.cur.manifest.Permissions.Empty() && !s.ranApproved:
		it.State = "needs approval"
		it.Detail = "asks at its first call, once per version"
	}
	return it
}

// Log returns the last lines of one script, or of all when name is empty.
func (r *Room) Log(name string) []LogLine { return r.around.logs.of(name) }

// Servers returns the MCP servers whose tools a tool folder of a room declares, sorted.
func Servers(r *Room, tool string) []string {
	var out []string
	for _, s := range r.slots() {
		v := s.current()
		if s.name != tool || v == nil {
			continue
		}
		names := slices.Clone(v.manifest.Permissions.MCP)
		for _, intent := range v.manifest.Permissions.Intents {
			if name, ok := strings.CutPrefix(intent, "mcp:"); ok {
				names = append(names, name)
			}
		}
		for _, name := range names {
			server, _, _ := strings.Cut(name, ":")
			out = append(out, server)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Errors returns the load errors and the errors of last runs.
func (r *Room) Errors() []Item {
	var out []Item
	for _, it := range r.Panel().Items {
		if it.State == "load error" || it.State == "disabled" || it.LastError != "" {
			out = append(out, it)
		}
	}
	return out
}

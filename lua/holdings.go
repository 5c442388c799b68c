package lua

import (
	"maps"
	"slices"
)

// What the room holds: tool folders, plugins, and the startup script.

func (r *Room) slots() map[string]*slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.tools)
}

func (r *Room) slotAt(dir string) *slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tools[dir]
}

func (r *Room) addSlot(s *slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tools[s.dir] = s
}

func (r *Room) dropSlot(s *slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tools, s.dir)
}

func (r *Room) plugins() []*plugin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pluginList)
}

func (r *Room) pluginOf(id string) *plugin {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pluginList {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (r *Room) setPlugin(p *plugin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, o := range r.pluginList {
		if o.id == p.id {
			r.pluginList[i] = p
			return
		}
	}
	r.pluginList = append(r.pluginList, p)
}

func (r *Room) setStartup(s *script, problem string) (old *script) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, r.startup, r.startupErr = r.startup, s, problem
	return old
}

// scripts lists what runs: the startup script first, then the plugins as they came.
func (r *Room) scripts() []*script {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*script
	if r.startup != nil {
		out = append(out, r.startup)
	}
	for _, p := range r.pluginList {
		if p.script != nil {
			out = append(out, p.script)
		}
	}
	return out
}

func (r *Room) component(fqn string) *script {
	for _, s := range r.scripts() {
		if s.fqn == fqn {
			return s
		}
	}
	return nil
}

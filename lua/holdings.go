package lua

import (
	"maps"
	"slices"
	"sync"
)

// holdings is the set of tool folders, plugins and the startup script of a room.
type holdings struct {
	mu         sync.Mutex
	tools      map[string]*slot // by folder
	pluginList []*plugin        // their scripts are guarded too
	startup    *script
	startupErr string
}

func (h *holdings) slots() map[string]*slot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.tools)
}

func (h *holdings) slotAt(dir string) *slot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tools[dir]
}

func (h *holdings) addSlot(s *slot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tools[s.dir] = s
}

func (h *holdings) dropSlot(s *slot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tools, s.dir)
}

func (h *holdings) plugins() []*plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.pluginList)
}

func (h *holdings) pluginOf(id string) *plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pluginList {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (h *holdings) setPlugin(p *plugin) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, o := range h.pluginList {
		if o.id == p.id {
			h.pluginList[i] = p
			return
		}
	}
	h.pluginList = append(h.pluginList, p)
}

func (h *holdings) setStartup(s *script, problem string) (old *script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old, h.startup, h.startupErr = h.startup, s, problem
	return old
}

// scripts returns the running scripts: the startup script first, then the plugins in the order in which they
// were loaded.
func (h *holdings) scripts() []*script {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*script
	if h.startup != nil {
		out = append(out, h.startup)
	}
	for _, p := range h.pluginList {
		if p.script != nil {
			out = append(out, p.script)
		}
	}
	return out
}

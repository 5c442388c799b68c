package lua

// How a version of a plugin replaces another.

func (h *holdings) scriptOf(p *plugin) *script {
	h.mu.Lock()
	defer h.mu.Unlock()
	return p.script
}

// setScript replaces a plugin's script, unless a later version has been loaded meanwhile.
func (h *holdings) setScript(p *plugin, sc *script) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.script = sc
	return true
}

// overtake cancels a version, and returns its running script.
func (h *holdings) overtake(p *plugin) *script {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.cancel()
	return p.script
}

// dropUnseen ends a version that was loaded in mode yolo, after a person has refused its
// permissions.
func (r *Room) dropUnseen(p *plugin, old *script) {
	if !old.wantsPerson() || !r.setScript(p, nil) {
		return
	}
	r.around.opts.Registry.UnregisterOwner(p.owner())
	old.stop()
}

package lua

// How a version of a plugin takes the place of another.

func (h *holdings) scriptOf(p *plugin) *script {
	h.mu.Lock()
	defer h.mu.Unlock()
	return p.script
}

// setScript puts a script in the place of a plugin's, unless a later version has overtaken it.
func (h *holdings) setScript(p *plugin, sc *script) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.script = sc
	return true
}

// overtake ends a version's claim, and returns what runs of it.
func (h *holdings) overtake(p *plugin) *script {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.cancel()
	return p.script
}

// dropUnseen ends a version that ran without a person having seen its permissions, after the
// person did not approve them.
func (r *Room) dropUnseen(p *plugin, old *script) {
	if !old.wantsApproval() || !r.setScript(p, nil) {
		return
	}
	r.opts.Registry.UnregisterOwner(p.owner())
	old.stop()
}

// wantsApproval is wantsPerson of a script that may be nil.
func (s *script) wantsApproval() bool { return s != nil && s.wantsPerson() }

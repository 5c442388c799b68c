package lua

import (
	"errors"
	"time"

	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

// checkSyntax compiles changed tools in a host, in the background, so that a syntax error is
// reported before the tool is called.
func (r *Room) checkSyntax(list []*slot) {
	if len(list) == 0 || !r.Running() {
		return
	}
	r.checks.add(func() {
		for _, s := range list {
			v := s.current()
			if v == nil || v.broken != nil || r.ctx.Err() != nil {
				continue
			}
			st := &principal{around: r.around, env: wire.EnvTool, owner: s.owner, name: s.name, phase: phaseBody}
			_, fail := r.around.runPooled(r.ctx, st, pool.Job{Msg: wire.Message{Type: wire.TypeCompile, Name: s.chunk(), Text: v.source}, Limit: 5 * time.Second})
			if fail != nil && fail.Kind == tools.KindLoad {
				r.foundBroken(s, v, fail.Text)
			} else {
				r.tell(s)
			}
		}
	})
}

// foundBroken records that a version does not compile.
func (r *Room) foundBroken(s *slot, v *version, text string) {
	s.mu.Lock()
	if s.cur != v {
		s.mu.Unlock()
		return
	}
	bad := *v
	bad.broken = errors.New(text)
	s.cur = &bad
	s.recent[bad.hash] = &bad
	s.mu.Unlock()
	r.tell(s)
	r.scan.Lock()
	defer r.scan.Unlock()
	r.register([]*slot{s})
}

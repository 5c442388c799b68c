package agent

import (
	"context"

	"jcode/session"
	"jcode/tools"
)

// settings is the part of a conversation that knows its mode, and its model with everything set for it.
type settings struct {
	c      *Conversation
	mode   tools.Mode
	model  Model
	chosen int             // how often the person chose a model or its settings
	sought map[string]bool // models whose window was looked up
}

// SetMode changes the approval mode, also for the remaining calls of this turn. A role that allows less still
// applies: State reports what is in force.
func (s *settings) SetMode(m tools.Mode) {
	s.c.mu.Lock()
	s.mode = m
	s.c.state.Mode = m.Under(s.c.scope.Ceiling())
	saved, id := s.c.saved, s.c.row.ID
	s.c.mu.Unlock()
	if saved {
		mode := string(m)
		s.c.write("store mode", func(ctx context.Context) error {
			return s.c.opt.Store.Update(ctx, id, session.Change{Mode: &mode})
		})
	}
	s.c.emitState()
}

// current returns the current model.
func (s *settings) current() Model {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.model
}

// Window returns the context window of the current model in tokens, 0 when unknown.
func (s *settings) Window() int { return s.current().Window }

// Sees reports whether the current model accepts images.
func (s *settings) Sees() bool { return s.current().Sees }

// Mode returns the approval mode that the person chose; a role may allow less.
func (s *settings) Mode() tools.Mode {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return s.mode
}

// SetModel changes the model from the next request on. Temperature and the like stay as they were set. The
// choice takes precedence over a role's model, even after the role ends.
func (s *settings) SetModel(name string) error {
	m, err := s.c.opt.Resolve(name)
	if err != nil {
		return err
	}
	s.c.mu.Lock()
	s.model = m.tunedAs(s.model)
	s.c.own.Model = m.Name
	s.chosen++
	s.c.state.Model = m.Name
	saved, id := s.c.saved, s.c.row.ID
	s.c.mu.Unlock()
	if saved {
		s.c.write("store model", func(ctx context.Context) error {
			return s.c.opt.Store.Update(ctx, id, session.Change{Model: &m.Name})
		})
	}
	s.c.emitState()
	return nil
}

// Rename sets the title that the person chose.
func (r *record) Rename(title string) error {
	r.c.mu.Lock()
	saved, id := r.saved, r.row.ID
	r.row.Title, r.row.TitleSource = title, "user"
	r.c.state.Title = title
	r.c.mu.Unlock()
	if saved {
		if err := r.c.opt.Store.Rename(r.c.ctx, id, title); err != nil {
			return err
		}
	}
	r.c.emitState()
	return nil
}

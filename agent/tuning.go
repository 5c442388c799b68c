package agent

import "jcode/agent/event"

// Tuning holds the settings of a session besides model, role and mode. Nil and zero mean the provider's or
// the program's default.
type Tuning struct {
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	MaxSteps        int
	MaxCost         float64
}

// Usage returns what the session has used so far, its sub-agents included, in the form in which steps report
// it. What the next request needs is known only after the first step.
func (r *record) Usage() event.Usage {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return event.Usage{Total: r.total, Window: r.c.model.Window, Cost: r.cost, Priced: r.cost > 0}
}

// Tuning returns the settings in force.
func (s *settings) Tuning() Tuning {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	return Tuning{
		Temperature: s.model.Temperature, TopP: s.model.TopP, ReasoningEffort: s.model.ReasoningEffort,
		MaxOutputTokens: s.model.MaxOutputTokens, MaxSteps: s.c.opt.MaxSteps, MaxCost: s.c.opt.MaxCost,
	}
}

// Tune puts other settings in force from the next request on.
func (s *settings) Tune(t Tuning) {
	if t.MaxSteps <= 0 {
		t.MaxSteps = DefaultMaxSteps
	}
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	s.keepTuned(t)
	s.model.Temperature, s.model.TopP, s.model.ReasoningEffort, s.model.MaxOutputTokens = t.Temperature, t.TopP, t.ReasoningEffort, t.MaxOutputTokens
	s.chosen++
	s.c.opt.MaxSteps, s.c.opt.MaxCost = t.MaxSteps, t.MaxCost
}

// keepTuned makes what the person changes the session's own, so that it outlives the current role. The caller
// holds the lock.
func (s *settings) keepTuned(t Tuning) {
	if !same(t.Temperature, s.model.Temperature) {
		s.c.own.Temperature = t.Temperature
	}
	if !same(t.TopP, s.model.TopP) {
		s.c.own.TopP = t.TopP
	}
	if t.ReasoningEffort != s.model.ReasoningEffort {
		s.c.own.ReasoningEffort = t.ReasoningEffort
	}
	if t.MaxOutputTokens != s.model.MaxOutputTokens {
		s.c.own.MaxOutputTokens = t.MaxOutputTokens
	}
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

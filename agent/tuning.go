package agent

import "jcode/agent/model"

// Tuning are settings of a session besides model, role and mode. Nil and zero mean the
// provider's or the program's default.
type Tuning struct {
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
	MaxSteps        int
	MaxCost         float64
}

// Used are the tokens that the session has used so far, its sub-agents' included.
func (c *Conversation) Used() model.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Tuning is what is in force.
func (c *Conversation) Tuning() Tuning {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Tuning{
		Temperature: c.model.Temperature, TopP: c.model.TopP, ReasoningEffort: c.model.ReasoningEffort,
		MaxOutputTokens: c.model.MaxOutputTokens, MaxSteps: c.opt.MaxSteps, MaxCost: c.opt.MaxCost,
	}
}

// Tune puts other settings in force, from the next request on.
func (c *Conversation) Tune(t Tuning) {
	if t.MaxSteps <= 0 {
		t.MaxSteps = DefaultMaxSteps
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.model.Temperature, c.model.TopP, c.model.ReasoningEffort, c.model.MaxOutputTokens = t.Temperature, t.TopP, t.ReasoningEffort, t.MaxOutputTokens
	c.chosen++
	// What a person sets outlives the role in which it was set.
	c.own.Temperature, c.own.TopP, c.own.ReasoningEffort, c.own.MaxOutputTokens = t.Temperature, t.TopP, t.ReasoningEffort, t.MaxOutputTokens
	c.opt.MaxSteps, c.opt.MaxCost = t.MaxSteps, t.MaxCost
}

package agent

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

// Usage is what the session has used so far, its sub-agents' included, in the form in which
// steps report it. What the next request needs is known after the first step only.
func (c *Conversation) Usage() UsageEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return UsageEvent{Total: c.total, Window: c.model.Window, Cost: c.cost, Priced: c.cost > 0}
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
	c.keepTuned(t)
	c.model.Temperature, c.model.TopP, c.model.ReasoningEffort, c.model.MaxOutputTokens = t.Temperature, t.TopP, t.ReasoningEffort, t.MaxOutputTokens
	c.chosen++
	c.opt.MaxSteps, c.opt.MaxCost = t.MaxSteps, t.MaxCost
}

// keepTuned makes what the person changes the session's own, so that it outlives a role
// that is in force. The caller holds the lock.
func (c *Conversation) keepTuned(t Tuning) {
	if !same(t.Temperature, c.model.Temperature) {
		c.own.Temperature = t.Temperature
	}
	if !same(t.TopP, c.model.TopP) {
		c.own.TopP = t.TopP
	}
	if t.ReasoningEffort != c.model.ReasoningEffort {
		c.own.ReasoningEffort = t.ReasoningEffort
	}
	if t.MaxOutputTokens != c.model.MaxOutputTokens {
		c.own.MaxOutputTokens = t.MaxOutputTokens
	}
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

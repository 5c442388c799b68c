package agent

import (
	"context"
	"slices"

	"jcode/agent/model"
	"jcode/session"
	"jcode/tools"
)

// Model is a model as a conversation uses it.
type Model struct {
	// Name is the person's name for it ("openai/gpt-5.2", "replay:demo.jsonl").
	Name string
	// ID is the endpoint's name for it.
	ID     string
	Client model.Client
	// Window is the context window in tokens, 0 when unknown.
	Window int
	// FindWindow asks the endpoint for the window if it is unknown, and returns 0 if the endpoint does not say
	// either; may be nil. It is called in the background.
	FindWindow func(ctx context.Context) int
	// Sees says that the model accepts images.
	Sees bool
	// Trained are the tools that this model was trained to call and that no other model gets.
	Trained []string
	// Searches says that its provider may search the web while it answers.
	Searches bool
	// Keeps reports whether an opaque part of an earlier answer is sent back to the model; nil means that every
	// part is.
	Keeps func(o model.Opaque) bool
	// Cost returns the price of a usage in US dollars, and false if it is unknown. answered is the ID of the
	// model that answered: another one after a fallback, or the endpoint's default. May be nil.
	Cost func(answered string, u model.Usage) (usd float64, known bool)
	// Untitled models are never asked for titles (replay, headless runs).
	Untitled bool
	// Small is asked in its place where little depends on the answer; nil means itself.
	Small *Small
	// Settings that a role or the person set; nil means the provider's default.
	Temperature     *float64
	TopP            *float64
	ReasoningEffort string
	MaxOutputTokens int
}

// price returns the cost of an answer and of the attempts before it; false if it is unknown.
func (m Model) price(resp model.Response) (float64, bool) {
	if m.Cost == nil {
		return 0, false
	}
	cost, known := m.Cost(resp.Model, resp.Usage)
	if resp.Wasted == (model.Usage{}) {
		return cost, known
	}
	wasted, priced := m.Cost(resp.Model, resp.Wasted)
	return cost + wasted, known && priced
}

// knows reports whether a tool is meant for this model.
func (m Model) knows(e tools.Entry) bool {
	return !e.Spec.Trained || slices.Contains(m.Trained, e.Spec.Name)
}

// searches reports whether the provider may search the web in a request that offers tools. A conversation
// that may not fetch, by role, rule or mode, may not let the provider search either.
func (m Model) searches(offered []tools.Entry) bool {
	return m.Searches && slices.ContainsFunc(offered, func(e tools.Entry) bool { return e.Spec.Name == "fetch" && e.Owner == tools.OwnerBuiltin })
}

// tunedAs returns the model with the settings of other.
func (m Model) tunedAs(other Model) Model {
	m.Temperature, m.TopP, m.ReasoningEffort, m.MaxOutputTokens = other.Temperature, other.TopP, other.ReasoningEffort, other.MaxOutputTokens
	return m
}

// Options configure a conversation. All fields but those marked optional are required.
type Options struct {
	Store      *session.Store
	Registry   *tools.Registry
	Dispatcher *tools.Dispatcher
	Gate       tools.Gate
	// Resolve finds a model by the person's name for it.
	Resolve func(name string) (Model, error)
	// System builds the system prompt of a session for its role and scope. It is called once
	// per session, and after a compaction or a switch of roles.
	System func(sessionID string, role Role, scope *tools.Scope) string
	// Cwd is the working folder, resolved; Project its project.
	Cwd     string
	Project string

	// Model is the name of the initial model.
	Model string
	// Mode is the initial approval mode. MaxMode is the highest that may be set, "" for any.
	Mode, MaxMode tools.Mode
	// MaxSteps caps a turn; 0 means DefaultMaxSteps.
	MaxSteps int
	// LoopRepeats is how many equal calls with equal results are refused as a loop, LoopAlerts how many alerts
	// end a turn; 0 means 4 and 2.
	LoopRepeats, LoopAlerts int
	// MaxCost caps the conversation's cost in US dollars; 0 means no cap.
	MaxCost float64
	// CompactAt is the share of the window at which the history is compacted; 0 means 0.85.
	CompactAt float64
	// MaxTools is how many tools a request may have at most; 0 means any number.
	MaxTools int
	// Headless conversations have nobody to ask.
	Headless bool

	// Optional.

	// Session is the ID of a new session; "" generates one with its first message.
	Session string
	// Kind is the kind of a new session, as session.Session has it; that of a sub-agent follows from Parent.
	Kind string
	// MaxAgents is how many sub-agents may work in the background at once; 0 means 8.
	MaxAgents int
	// Isolate makes a copy of the files for the named sub-agent, including uncommitted changes if carry is set.
	// Nil: isolation is not available.
	Isolate func(ctx context.Context, name string, carry bool) (Site, error)
	// Reopen opens a copy that an earlier run made.
	Reopen func(ctx context.Context, row session.Agent) (Site, error)
	// Forget removes what is left of a copy that Reopen can't open.
	Forget func(ctx context.Context, row session.Agent) error
	// Private keeps a new conversation in memory only.
	Private bool
	// Parent is the session that this one works for, as a sub-agent.
	Parent string
	// Root is the session of the main conversation, for a sub-agent of any generation.
	Root string
	// Without are canonical names of tools that are not offered.
	Without []string
	// Label names a sub-agent in questions.
	Label string
	// Asker answers approvals in place of a person subscribed to this conversation: a sub-agent's go to its
	// parent.
	Asker tools.Asker
	// Roles finds a role; it obeys ctx.
	Roles func(ctx context.Context, want RoleRequest) (Role, error)
	// Leases acquires MCP servers for a scope.
	Leases Leaser
	// ChildLeases acquires them for sub-agents, whose leases replace nobody's; nil means Leases.
	ChildLeases Leaser
	// Allow puts approved rules in force for a session until release is called.
	Allow func(sessionID string, rules []string) (release func(), err error)
	// Extensions are called at the points of this conversation.
	Extensions Extensions
	// AgentExtensions are called at the points of its sub-agents' conversations, which have no others.
	AgentExtensions Extensions
}

// Announcement is what the model is told between two steps. The zero value announces nothing.
type Announcement struct {
	// Text goes to the model.
	Text string
	// Shown is what the person sees of it; empty means Text.
	Shown string
	// Silent announcements are for the model alone: the person was told in another way.
	Silent bool
}

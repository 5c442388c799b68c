package event

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"jcode/agent/model"
	"jcode/agent/roster"
	"jcode/tools"
)

// Event is something that happened in a conversation. Deltas may be merged or
// dropped for a slow subscriber; every other event is delivered in order.
type Event interface{ event() }

// Prompt is a message that the person sends.
type Prompt struct {
	// Text goes to the model.
	Text string
	// Queued is its ID in the queue; the conversation sets it.
	Queued string
	// Shown is how it appears in the transcript; empty means Text.
	Shown string
	// Images are shown to the model.
	Images []model.Image
	// Skill is the skill whose instructions Text holds; it is kept with the message.
	Skill string
	// Model and Role, when set, apply to this message only.
	Model string
	Role  string
	// Allow are rules that hold while this message is worked on.
	Allow []string
	// Answer is a JSON Schema that the answer to this message shall fit; nil for any text.
	Answer json.RawMessage
}

// Display is the prompt as it appears in the transcript.
func (p Prompt) Display() string { return cmp.Or(p.Shown, p.Text) }

// TurnStart says that a prompt was committed and is being worked on.
type TurnStart struct {
	// Turn is the sequence number of the turn's first message.
	Turn int
	// Seq is the user message's sequence number in the session.
	Seq int64
	// Prompt is the person's text as it is shown.
	Prompt string
	// Queued is the prompt's ID as returned by Conversation.Prompt.
	Queued string
	At     time.Time
}

// StepStart says that a model request has been sent.
type StepStart struct{ Step int }

// TextDelta is a piece of the answer.
type TextDelta struct{ Text string }

// ReasoningDelta is a piece of the model's thinking.
type ReasoningDelta struct{ Text string }

// AnswerReset says that the part of the answer streamed so far is void: the answer starts over.
type AnswerReset struct{ Reason string }

// CallWriting says that the model is writing a tool call's arguments.
type CallWriting struct {
	Index int
	Name  string
	Bytes int
}

// AssistantMessage is a committed answer; it ends the deltas of one step.
type AssistantMessage struct {
	Seq       int64
	Text      string
	Reasoning string
	Calls     int
}

// CallStart says that a tool call was committed and is about to be dispatched.
type CallStart struct {
	ID        string
	Name      string // canonical, or as the model wrote it when unknown
	Arguments json.RawMessage
	At        time.Time
}

// CallProgress shows what a running call is doing.
type CallProgress struct {
	ID     string
	Text   string // state line
	Output string // new output
}

// CallEnd is a committed result.
type CallEnd struct {
	ID       string
	Name     string
	Result   tools.Result
	Status   string // done, failed, denied, interrupted
	Duration time.Duration
}

// ApprovalAsked waits for Conversation.Answer(ID, …).
type ApprovalAsked struct {
	ID       string
	Question tools.Question
}

// ApprovalClosed says that a question no longer needs an answer: it was answered, or its call ended.
type ApprovalClosed struct {
	ID string
	// By is who answered, if not the person at the terminal; see Conversation.From.
	By string
}

// ApprovalDecided reports what a gate decided on a call.
type ApprovalDecided struct {
	CallID string
	Name   string
	Allow  bool
	By     tools.DecidedBy
	Rule   string
}

// AskPerson is a question of the `ask` tool; it waits for Conversation.Reply(ID, …).
type AskPerson struct {
	ID      string
	Label   string
	Text    string
	Options []string
}

// AskForm is a question with fields; it waits for Conversation.Fill(ID, …).
type AskForm struct {
	ID   string
	Form tools.Form
}

// AskClosed says that an AskPerson or AskForm question no longer needs a reply.
type AskClosed struct {
	ID string
	// By is who replied, if not the person at the terminal.
	By string
}

// TodoChanged is the plan as the `todo` tool set it.
type TodoChanged struct{ Items []tools.TodoItem }

// ToolsChanged says which tools were added and removed between two steps.
type ToolsChanged struct {
	Added   []string
	Removed []string
	Owner   string
}

// Level grades a Notice.
type Level string

// The levels.
const (
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Notice tells the person something.
type Notice struct {
	Level Level
	Text  string
}

// Retrying says that the model request will be retried after a wait.
type Retrying struct {
	Attempt int
	Wait    time.Duration
	Reason  string
}

// Compacting says that the history is being summarised.
type Compacting struct{}

// Compacted reports the effect of a compaction.
type Compacted struct {
	BeforeTokens int
	AfterTokens  int
}

// Rewound says that the messages from a sequence number on were removed from the history.
type Rewound struct{ From int64 }

// Usage reports the tokens of one step and the conversation's totals.
type Usage struct {
	Step    model.Usage
	Total   model.Usage
	Context int // tokens that the next request is expected to need
	Window  int // 0 = unknown
	Cost    float64
	Priced  bool
	// Beside says that no step of the conversation used this but a request beside it, such as the one for the title: Step
	// says nothing, and Context is as before.
	Beside bool
}

// QueueChanged lists the prompts that wait while a turn runs.
type QueueChanged struct{ Queued []Queued }

// Queued is one waiting prompt.
type Queued struct {
	ID   string
	Text string
}

// Preparing says what a prompt waits for before it is committed, if it waits for more than a moment. TurnStart
// follows, or TurnEnd and Unsent.
type Preparing struct {
	Prompt Prompt
	Doing  string // "asking the hooks"
}

// Unsent says that a prompt was not committed, so the model will not see it: a hook refused it, the person
// interrupted before, its model or role does not exist, or it could not be stored. The person may want it back.
type Unsent struct {
	Prompt Prompt
	// Queued is the ID of the prompt, as returned by Conversation.Prompt.
	Queued string
	Err    error
}

// StateChanged says that model, role, mode, title or session changed.
type StateChanged struct{ State State }

// TurnEnd closes a turn.
type TurnEnd struct {
	Turn     int
	Steps    int
	Duration time.Duration
	Reason   StopReason
	// Queued is the ID of the prompt that began the turn, as returned by Conversation.Prompt.
	Queued string
	// Finish is why the model stopped, in the provider's words ("stop", "length").
	Finish string
	// Calls is how many calls the model made.
	Calls int
	// Error is set for StopError and StopLimit.
	Error string
	// Err is the cause for StopError.
	Err  error
	Text string // the final answer
}

// Unanswered says why a turn that ended by itself has no whole answer; "" if it has one. An empty answer is one if the
// model did something before.
func (e TurnEnd) Unanswered() string {
	switch {
	case e.Reason != StopDone:
		return ""
	case e.Finish == "content_filter":
		return "the provider refused to answer"
	case e.Finish == "length":
		return "the answer was cut at the model's output limit"
	case e.Calls == 0 && strings.TrimSpace(e.Text) == "":
		return "the model gave an empty answer"
	}
	return ""
}

// NotesUsed names the notes from earlier sessions that a turn used, just before its end.
type NotesUsed struct{ Notes []Note }

// Note is a note from an earlier session: its ID, its text on one line, since when and where from it is.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	From string `json:"from"`
}

// StopReason says why a turn ended.
type StopReason string

// The reasons.
const (
	StopDone        StopReason = "done"
	StopInterrupted StopReason = "interrupted"
	StopError       StopReason = "error"
	StopLimit       StopReason = "limit" // steps, repeats or cost
)

// AgentChanged reports the current state of a background sub-agent.
type AgentChanged struct{ Agent roster.State }

// Nested wraps an event of a sub-agent that runs inside a call.
type Nested struct {
	CallID  string
	Session string
	Label   string
	// Agent is the name of a background sub-agent, whose call has already ended; "" for one that runs inside its
	// call.
	Agent string
	// Dir is its worktree, "" without one.
	Dir   string
	Event Event
}

func (TurnStart) event()        {}
func (StepStart) event()        {}
func (TextDelta) event()        {}
func (ReasoningDelta) event()   {}
func (AnswerReset) event()      {}
func (CallWriting) event()      {}
func (AssistantMessage) event() {}
func (CallStart) event()        {}
func (CallProgress) event()     {}
func (CallEnd) event()          {}
func (ApprovalAsked) event()    {}
func (ApprovalClosed) event()   {}
func (ApprovalDecided) event()  {}
func (AskPerson) event()        {}
func (AskForm) event()          {}
func (AskClosed) event()        {}
func (TodoChanged) event()      {}
func (ToolsChanged) event()     {}
func (Notice) event()           {}
func (Retrying) event()         {}
func (Compacting) event()       {}
func (Compacted) event()        {}
func (Rewound) event()          {}
func (Usage) event()            {}
func (QueueChanged) event()     {}
func (Preparing) event()        {}
func (Unsent) event()           {}
func (StateChanged) event()     {}
func (TurnEnd) event()          {}
func (NotesUsed) event()        {}
func (AgentChanged) event()     {}
func (Nested) event()           {}

// State is what the status line shows.
type State struct {
	Session string
	Title   string
	Model   string // as the person names it: provider/model
	Role    string
	Effort  string // how much the model thinks, "" = as it does by itself
	Mode    tools.Mode
	MaxMode tools.Mode // the highest that may be set, "" for any
	Busy    bool
	Cwd     string
	// Private says that the conversation is kept in memory only.
	Private bool
	// ReadOnly says that another live process holds this session.
	ReadOnly bool
	// Planning says that only the mode prevents changes to files, so an answer is a plan. In a role that never
	// changes files it is just an answer.
	Planning bool
}

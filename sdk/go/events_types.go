// Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.

package sdk

import "encoding/json"

// AnyEvent has the fields that each event may have.
type AnyEvent struct {
	Agent        string `json:"agent,omitempty"`
	AgentSession string `json:"agent_session,omitempty"`
	N            int64  `json:"n,omitempty"`
	Parent       string `json:"parent,omitempty"`
	To           int64  `json:"to,omitempty"`
	Worktree     string `json:"worktree,omitempty"`
}

// TurnStartEvent is the event turn_start.
type TurnStartEvent struct {
	AnyEvent
	Type   json.RawMessage `json:"type"`
	At     string          `json:"at"`
	Prompt string          `json:"prompt"`
	Queued string          `json:"queued,omitempty"`
	Seq    int64           `json:"seq"`
	Turn   int64           `json:"turn"`
}

// StepStartEvent is the event step_start.
type StepStartEvent struct {
	AnyEvent
	Type json.RawMessage `json:"type"`
	Step int64           `json:"step"`
}

// TextEvent is the event text.
type TextEvent struct {
	AnyEvent
	Type  json.RawMessage `json:"type"`
	Delta string          `json:"delta"`
}

// ReasoningEvent is the event reasoning.
type ReasoningEvent struct {
	AnyEvent
	Type  json.RawMessage `json:"type"`
	Delta string          `json:"delta"`
}

// AnswerResetEvent is the event answer_reset.
type AnswerResetEvent struct {
	AnyEvent
	Type   json.RawMessage `json:"type"`
	Reason string          `json:"reason"`
}

// ToolWritingEvent is the event tool_writing.
type ToolWritingEvent struct {
	AnyEvent
	Type  json.RawMessage `json:"type"`
	Bytes int64           `json:"bytes"`
	Index int64           `json:"index"`
	Name  string          `json:"name"`
}

// AssistantEvent is the event assistant.
type AssistantEvent struct {
	AnyEvent
	Type      json.RawMessage `json:"type"`
	Calls     int64           `json:"calls"`
	Reasoning string          `json:"reasoning,omitempty"`
	Seq       int64           `json:"seq"`
	Text      string          `json:"text"`
}

// ToolCallEvent is the event tool_call.
type ToolCallEvent struct {
	AnyEvent
	Type      json.RawMessage `json:"type"`
	Arguments json.RawMessage `json:"arguments"`
	At        string          `json:"at,omitempty"`
	ChangedBy string          `json:"changed_by,omitempty"`
	From      json.RawMessage `json:"from,omitempty"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
}

// ToolProgressEvent is the event tool_progress.
type ToolProgressEvent struct {
	AnyEvent
	Type   json.RawMessage `json:"type"`
	ID     string          `json:"id"`
	Output string          `json:"output,omitempty"`
	State  string          `json:"state,omitempty"`
}

// ToolResultEventDisplay is display of ToolResultEvent.
type ToolResultEventDisplay struct {
	Added     int64           `json:"added,omitempty"`
	ChangedBy string          `json:"changed_by,omitempty"`
	Child     string          `json:"child,omitempty"`
	Diff      string          `json:"diff,omitempty"`
	ExitCode  *int64          `json:"exit_code,omitempty"`
	Files     []string        `json:"files,omitempty"`
	Found     string          `json:"found,omitempty"`
	Log       string          `json:"log,omitempty"`
	Path      string          `json:"path,omitempty"`
	Ran       json.RawMessage `json:"ran,omitempty"`
	Removed   int64           `json:"removed,omitempty"`
	Summary   string          `json:"summary,omitempty"`
}

// ToolResultEventParts is parts of ToolResultEvent.
type ToolResultEventParts struct {
	Data []byte `json:"data"`
	Mime string `json:"mime"`
	Text string `json:"text,omitempty"`
}

// ToolResultEvent is the event tool_result.
type ToolResultEvent struct {
	AnyEvent
	Type       json.RawMessage         `json:"type"`
	Content    string                  `json:"content"`
	Data       json.RawMessage         `json:"data,omitempty"`
	Display    *ToolResultEventDisplay `json:"display,omitempty"`
	DurationMS int64                   `json:"duration_ms"`
	Failure    string                  `json:"failure,omitempty"`
	ID         string                  `json:"id"`
	Name       string                  `json:"name"`
	OK         bool                    `json:"ok"`
	Parts      []ToolResultEventParts  `json:"parts,omitempty"`
	Status     string                  `json:"status,omitempty"`
}

// ApprovalAskedEventQuestionHunks is hunks of ApprovalAskedEventQuestion.
type ApprovalAskedEventQuestionHunks struct {
	Added   int64  `json:"added"`
	Diff    string `json:"diff"`
	File    string `json:"file"`
	Line    int64  `json:"line"`
	Removed int64  `json:"removed"`
}

// ApprovalAskedEventQuestionOptions is options of ApprovalAskedEventQuestion.
type ApprovalAskedEventQuestionOptions struct {
	Label string   `json:"label"`
	Rules []string `json:"rules,omitempty"`
	Scope string   `json:"scope"`
	Words string   `json:"words,omitempty"`
}

// ApprovalAskedEventQuestion is question of ApprovalAskedEvent.
type ApprovalAskedEventQuestion struct {
	Arguments json.RawMessage                     `json:"arguments,omitempty"`
	CallID    string                              `json:"call_id"`
	Command   string                              `json:"command,omitempty"`
	Details   []string                            `json:"details,omitempty"`
	Diff      string                              `json:"diff,omitempty"`
	Editable  string                              `json:"editable,omitempty"`
	Hunks     []ApprovalAskedEventQuestionHunks   `json:"hunks,omitempty"`
	Label     string                              `json:"label,omitempty"`
	Options   []ApprovalAskedEventQuestionOptions `json:"options"`
	Title     string                              `json:"title"`
	Tool      string                              `json:"tool"`
}

// ApprovalAskedEvent is the event approval_asked.
type ApprovalAskedEvent struct {
	AnyEvent
	Type     json.RawMessage            `json:"type"`
	ID       string                     `json:"id"`
	Question ApprovalAskedEventQuestion `json:"question"`
}

// ApprovalClosedEvent is the event approval_closed.
type ApprovalClosedEvent struct {
	AnyEvent
	Type json.RawMessage `json:"type"`
	By   string          `json:"by,omitempty"`
	ID   string          `json:"id"`
}

// ApprovalEvent is the event approval.
type ApprovalEvent struct {
	AnyEvent
	Type     json.RawMessage `json:"type"`
	By       string          `json:"by"`
	Decision string          `json:"decision"`
	ID       string          `json:"id"`
	Name     string          `json:"name,omitempty"`
	Rule     string          `json:"rule"`
}

// AskEvent is the event ask.
type AskEvent struct {
	AnyEvent
	Type    json.RawMessage `json:"type"`
	ID      string          `json:"id"`
	Label   string          `json:"label,omitempty"`
	Options []string        `json:"options"`
	Text    string          `json:"text"`
}

// FormEventFormFields is fields of FormEventForm.
type FormEventFormFields struct {
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Format      string          `json:"format,omitempty"`
	Kind        string          `json:"kind"`
	Labels      []string        `json:"labels,omitempty"`
	Max         *float64        `json:"max,omitempty"`
	Min         *float64        `json:"min,omitempty"`
	Name        string          `json:"name"`
	Options     []string        `json:"options,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Secret      bool            `json:"secret,omitempty"`
	Title       string          `json:"title,omitempty"`
}

// FormEventForm is form of FormEvent.
type FormEventForm struct {
	Fields []FormEventFormFields `json:"fields"`
	From   string                `json:"from"`
	No     string                `json:"no,omitempty"`
	Person bool                  `json:"person,omitempty"`
	Text   string                `json:"text"`
	Yes    string                `json:"yes,omitempty"`
}

// FormEvent is the event form.
type FormEvent struct {
	AnyEvent
	Type json.RawMessage `json:"type"`
	Form FormEventForm   `json:"form"`
	ID   string          `json:"id"`
}

// AskClosedEvent is the event ask_closed.
type AskClosedEvent struct {
	AnyEvent
	Type json.RawMessage `json:"type"`
	By   string          `json:"by,omitempty"`
	ID   string          `json:"id"`
}

// TodoEventItems is items of TodoEvent.
type TodoEventItems struct {
	Status string `json:"status"`
	Text   string `json:"text"`
}

// TodoEvent is the event todo.
type TodoEvent struct {
	AnyEvent
	Type  json.RawMessage  `json:"type"`
	Items []TodoEventItems `json:"items"`
}

// ToolsChangedEvent is the event tools_changed.
type ToolsChangedEvent struct {
	AnyEvent
	Type    json.RawMessage `json:"type"`
	Added   []string        `json:"added"`
	Owner   string          `json:"owner"`
	Removed []string        `json:"removed"`
}

// NoticeEvent is the event notice.
type NoticeEvent struct {
	AnyEvent
	Type    json.RawMessage `json:"type"`
	Level   string          `json:"level"`
	Message string          `json:"message"`
}

// RetryingEvent is the event retrying.
type RetryingEvent struct {
	AnyEvent
	Type    json.RawMessage `json:"type"`
	Attempt int64           `json:"attempt"`
	Reason  string          `json:"reason"`
	WaitMS  int64           `json:"wait_ms"`
}

// CompactingEvent is the event compacting.
type CompactingEvent struct {
	AnyEvent
	Type json.RawMessage `json:"type"`
}

// Package session owns what is kept: the SQLite store with its sessions, messages,
// tool calls, roles, grants, trust, Lua state, checkpoints and prompt history, and
// the migrations of its schema.
//
// It must not know what a model or a tool is: it keeps rows and gives them back.
//
// A row is in the file when the method that writes it returns. A killed process loses
// nothing that was returned; a power cut may lose the last moments, because commits don't
// wait for the disk (synchronous=NORMAL).
package session

import (
	"encoding/json"
	"time"
)

// Session is one row of sessions.
type Session struct {
	ID           string // UUIDv7
	Title        string
	TitleSource  string // TitleAuto or TitleUser
	ParentID     string // the session it was forked from or works for
	ForkSeq      int64  // last message taken over from the parent
	Kind         string // "" or KindTask for a sub-agent's session
	Cwd          string // working folder, resolved
	ProjectID    string // see ProjectID
	RoleName     string
	RoleSnapshot string // the role as JSON when it was entered
	Private      bool   // kept in memory only: see Store.KeepInMemory. No column
	RoleValues   string // values of roles' variables as JSON: role names, each with its values by name
	Model        string
	Mode         string
	Created      time.Time
	Updated      time.Time
	Archived     bool
	// What follows is counted by the store. Messages are those of the person and the
	// model; tokens and cost include the sub-agents that worked for the session.
	Messages     int
	InputTokens  int64
	OutputTokens int64
	CachedTokens int64
	// WrittenTokens are those of InputTokens that were written to the provider's cache.
	WrittenTokens int64
	Cost          float64
	// Estimated says that some counts, and so the cost, are not the provider's own.
	Estimated   bool
	FirstPrompt string // first line of the first prompt
}

// Where a session's title comes from.
const (
	TitleAuto = "auto"
	TitleUser = "user"
)

// Kinds of sessions, for Session.Kind and Filter.Kind.
const (
	KindTask = "task" // a sub-agent's, under its parent
	KindAny  = "*"    // in a Filter: every kind
)

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"  // a notice to the model
	RoleSummary   = "summary" // stands for the messages that it archived
)

// Message is one row of messages. Seq orders a session and is given by the store,
// counting from 1.
type Message struct {
	Session  string
	Seq      int64
	Role     string // RoleUser, RoleAssistant, RoleSystem, RoleSummary
	Parts    []Part
	Usage    *Usage
	Archived int64 // seq of the summary that replaced it, 0 if live
	Created  time.Time
	// Calls are an assistant message's tool calls in order.
	Calls []Call
	// Broken says why the row could not be read; the other fields may be empty.
	Broken string
}

// Text is the message's text parts, joined.
func (m Message) Text() string {
	var n int
	var last string
	for _, p := range m.Parts {
		if p.Kind == PartText {
			n++
			last = p.Text
		}
	}
	if n < 2 {
		return last
	}
	var b []byte
	for _, p := range m.Parts {
		if p.Kind == PartText {
			b = append(b, p.Text...)
		}
	}
	return string(b)
}

// Shown is the message as the person sees it: what they typed, where a command or a
// template made the text of it.
func (m Message) Shown() string {
	for _, p := range m.Parts {
		if p.Kind == PartShown && p.Text != "" {
			return p.Text
		}
	}
	return m.Text()
}

// Part is a piece of a message.
type Part struct {
	Kind string `json:"kind"` // one of the kinds below
	Text string `json:"text,omitempty"`
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// The kinds of parts.
const (
	PartText      = "text"
	PartReasoning = "reasoning"
	PartImage     = "image"
	PartRefused   = "refused" // a picture that a provider refused: kept, never sent again
	PartOpaque    = "opaque"  // what only the protocol understands that it came over, as JSON
	PartTools     = "tools"   // the tools that came and went with a notice, as JSON
	PartShown     = "shown"   // what the person sees instead of the text
	PartRange     = "range"   // what a summary stands for
	PartSkill     = "skill"   // the skill whose instructions the text holds
)

// Usage is what one assistant message cost.
type Usage struct {
	Input     int     `json:"input_tokens"`
	Output    int     `json:"output_tokens"`
	Cached    int     `json:"cached_tokens"`                // of Input: read from the provider's cache
	Written   int     `json:"cache_write_tokens,omitempty"` // of Input: written to it
	Searches  int     `json:"web_searches,omitempty"`       // of the web, at the provider
	Estimated bool    `json:"estimated,omitempty"`
	Model     string  `json:"model,omitempty"`
	Cost      float64 `json:"cost,omitempty"`
}

// Status is the state of a tool call.
type Status string

// The states of a call.
const (
	StatusPending     Status = "pending"
	StatusRunning     Status = "running"
	StatusDone        Status = "done"
	StatusFailed      Status = "failed"
	StatusInterrupted Status = "interrupted"
	StatusDenied      Status = "denied"
)

// Open reports whether a call in this state still waits for its result.
func (s Status) Open() bool { return s == StatusPending || s == StatusRunning }

// Call is one row of tool_calls.
type Call struct {
	Session   string
	Seq       int64 // of the assistant message
	Index     int
	ID        string
	Name      string // canonical
	Wire      string // as it was sent
	Arguments string // byte for byte as the model wrote it
	Status    Status
	Result    string          // capped, as the model read it
	Data      json.RawMessage // the structured result
	Display   json.RawMessage // what the person sees of it
	Parts     []Part
	Started   time.Time
	Ended     time.Time
}

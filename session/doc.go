// Package session owns what is kept: the SQLite store with its sessions, messages,
// tool calls, roles, grants, trust, Lua state, checkpoints and prompt history, and
// the migrations of its schema.
//
// It must not know what a model or a tool is: it keeps rows and gives them back.
package session

import (
	"encoding/json"
	"time"
)

// Session is one row of sessions.
type Session struct {
	ID           string // UUIDv7
	Title        string
	TitleSource  string // auto or user
	ParentID     string // the session it was forked from or works for
	ForkSeq      int64  // last message taken over from the parent
	Kind         string // "" or "task" for a sub-agent's session
	Cwd          string // working folder, resolved
	ProjectID    string // see ProjectID
	RoleName     string
	RoleSnapshot string // the role as JSON when it was entered
	Model        string
	Mode         string
	Created      time.Time
	Updated      time.Time
	Archived     bool
	// Counts and totals, filled in by List and Get.
	Messages     int
	InputTokens  int64
	OutputTokens int64
	CachedTokens int64
	Cost         float64
	FirstPrompt  string
}

// Message is one row of messages. Seq orders a session and is given by the store.
type Message struct {
	Session  string
	Seq      int64
	Role     string // user, assistant, system (a notice to the model), summary
	Parts    []Part
	Usage    *Usage
	Archived int64 // seq of the summary that replaced it, 0 if live
	Created  time.Time
	// Calls are an assistant message's tool calls in order.
	Calls []Call
	// Broken says why the row could not be read; the other fields may be empty.
	Broken string
}

// Part is a piece of a message.
type Part struct {
	Kind string `json:"kind"` // text, reasoning, image, shown, range
	Text string `json:"text,omitempty"`
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// Usage is what one assistant message cost.
type Usage struct {
	Input     int     `json:"input_tokens"`
	Output    int     `json:"output_tokens"`
	Cached    int     `json:"cached_tokens"`
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
	Result    string // capped; the rest is in a blob
	Blob      string // content hash of the whole result, empty when not cut
	Data      json.RawMessage
	Parts     []Part
	Started   time.Time
	Ended     time.Time
}

// Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.

package sdk

import "encoding/json"

// CompactionEvent is the event compaction.
type CompactionEvent struct {
	AnyEvent
	Type         json.RawMessage `json:"type"`
	AfterTokens  int64           `json:"after_tokens"`
	BeforeTokens int64           `json:"before_tokens"`
}

// RewoundEvent is the event rewound.
type RewoundEvent struct {
	AnyEvent
	Type json.RawMessage `json:"type"`
	From int64           `json:"from"`
}

// UsageEventTotal is total of UsageEvent.
type UsageEventTotal struct {
	CacheWrite1hTokens int64   `json:"cache_write_1h_tokens,omitempty"`
	CacheWriteTokens   int64   `json:"cache_write_tokens,omitempty"`
	CachedTokens       int64   `json:"cached_tokens"`
	Cost               float64 `json:"cost,omitempty"`
	Estimated          bool    `json:"estimated"`
	InputTokens        int64   `json:"input_tokens"`
	OutputTokens       int64   `json:"output_tokens"`
	ServiceTier        string  `json:"service_tier,omitempty"`
	WebSearches        int64   `json:"web_searches,omitempty"`
}

// UsageEvent is the event usage.
type UsageEvent struct {
	AnyEvent
	Type               json.RawMessage  `json:"type"`
	Beside             bool             `json:"beside,omitempty"`
	CacheWrite1hTokens int64            `json:"cache_write_1h_tokens,omitempty"`
	CacheWriteTokens   int64            `json:"cache_write_tokens,omitempty"`
	CachedTokens       int64            `json:"cached_tokens"`
	ContextTokens      int64            `json:"context_tokens,omitempty"`
	ContextWindow      int64            `json:"context_window,omitempty"`
	Cost               float64          `json:"cost,omitempty"`
	CostUSD            *float64         `json:"cost_usd"`
	Estimated          bool             `json:"estimated"`
	InputTokens        int64            `json:"input_tokens"`
	OutputTokens       int64            `json:"output_tokens"`
	ServiceTier        string           `json:"service_tier,omitempty"`
	Total              *UsageEventTotal `json:"total,omitempty"`
	WebSearches        int64            `json:"web_searches,omitempty"`
}

// QueueEventPrompts is prompts of QueueEvent.
type QueueEventPrompts struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// QueueEvent is the event queue.
type QueueEvent struct {
	AnyEvent
	Type    json.RawMessage     `json:"type"`
	Prompts []QueueEventPrompts `json:"prompts"`
}

// PreparingEvent is the event preparing.
type PreparingEvent struct {
	AnyEvent
	Type   json.RawMessage `json:"type"`
	Doing  string          `json:"doing"`
	Prompt string          `json:"prompt"`
	Queued string          `json:"queued,omitempty"`
}

// UnsentEvent is the event unsent.
type UnsentEvent struct {
	AnyEvent
	Type   json.RawMessage `json:"type"`
	Error  string          `json:"error"`
	Prompt string          `json:"prompt"`
	Queued string          `json:"queued,omitempty"`
}

// StateEvent is the event state.
type StateEvent struct {
	AnyEvent
	Type      json.RawMessage `json:"type"`
	Busy      bool            `json:"busy"`
	CWD       string          `json:"cwd"`
	Effort    string          `json:"effort,omitempty"`
	MaxMode   string          `json:"max_mode,omitempty"`
	Mode      string          `json:"mode"`
	Model     string          `json:"model"`
	Planning  bool            `json:"planning,omitempty"`
	Private   bool            `json:"private,omitempty"`
	ReadOnly  bool            `json:"read_only,omitempty"`
	Role      string          `json:"role"`
	SessionID string          `json:"session_id"`
	Title     string          `json:"title"`
}

// TurnEndEvent is the event turn_end.
type TurnEndEvent struct {
	AnyEvent
	Type       json.RawMessage `json:"type"`
	Calls      int64           `json:"calls"`
	DurationMS int64           `json:"duration_ms"`
	Error      string          `json:"error,omitempty"`
	Finish     string          `json:"finish,omitempty"`
	Queued     string          `json:"queued,omitempty"`
	Reason     string          `json:"reason"`
	Steps      int64           `json:"steps"`
	Text       string          `json:"text"`
	Turn       int64           `json:"turn"`
}

// NotesUsedEventNotes is notes of NotesUsedEvent.
type NotesUsedEventNotes struct {
	From string `json:"from"`
	ID   string `json:"id"`
	Text string `json:"text"`
}

// NotesUsedEvent is the event notes_used.
type NotesUsedEvent struct {
	AnyEvent
	Type  json.RawMessage       `json:"type"`
	Notes []NotesUsedEventNotes `json:"notes"`
}

// AgentEvent is the event agent.
type AgentEvent struct {
	AnyEvent
	Type      json.RawMessage `json:"type"`
	Added     int64           `json:"added,omitempty"`
	Answer    string          `json:"answer,omitempty"`
	Call      string          `json:"call,omitempty"`
	Changed   bool            `json:"changed,omitempty"`
	CostUSD   float64         `json:"cost_usd"`
	Dir       string          `json:"dir,omitempty"`
	Doing     string          `json:"doing,omitempty"`
	Ended     string          `json:"ended,omitempty"`
	Estimated bool            `json:"estimated,omitempty"`
	Files     int64           `json:"files,omitempty"`
	Model     string          `json:"model,omitempty"`
	Name      string          `json:"name"`
	Of        string          `json:"of,omitempty"`
	Removed   int64           `json:"removed,omitempty"`
	Role      string          `json:"role,omitempty"`
	SessionID string          `json:"session_id"`
	Started   string          `json:"started,omitempty"`
	Status    string          `json:"status"`
	Tokens    int64           `json:"tokens"`
}

// Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.

package sdk

import "encoding/json"

// AgentsMessageParams is what the method agents.message takes.
type AgentsMessageParams struct {
	Name    string `json:"name"`
	Session string `json:"session"`
	Text    string `json:"text,omitempty"`
}

// AgentsOutputParams is what the method agents.output takes.
type AgentsOutputParams struct {
	Name    string `json:"name"`
	Session string `json:"session"`
	Text    string `json:"text,omitempty"`
}

// AgentsOutputResult is what the method agents.output returns.
type AgentsOutputResult struct {
	Text string `json:"text"`
}

// AgentsStopParams is what the method agents.stop takes.
type AgentsStopParams struct {
	Name    string `json:"name"`
	Session string `json:"session"`
	Text    string `json:"text,omitempty"`
}

// AnswerParams is what the method answer takes.
type AnswerParams struct {
	Hunks   []int64 `json:"hunks,omitempty"`
	ID      string  `json:"id"`
	Option  int64   `json:"option"`
	Session string  `json:"session"`
	Word    string  `json:"word,omitempty"`
}

// AttachParams is what the method attach takes.
type AttachParams struct {
	After   *int64 `json:"after,omitempty"`
	Recent  int64  `json:"recent,omitempty"`
	Role    string `json:"role"`
	Session string `json:"session"`
}

// AttachResultState is state of AttachResult.
type AttachResultState struct {
	Type         string `json:"type"`
	Agent        string `json:"agent,omitempty"`
	AgentSession string `json:"agent_session,omitempty"`
	Busy         bool   `json:"busy"`
	CWD          string `json:"cwd"`
	Effort       string `json:"effort,omitempty"`
	MaxMode      string `json:"max_mode,omitempty"`
	Mode         string `json:"mode"`
	Model        string `json:"model"`
	N            int64  `json:"n,omitempty"`
	Parent       string `json:"parent,omitempty"`
	Planning     bool   `json:"planning,omitempty"`
	Private      bool   `json:"private,omitempty"`
	ReadOnly     bool   `json:"read_only,omitempty"`
	Role         string `json:"role"`
	SessionID    string `json:"session_id"`
	Title        string `json:"title"`
	To           int64  `json:"to,omitempty"`
	Worktree     string `json:"worktree,omitempty"`
}

// AttachResult is what the method attach returns.
type AttachResult struct {
	Before  int64              `json:"before,omitempty"`
	History []json.RawMessage  `json:"history,omitempty"`
	Last    int64              `json:"last"`
	Now     []json.RawMessage  `json:"now,omitempty"`
	Resumed bool               `json:"resumed"`
	Role    string             `json:"role"`
	Session string             `json:"session"`
	State   *AttachResultState `json:"state"`
}

// BesideResult is what the method beside returns.
type BesideResult struct{}

// ChoicesParams is what the method choices takes.
type ChoicesParams struct {
	Session string `json:"session"`
}

// ChoicesResultModels is models of ChoicesResult.
type ChoicesResultModels struct {
	Current bool   `json:"current,omitempty"`
	Info    string `json:"info,omitempty"`
	Name    string `json:"name"`
}

// ChoicesResultRoles is roles of ChoicesResult.
type ChoicesResultRoles struct {
	Current bool   `json:"current,omitempty"`
	Info    string `json:"info,omitempty"`
	Name    string `json:"name"`
}

// ChoicesResult is what the method choices returns.
type ChoicesResult struct {
	Models []ChoicesResultModels `json:"models"`
	Roles  []ChoicesResultRoles  `json:"roles"`
}

// DetachParams is what the method detach takes.
type DetachParams struct {
	Session string `json:"session"`
}

// FilesParams is what the method files takes.
type FilesParams struct {
	Query   string `json:"query"`
	Session string `json:"session"`
}

// FilesResult is what the method files returns.
type FilesResult struct {
	Names []string `json:"names"`
}

// FillParams is what the method fill takes.
type FillParams struct {
	Action  string         `json:"action"`
	ID      string         `json:"id"`
	Session string         `json:"session"`
	Values  map[string]any `json:"values,omitempty"`
}

// HelloParams is what the method hello takes.
type HelloParams struct {
	Name    string `json:"name"`
	Token   string `json:"token"`
	Version int64  `json:"version"`
}

// HelloResultBackground is background of HelloResult.
type HelloResultBackground struct {
	Folder  string `json:"folder"`
	Windows int64  `json:"windows"`
}

// HelloResult is what the method hello returns.
type HelloResult struct {
	Background *HelloResultBackground `json:"background,omitempty"`
	Jcode      string                 `json:"jcode"`
	PID        int64                  `json:"pid"`
	Version    int64                  `json:"version"`
}

// HistoryParams is what the method history takes.
type HistoryParams struct {
	Before  int64  `json:"before"`
	Session string `json:"session"`
}

// HistoryResult is what the method history returns.
type HistoryResult struct {
	History []json.RawMessage `json:"history"`
}

// InterruptParams is what the method interrupt takes.
type InterruptParams struct {
	Session string `json:"session"`
}

// PromptParamsPictures is pictures of PromptParams.
type PromptParamsPictures struct {
	Data []byte `json:"data"`
	Name string `json:"name,omitempty"`
}

// PromptParams is what the method prompt takes.
type PromptParams struct {
	Pictures []PromptParamsPictures `json:"pictures,omitempty"`
	Session  string                 `json:"session"`
	Text     string                 `json:"text"`
}

// PromptResult is what the method prompt returns.
type PromptResult struct {
	ID      string `json:"id"`
	Session string `json:"session"`
}

// ReplyParams is what the method reply takes.
type ReplyParams struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Text    string `json:"text"`
}

// RewindParams is what the method rewind takes.
type RewindParams struct {
	Seq     int64  `json:"seq"`
	Session string `json:"session"`
	What    string `json:"what,omitempty"`
}

// RewindResult is what the method rewind returns.
type RewindResult struct {
	Draft string `json:"draft,omitempty"`
	Said  string `json:"said,omitempty"`
}

// RoleParams is what the method role takes.
type RoleParams struct {
	Name    string `json:"name,omitempty"`
	Session string `json:"session"`
}

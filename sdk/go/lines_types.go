// Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.

package sdk

import "encoding/json"

// AgentsMessageLine is the line agents.message of the input.
type AgentsMessageLine struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// AgentsOutputLine is the line agents.output of the input.
type AgentsOutputLine struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// AgentsStopLine is the line agents.stop of the input.
type AgentsStopLine struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// AnswerLine is the line answer of the input.
type AnswerLine struct {
	Hunks  []int64 `json:"hunks,omitempty"`
	ID     string  `json:"id"`
	Option int64   `json:"option"`
	Word   string  `json:"word,omitempty"`
}

// ChoicesLine is the line choices of the input.
type ChoicesLine struct{}

// FilesLine is the line files of the input.
type FilesLine struct {
	Query string `json:"query"`
}

// FillLine is the line fill of the input.
type FillLine struct {
	Action string         `json:"action"`
	ID     string         `json:"id"`
	Values map[string]any `json:"values,omitempty"`
}

// InterruptLine is the line interrupt of the input.
type InterruptLine struct{}

// MCPLine is the line mcp of the input.
type MCPLine struct {
	Message json.RawMessage `json:"message"`
	Server  string          `json:"server"`
}

// PromptLinePictures is pictures of PromptLine.
type PromptLinePictures struct {
	Data []byte `json:"data"`
	Name string `json:"name,omitempty"`
}

// PromptLine is the line prompt of the input.
type PromptLine struct {
	Pictures []PromptLinePictures `json:"pictures,omitempty"`
	Text     string               `json:"text"`
}

// ReplyLine is the line reply of the input.
type ReplyLine struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// RewindLine is the line rewind of the input.
type RewindLine struct {
	Seq  int64  `json:"seq"`
	What string `json:"what,omitempty"`
}

// RoleLine is the line role of the input.
type RoleLine struct {
	Name string `json:"name,omitempty"`
}

// ServeLine is the line serve of the input.
type ServeLine struct {
	Name           string  `json:"name"`
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	Trusted        bool    `json:"trusted,omitempty"`
}

// SetLine is the line set of the input.
type SetLine struct {
	Mode  string `json:"mode,omitempty"`
	Model string `json:"model,omitempty"`
}

// UndoLine is the line undo of the input.
type UndoLine struct {
	Redo bool `json:"redo,omitempty"`
}

// UnqueueLine is the line unqueue of the input.
type UnqueueLine struct {
	ID string `json:"id"`
}

// AgentsOutputOutput is what jcode writes of agents.output.
type AgentsOutputOutput struct {
	Text string `json:"text"`
}

// ChoicesOutputModels is models of ChoicesOutput.
type ChoicesOutputModels struct {
	Current bool   `json:"current,omitempty"`
	Info    string `json:"info,omitempty"`
	Name    string `json:"name"`
}

// ChoicesOutputRoles is roles of ChoicesOutput.
type ChoicesOutputRoles struct {
	Current bool   `json:"current,omitempty"`
	Info    string `json:"info,omitempty"`
	Name    string `json:"name"`
}

// ChoicesOutput is what jcode writes of choices.
type ChoicesOutput struct {
	Models []ChoicesOutputModels `json:"models"`
	Roles  []ChoicesOutputRoles  `json:"roles"`
}

// FilesOutput is what jcode writes of files.
type FilesOutput struct {
	Names []string `json:"names"`
}

// MCPOutput is what jcode writes of mcp.
type MCPOutput struct {
	Type    string          `json:"type,omitempty"`
	Message json.RawMessage `json:"message"`
	Server  string          `json:"server"`
}

// PromptedOutput is what jcode writes of prompted.
type PromptedOutput struct {
	ID   string `json:"id,omitempty"`
	Said string `json:"said,omitempty"`
}

// ResponseOutput is what jcode writes of response.
type ResponseOutput struct {
	Type    string          `json:"type"`
	Error   string          `json:"error,omitempty"`
	Kind    string          `json:"kind,omitempty"`
	Line    int64           `json:"line"`
	OK      bool            `json:"ok"`
	Request string          `json:"request,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

// RewindOutput is what jcode writes of rewind.
type RewindOutput struct {
	Draft string `json:"draft,omitempty"`
	Said  string `json:"said,omitempty"`
}

// ServedOutputFaults is faults of ServedOutput.
type ServedOutputFaults struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// ServedOutput is what jcode writes of served.
type ServedOutput struct {
	Faults []ServedOutputFaults `json:"faults,omitempty"`
	Tools  []string             `json:"tools"`
}

// UndoOutput is what jcode writes of undo.
type UndoOutput struct {
	Said string `json:"said"`
}

// Line is a line of input, for Session.Send.
type Line interface{ kind() string }

func (AgentsMessageLine) kind() string { return "agents.message" }
func (AgentsOutputLine) kind() string  { return "agents.output" }
func (AgentsStopLine) kind() string    { return "agents.stop" }
func (AnswerLine) kind() string        { return "answer" }
func (ChoicesLine) kind() string       { return "choices" }
func (FilesLine) kind() string         { return "files" }
func (FillLine) kind() string          { return "fill" }
func (InterruptLine) kind() string     { return "interrupt" }
func (MCPLine) kind() string           { return "mcp" }
func (PromptLine) kind() string        { return "prompt" }
func (ReplyLine) kind() string         { return "reply" }
func (RewindLine) kind() string        { return "rewind" }
func (RoleLine) kind() string          { return "role" }
func (ServeLine) kind() string         { return "serve" }
func (SetLine) kind() string           { return "set" }
func (UndoLine) kind() string          { return "undo" }
func (UnqueueLine) kind() string       { return "unqueue" }

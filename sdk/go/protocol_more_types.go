// Written from the schemas of docs by `go test ./internal/testkit/sdktypes -update`. Do not edit.

package sdk

import "encoding/json"

// SessionsResult is what the method sessions returns.
type SessionsResult struct{}

// SetParams is what the method set takes.
type SetParams struct {
	Mode    string `json:"mode,omitempty"`
	Model   string `json:"model,omitempty"`
	Session string `json:"session"`
}

// ShowParams is what the method show takes.
type ShowParams struct {
	Cols int64  `json:"cols"`
	Role string `json:"role"`
	Rows int64  `json:"rows"`
	Said string `json:"said,omitempty"`
}

// SizeParams is what the method size takes.
type SizeParams struct {
	Cols int64 `json:"cols"`
	Rows int64 `json:"rows"`
}

// TypeParams is what the method type takes.
type TypeParams struct {
	Keys []byte `json:"keys"`
}

// UndoParams is what the method undo takes.
type UndoParams struct {
	Redo    bool   `json:"redo,omitempty"`
	Session string `json:"session"`
}

// UndoResult is what the method undo returns.
type UndoResult struct {
	Said string `json:"said"`
}

// UnqueueParams is what the method unqueue takes.
type UnqueueParams struct {
	ID      string `json:"id"`
	Session string `json:"session"`
}

// DrawNote is the notification draw.
type DrawNote struct {
	Data []byte `json:"data"`
}

// EndedNote is the notification ended.
type EndedNote struct {
	Session string `json:"session"`
	Why     string `json:"why"`
}

// EventNote is the notification event.
type EventNote struct {
	Event   json.RawMessage `json:"event"`
	Session string          `json:"session"`
}

// LeftNote is the notification left.
type LeftNote struct {
	Code    int64  `json:"code,omitempty"`
	Name    string `json:"name,omitempty"`
	Process int64  `json:"process,omitempty"`
	Why     string `json:"why"`
}

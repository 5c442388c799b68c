package mcp

import (
	"fmt"
	"time"

	"jcode/mcp/config"
	"jcode/mcp/schema"
)

// view is the published state of an actor. It is immutable.
type view struct {
	entry   config.Entry
	key     string
	state   State
	attempt int
	err     error
	nextTry time.Time
	tools   []schema.Tool
	partial error // which tools are missing
	skipped []schema.Skipped
	info    sessionInfo
	session *session // nil unless connected
	pid     int
	prompts []PromptInfo
	secrets []string
	single  bool // report the first failure to the caller; do not retry
}

// describe describes a server's state in words, for a call that can't be made.
func (v *view) describe(name string, now time.Time) string {
	s := fmt.Sprintf("MCP server %s is %s", name, v.state)
	if v.state == StateReconnecting {
		s += fmt.Sprintf(" (attempt %d)", v.attempt)
	}
	if v.err != nil {
		s += ": " + config.Scrub(plainError(v.err), v.secrets)
	}
	if !v.nextTry.IsZero() && v.nextTry.After(now) {
		s += fmt.Sprintf("; next try in %.0f s", v.nextTry.Sub(now).Seconds())
	}
	switch v.state {
	case StateReconnecting:
		s += ". Call again after that, or mcp_connect with name " + name + " tries now"
	case StateFailed, StateDisconnected:
		s += ". mcp_connect with name " + name + " connects it"
	}
	return s
}

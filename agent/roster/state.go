// Package roster owns who works beside a conversation: the names and states of sub-agents, how many may work
// at once, what each of them did, and which ends the parent has not been told of yet. One roster holds a
// whole tree of agents, so names are unique in the tree and one limit covers it.
//
// It starts and ends no agents, and must not know conversations, worktrees or the database.
package roster

import (
	"strings"
	"time"

	"jcode/internal/text"
)

// Status is the state of an agent's work.
type Status string

// The states.
const (
	Working Status = "working"
	Waiting Status = "waiting" // for the person
	Done    Status = "done"
	Failed  Status = "failed"
	Stopped Status = "stopped"
	// Left is an agent whose program ended while the agent was working.
	Left Status = "left"
)

// State is an agent as others see it.
type State struct {
	Name    string
	Session string
	// Parent is the session that it works for.
	Parent string
	Role   string
	Model  string
	Status Status
	// Call is its current tool call.
	Call   string
	Tokens int
	Cost   float64
	// Estimated says that tokens and cost are not the provider's own counts.
	Estimated bool
	Started   time.Time
	Ended     time.Time
	// Answer is its last answer, or why it failed.
	Answer string
	// Dir is the worktree in which it works, "" for its parent's own folder. Changed says that the worktree has
	// changes that were not merged.
	Dir     string
	Changed bool
}

// Running reports whether the agent works or waits for an answer.
func (s State) Running() bool { return s.Status == Working || s.Status == Waiting }

// String describes the agent's state in a few words, for people.
func (s State) String() string {
	parts := []string{string(s.Status)}
	if s.Call != "" {
		parts = append(parts, s.Call)
	}
	if s.Tokens > 0 {
		parts = append(parts, text.Count(s.Tokens, "token"))
	}
	if s.Cost > 0 {
		parts = append(parts, text.Spent(s.Cost, s.Estimated))
	}
	if s.Changed {
		parts = append(parts, "changes to merge")
	}
	return strings.Join(parts, " · ")
}

// Name reduces s to a name of lower-case letters, digits and hyphens; "" if nothing remains.
func Name(s string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, text.Cut(s, 40))
	return strings.Trim(name, "-")
}

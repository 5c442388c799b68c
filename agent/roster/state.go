// Package roster owns who works beside a conversation: the names and states of sub-agents, how many may work
// at once, what each of them did, and which ends the parent has not been told of yet. One roster holds a
// whole tree of agents, so names are unique in the tree and one limit covers it.
//
// It starts and ends no agents, and must not know conversations, worktrees or the database.
package roster

import (
	"cmp"
	"fmt"
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
	// Call is its current tool call, Doing what that does.
	Call   string
	Doing  string
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
	// Files, Added and Removed count what can be merged: files, and lines in them.
	Files, Added, Removed int
}

// Running reports whether the agent works or waits for an answer.
func (s State) Running() bool { return s.Status == Working || s.Status == Waiting }

// What says what the agent does, or how it ended, for people.
func (s State) What() string {
	switch {
	case s.Status == Working:
		return cmp.Or(s.Doing, s.Call, "thinking")
	case s.Status == Waiting && s.Doing != "" && s.Call != "ask":
		return "asks: " + s.Doing
	case s.Status == Waiting:
		return "waits for your answer"
	case s.Files > 0 && s.Added+s.Removed == 0: // modes and pictures, or more than is counted
		return string(s.Status) + ", changes in " + text.Count(s.Files, "file")
	case s.Files > 0:
		return fmt.Sprintf("%s, +%d -%d in %s", s.Status, s.Added, s.Removed, text.Count(s.Files, "file"))
	case s.Changed:
		return string(s.Status) + ", with what can't be merged"
	}
	return string(s.Status)
}

// Took returns how long the agent has worked.
func (s State) Took(now time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	return max(now.Sub(s.Started), 0).Truncate(time.Second)
}

// Compare orders agents as they were started: so does every list of them.
func (s State) Compare(other State) int {
	return cmp.Or(s.Started.Compare(other.Started), cmp.Compare(s.Name, other.Name))
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

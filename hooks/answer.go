package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"jcode/internal/text"
)

// The limits of what a hook may say, in bytes.
const (
	maxContext = 16 << 10 // to the model
	maxSaid    = 2 << 10  // to the person
	maxAnswer  = 512 << 10
)

// blockCode is the exit code that blocks.
const blockCode = 2

// answer is the JSON that a hook prints.
type answer struct {
	Continue      *bool           `json:"continue"`
	StopReason    string          `json:"stopReason"`
	SystemMessage string          `json:"systemMessage"`
	Decision      string          `json:"decision"`
	Reason        string          `json:"reason"`
	Specific      specific        `json:"hookSpecificOutput"`
	UpdatedInput  json.RawMessage `json:"updatedInput"`
}

// specific holds the fields of single events.
type specific struct {
	Decision     string          `json:"permissionDecision"`
	Reason       string          `json:"permissionDecisionReason"`
	UpdatedInput json.RawMessage `json:"updatedInput"`
	Context      string          `json:"additionalContext"`
}

// read turns the end of a hook into an outcome. said is a line for the person; fault says what is
// wrong with the hook.
func read(event Event, end Ended) (out Outcome, said, fault string) {
	stderr := text.Cut(strings.TrimSpace(text.Clean(end.Stderr)), maxContext)
	stdout := strings.TrimSpace(end.Stdout)
	switch {
	case end.Code == blockCode && blocks(event):
		out.Block, out.Reason = true, stderr
		if out.Reason == "" {
			out.Reason = "blocked without a reason: a hook says it on standard error"
		}
		return out, "", ""
	case end.Code == blockCode:
		return out, stderr, ""
	case end.Code != 0:
		return out, "", fmt.Sprintf("ended with exit code %d: %s", end.Code, text.Cut(text.Headline(stderr), 300))
	case !strings.HasPrefix(stdout, "{"):
		if event == UserPromptSubmit || event == SessionStart {
			out.Context = text.Cut(text.Clean(stdout), maxContext)
		}
		return out, "", ""
	case len(stdout) > maxAnswer:
		return out, "", fmt.Sprintf("its answer has %d KiB, at most %d are read", len(stdout)>>10, maxAnswer>>10)
	}
	var a answer
	if err := json.Unmarshal([]byte(stdout), &a); err != nil {
		return out, "", "its answer is not usable JSON: " + plain(err)
	}
	return a.outcome(event)
}

// blocks reports whether an event can be blocked.
func blocks(event Event) bool {
	switch event {
	case PreToolUse, PostToolUse, UserPromptSubmit, Stop, SubagentStop, PreCompact:
		return true
	case SessionStart, SessionEnd, Notification:
	}
	return false
}

func (a answer) outcome(event Event) (out Outcome, said, fault string) {
	out.Context = text.Cut(text.Clean(a.Specific.Context), maxContext)
	if a.Continue != nil && !*a.Continue {
		out.Stop, out.StopReason = true, text.Cut(text.Clean(a.StopReason), maxSaid)
	}
	decision, reason := a.Decision, a.Reason
	if a.Specific.Decision != "" {
		decision, reason = a.Specific.Decision, a.Specific.Reason
	}
	switch decision {
	case "block", "deny":
		out.Block, out.Reason = blocks(event), text.Cut(text.Clean(reason), maxContext)
		if out.Reason == "" {
			out.Reason = "blocked without a reason"
		}
		if !out.Block {
			fault = noDecision(decision, event)
		}
	case "ask":
		if event != PreToolUse {
			fault = noDecision(decision, event)
		}
		out.Ask, out.Reason = event == PreToolUse, text.Cut(text.Clean(reason), maxSaid)
	case "", "allow", "approve", "defer": // no hook grants anything: the gate decides as if there were no hook
	default:
		fault = fmt.Sprintf("decision %q is unknown; known: allow, ask, deny, block", text.Cut(decision, 40))
	}
	input := a.Specific.UpdatedInput
	if input == nil {
		input = a.UpdatedInput
	}
	if input = bytes.TrimSpace(input); len(input) > 0 && !bytes.Equal(input, []byte("null")) && event == PreToolUse {
		if err := json.Unmarshal(input, &out.Input); err != nil {
			out.Input, fault = nil, "updatedInput must be an object"
		}
	}
	return out, a.SystemMessage, fault
}

// noDecision says that a decision has no effect for an event.
func noDecision(decision string, event Event) string {
	return fmt.Sprintf("its decision %q has no effect: %s leaves nothing to decide in that way", decision, event)
}

// joined combines the answers of several hooks.
func joined(list []Outcome) Outcome {
	var out Outcome
	var context []string
	for _, o := range list {
		if o.Block && !out.Block {
			out.Block, out.Reason, out.By = true, o.Reason, o.By
		}
		if o.Ask && !out.Ask {
			out.Ask = true
			if !out.Block {
				out.Reason, out.By = o.Reason, o.By
			}
		}
		if o.Input != nil {
			out.Input = o.Input
			if !out.Block {
				out.By = o.By
			}
		}
		if o.Stop && !out.Stop {
			out.Stop, out.StopReason = true, o.StopReason
			if out.By == "" {
				out.By = o.By
			}
		}
		if o.Context != "" {
			context = append(context, o.Context)
		}
	}
	out.Context = strings.Join(context, "\n")
	return out
}

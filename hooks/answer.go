package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"jcode/internal/pattern"
	"jcode/internal/text"
)

// The limits of what a hook may say, in bytes.
const (
	maxContext = 16 << 10 // to the model
	maxSaid    = 2 << 10  // to the person
	maxAnswer  = 512 << 10
	maxOutput  = 64 << 10 // in place of a result
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
	Output       json.RawMessage `json:"updatedToolOutput"`
	MCPOutput    json.RawMessage `json:"updatedMCPToolOutput"`
}

// unstarted says why a hook could not be started, "" if it was: then its exit code is no answer.
func unstarted(end Ended) string {
	why := ""
	switch line := firstOf(end.Stderr); {
	case end.Code == 125 && strings.Contains(end.Stderr, "jcode: sandbox:"):
		why = line
	case end.Code == 126, end.Code == 127:
		why = line
	case end.Code != 0 && strings.TrimSpace(end.Stdout) == "" && missing().MatchString(end.Stderr):
		why = missing().FindString(end.Stderr)
	default:
		return ""
	}
	if why == "" {
		why = fmt.Sprintf("exit code %d", end.Code)
	}
	return "it could not be started: " + text.Cut(text.Clean(why), 300)
}

// missing matches what interpreters say of a script that they can't open.
var missing = pattern.Lazy(`(?m)^(?:.*can't open file '[^']*': \[Errno \d+\].*|sh: \d+: cannot open .*|.*: cannot open [^\n]*: (?:No such file|Permission denied).*|Error: Cannot find module '[^']*'.*|Can't open perl script .*|.*: No such file or directory -- .*\(LoadError\).*|Could not open input file: .*|error: Module not found .*)$`)

func firstOf(s string) string { return text.Headline(strings.TrimSpace(s)) }

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
	case jsonOf(stdout) == "":
		if event == UserPromptSubmit || event == SessionStart {
			out.Context = text.Cut(text.Clean(stdout), maxContext)
		}
		return out, "", ""
	case len(stdout) > maxAnswer:
		return out, "", fmt.Sprintf("its answer has %d KiB, at most %d are read", len(stdout)>>10, maxAnswer>>10)
	}
	var a answer
	if err := json.Unmarshal([]byte(jsonOf(stdout)), &a); err != nil {
		return out, "", "its answer is not usable JSON: " + plain(err)
	}
	return a.outcome(event)
}

// jsonOf returns the JSON object of a hook's answer: the last one that it printed. Lines before it, such as those
// of a shell's start-up file, are noise. "" means that there is none.
func jsonOf(stdout string) string {
	stdout = strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(stdout, "\n\ufeff", "\n"), "\ufeff"))
	rest := stdout
	for range 50 {
		if strings.HasPrefix(rest, "{") && json.Valid([]byte(rest)) {
			return rest
		}
		_, after, more := strings.Cut(rest, "\n")
		if !more {
			break
		}
		if i := strings.Index("\n"+after, "\n{"); i >= 0 {
			after = after[i:]
		}
		rest = strings.TrimSpace(after)
	}
	if strings.HasPrefix(stdout, "{") {
		return stdout
	}
	return ""
}

// blocks reports whether an event can be blocked.
func blocks(event Event) bool {
	switch event {
	case PreToolUse, PostToolUse, UserPromptSubmit, Stop, SubagentStop, PreCompact:
		return true
	case PostToolUseFailure, SessionStart, SessionEnd, Notification:
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
	for _, raw := range []json.RawMessage{a.Specific.MCPOutput, a.Specific.Output} {
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) && event == PostToolUse {
			out.Output = raw
		}
	}
	return out, a.SystemMessage, fault
}

// noDecision says that a decision has no effect for an event.
func noDecision(decision string, event Event) string {
	return fmt.Sprintf("its decision %q has no effect: %s does not support it", decision, event)
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
		out.Notes = append(out.Notes, o.Notes...)
		out.Variables = append(out.Variables, o.Variables...)
		if o.Output != nil {
			out.Output = o.Output
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

package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"jcode/agent/model"
	"jcode/internal/text"
)

// maxCallID is the longest call ID that is kept, in characters. A client shortens it for a
// provider that takes less.
const maxCallID = 128

// Results for calls that have none.
const (
	// ResultMissing is the result of a call that a crash or an interrupt kept from running.
	ResultMissing = "not run: the turn was interrupted before this call finished"
	resultEmpty   = "(no output)"
)

// sendable is a history in a form that every provider accepts, built as the history grows: every call has
// exactly one result, right after its message and in call order; results without a call are dropped; call IDs
// are unique and at most 128 characters; arguments are JSON objects; no message is empty; all text is valid
// UTF-8. Valid messages are not changed, so the operation is idempotent.
type sendable struct {
	out    []model.Message
	blind  bool // pictures are replaced by a note
	seen   map[string]bool
	done   int // messages of the history that out represents
	tokens int // estimated, of out
}

// extend adds the messages that the history has gained. The last answer before must have had all its results.
func (s *sendable) extend(history []model.Message) {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	for i := s.done; i < len(history); i++ {
		m := history[i]
		switch m.Role {
		case model.RoleUser:
			if m.Text = text.Valid(m.Text); !Blank(m.Text) || len(m.Images) > 0 {
				m.Calls, m.CallID = nil, ""
				s.add(m)
			}
		case model.RoleAssistant:
			m.Text, m.Reasoning = text.Valid(m.Text), text.Valid(m.Reasoning)
			m.CallID, m.Images = "", nil
			if len(m.Calls) == 0 {
				if !Blank(m.Text) || len(m.Opaque) > 0 {
					s.add(m)
				}
				continue
			}
			if Blank(m.Text) {
				m.Text = ""
			}
			calls, results := pair(m.Calls, following(history[i+1:]), s.seen)
			m.Calls = calls
			s.add(m)
			for _, r := range results {
				s.add(r)
			}
		case model.RoleTool:
			// It is sent with its call; a result without a call is dropped.
		}
	}
	s.done = len(history)
}

func (s *sendable) add(m model.Message) {
	if s.blind && len(m.Images) > 0 {
		m.Text, m.Images = model.Given(m.Text, m.Images, func(string) bool { return false })
	}
	s.out = append(s.out, m)
	s.tokens += model.EstimateMessage(&m)
}

// following returns the tool messages up to the next assistant message.
func following(rest []model.Message) []model.Message {
	var out []model.Message
	for _, m := range rest {
		if m.Role == model.RoleAssistant {
			break
		}
		if m.Role == model.RoleTool {
			out = append(out, m)
		}
	}
	return out
}

// pair makes sure that each call has a legal ID, legal arguments and exactly one result.
func pair(calls []model.Call, results []model.Message, seen map[string]bool) ([]model.Call, []model.Message) {
	fixed := make([]model.Call, 0, len(calls))
	answers := make([]model.Message, 0, len(calls))
	used := make([]bool, len(results))
	for n, c := range calls {
		answer := model.Message{Role: model.RoleTool, Text: ResultMissing, Failed: true}
		for i, r := range results {
			if !used[i] && r.CallID == c.ID {
				used[i] = true
				answer = r
				break
			}
		}
		args, fault := ObjectArguments(c.Arguments)
		if fault != "" && answer.Text == ResultMissing {
			answer.Text = "not run: " + fault
		}
		c.Arguments, c.Incomplete = args, false
		c.Name = model.SafeName(c.Name)
		c.ID = legalID(c.ID, n, seen)
		answer.CallID, answer.Name, answer.Calls, answer.Reasoning = c.ID, c.Name, nil, ""
		if answer.Text = text.Valid(answer.Text); Blank(answer.Text) {
			answer.Text = resultEmpty
		}
		fixed, answers = append(fixed, c), append(answers, answer)
	}
	return fixed, answers
}

// ObjectArguments returns arguments as a JSON object, and what was wrong if they were not one.
func ObjectArguments(args string) (object, fault string) {
	trimmed := bytes.TrimSpace([]byte(args))
	if len(trimmed) == 0 {
		return "{}", ""
	}
	if trimmed[0] == '{' && json.Valid(trimmed) {
		return text.Valid(string(trimmed)), ""
	}
	var v any
	if err := json.Unmarshal(trimmed, &v); err != nil {
		return "{}", fmt.Sprintf("the arguments were not valid JSON (%v)", err)
	}
	if v == nil || v == "" {
		return "{}", ""
	}
	return "{}", "the arguments were not a JSON object"
}

// legalID returns an ID that is unique in the history and at most 128 characters long. It is derived from the
// original, so the same history always produces the same IDs.
func legalID(id string, n int, seen map[string]bool) string {
	ok := id != "" && len(id) <= maxCallID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
	if !ok {
		id = shortHash(fmt.Sprintf("%s\x00%d", id, n))
	}
	for try := 2; seen[id]; try++ {
		id = shortHash(fmt.Sprintf("%s\x00%d\x00%d", id, n, try))
	}
	seen[id] = true
	return id
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "call_" + hex.EncodeToString(sum[:12])
}

// Blank reports whether a text has nothing to read.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

package history

import (
	"fmt"
	"strings"

	"jcode/agent/model"
	"jcode/internal/text"
)

const (
	keepTurns = 2 // user turns that are kept verbatim
	// KeepShare is the share of the window that the kept messages take at most, and the summary too.
	KeepShare = 0.20
)

// Tail returns the index of the first message that is kept verbatim: the last two user turns, at most a
// fifth of the window, cut between steps. 0 means that everything would be kept.
func (h *Transcript) Tail(window int) int {
	history := h.messages
	budget := int(KeepShare * float64(window))
	size, turns, start := 0, 0, len(history)
	for i := len(history) - 1; i > 0; i-- {
		size += model.EstimateMessage(&history[i])
		if size > budget {
			break
		}
		if history[i].Role == model.RoleTool {
			continue // never between a call and its result
		}
		start = i
		if history[i].Role == model.RoleUser && !strings.HasPrefix(history[i].Text, "[jcode]") {
			if turns++; turns == keepTurns {
				break
			}
		}
	}
	if start == len(history) { // the last step alone is too large: keep it anyway
		for start = len(history) - 1; start > 0 && history[start].Role == model.RoleTool; start-- {
		}
	}
	return max(start, 0)
}

// WriteOut renders messages as text for a summary.
func WriteOut(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		switch m.Role {
		case model.RoleUser:
			fmt.Fprintf(&b, "PERSON: %s\n\n", m.Text)
		case model.RoleAssistant:
			if m.Text != "" {
				fmt.Fprintf(&b, "AGENT: %s\n\n", m.Text)
			}
			for _, call := range m.Calls {
				fmt.Fprintf(&b, "AGENT CALLS %s %s\n", call.Name, text.Cut(call.Arguments, 1500))
			}
		case model.RoleTool:
			result, _ := text.HeadTail(m.Text, 1500, func(bytes, _ int) string { return fmt.Sprintf(" [… %d bytes …] ", bytes) })
			fmt.Fprintf(&b, "RESULT: %s\n\n", result)
		}
	}
	return b.String()
}

package agent

import (
	"strings"

	"jcode/agent/model"
)

// transcript is the history as the model sees it, oldest first. The conversation's goroutine owns it. What a
// step needs is updated as messages arrive: no step walks the whole history.
type transcript struct {
	messages []model.Message
	seqs     []int64         // the stored message that each entry comes from
	ids      map[string]bool // of calls
	tokens   int             // estimated, of messages
	ready    sendable        // messages in the form that was sent last
}

func newTranscript() transcript { return transcript{ids: map[string]bool{}} }

// push appends what a stored message stands for.
func (h *transcript) push(seq int64, messages ...model.Message) {
	for i := range messages {
		h.messages = append(h.messages, messages[i])
		h.seqs = append(h.seqs, seq)
		h.tokens += model.EstimateMessage(&messages[i])
		for _, call := range messages[i].Calls {
			h.ids[call.ID] = true
		}
	}
}

// summarised replaces the messages before an index with a summary.
func (h *transcript) summarised(seq int64, summary string, cut int) {
	tail, seqs := h.messages[cut:], h.seqs[cut:]
	h.messages = append([]model.Message{{Role: model.RoleUser, Text: summaryText(summary)}}, tail...)
	h.seqs = append([]int64{seq}, seqs...)
	h.changed()
}

// changed must be called after messages were changed in place.
func (h *transcript) changed() {
	h.tokens, h.ready = historyTokens(h.messages), sendable{}
}

// lastOf returns the seq of the last stored message before an index that is not a summary, or 0. Summaries
// come first, with seqs above those of the messages kept.
func (h *transcript) lastOf(cut int) int64 {
	for i := cut - 1; i >= 0; i-- {
		if !strings.HasPrefix(h.messages[i].Text, summaryHead) {
			return h.seqs[i]
		}
	}
	return 0
}

// toSend returns the messages in the form that a model accepts, and an estimate of their tokens. The slice is
// never written to again.
func (h *transcript) toSend(sees bool) (messages []model.Message, tokens int) {
	if h.ready.blind == sees {
		h.ready = sendable{blind: !sees}
	}
	if !closed(h.messages) { // the next messages may still belong to the last answer
		whole := sendable{blind: !sees}
		whole.extend(h.messages)
		return whole.out, whole.tokens
	}
	h.ready.extend(h.messages)
	return h.ready.out[:len(h.ready.out):len(h.ready.out)], h.ready.tokens
}

// closed reports whether each call of the last answer has its result. Calls may have the same ID,
// or none.
func closed(history []model.Message) bool {
	last := len(history) - 1
	results := map[string]int{}
	for ; last >= 0 && history[last].Role != model.RoleAssistant; last-- {
		if history[last].Role == model.RoleTool {
			results[history[last].CallID]++
		}
	}
	if last < 0 {
		return true
	}
	for _, call := range history[last].Calls {
		if results[call.ID]--; results[call.ID] < 0 {
			return false
		}
	}
	return true
}

package history

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"jcode/agent/model"
	"jcode/internal/text"
	"jcode/session"
)

// Transcript is the history as the model sees it, oldest first. The zero value is empty and ready to use. One
// goroutine owns it. What a step needs is updated as messages arrive: no step walks the whole history.
type Transcript struct {
	messages []model.Message
	seqs     []int64         // the stored message that each entry comes from
	ids      map[string]bool // of calls
	tokens   int             // estimated, of messages
	ready    sendable        // messages in the form that was sent last
}

// Of returns the history that stored rows stand for.
func Of(rows []session.Message) (h Transcript) {
	for _, summary := range []bool{true, false} { // summaries first: they replace what came before
		for _, row := range rows {
			if row.Archived == 0 && (row.Role == session.RoleSummary) == summary {
				h.Push(row.Seq, FromRow(row)...)
			}
		}
	}
	return h
}

// Messages returns the history. The caller must not change it.
func (h *Transcript) Messages() []model.Message { return h.messages }

// Tokens estimates the size of the history.
func (h *Transcript) Tokens() int { return h.tokens }

// Len counts the messages.
func (h *Transcript) Len() int { return len(h.messages) }

// Since returns the stored messages that the entries from an index on come from.
func (h *Transcript) Since(i int) []int64 { return h.seqs[i:] }

// FreeID returns the ID of the nth call of an answer in a form that is legal and unique in the history.
func (h *Transcript) FreeID(id string, n int) string {
	if h.ids == nil {
		h.ids = map[string]bool{}
	}
	return legalID(id, n, h.ids)
}

// Push appends what a stored message stands for.
func (h *Transcript) Push(seq int64, messages ...model.Message) {
	for i := range messages {
		h.messages = append(h.messages, messages[i])
		h.seqs = append(h.seqs, seq)
		h.tokens += model.EstimateMessage(&messages[i])
		for _, call := range messages[i].Calls {
			if h.ids == nil {
				h.ids = map[string]bool{}
			}
			h.ids[call.ID] = true
		}
	}
}

// Summarised replaces the messages before an index with a summary.
func (h *Transcript) Summarised(seq int64, summary string, cut int) {
	tail, seqs := h.messages[cut:], h.seqs[cut:]
	h.messages = append([]model.Message{{Role: model.RoleUser, Text: summaryText(summary)}}, tail...)
	h.seqs = append([]int64{seq}, seqs...)
	h.changed()
}

// changed is called after messages were changed in place.
func (h *Transcript) changed() {
	h.tokens, h.ready = Tokens(h.messages), sendable{}
}

// LastOf returns the seq of the last stored message before an index that is not a summary, or 0. Summaries
// come first, with seqs above those of the messages kept.
func (h *Transcript) LastOf(cut int) int64 {
	for i := cut - 1; i >= 0; i-- {
		if !strings.HasPrefix(h.messages[i].Text, summaryHead) {
			return h.seqs[i]
		}
	}
	return 0
}

// ToSend returns the messages in the form that a model accepts, and an estimate of their tokens. The slice is
// never written to again.
func (h *Transcript) ToSend(sees bool) (messages []model.Message, tokens int) {
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

// SinceAnswer lists the stored messages from the last answer with calls on, or from the turn's beginning, that are
// answers or were asked. Other notices are news, which stay.
func (h *Transcript) SinceAnswer(first int64, asked []int64) (seqs []int64) {
	begin := len(h.messages)
	for begin > 0 && h.seqs[begin-1] >= first {
		begin--
		if m := h.messages[begin]; m.Role == model.RoleAssistant && len(m.Calls) > 0 {
			break
		}
	}
	for i := begin; i < len(h.messages); i++ {
		if h.messages[i].Role != model.RoleUser || slices.Contains(asked, h.seqs[i]) {
			seqs = append(seqs, h.seqs[i])
		}
	}
	return slices.Compact(seqs)
}

// shrunkResult is how many bytes of an old result are kept.
const shrunkResult = 400

// Shrink truncates the results of calls before an index, and reports whether there was anything to truncate.
func (h *Transcript) Shrink(upTo int) (shrunk bool) {
	for i := range h.messages[:upTo] {
		m := &h.messages[i]
		if m.Role == model.RoleTool && len(m.Text) > shrunkResult+100 {
			m.Text = text.Cut(m.Text, shrunkResult) + "\n[… the rest of this old result was dropped to save space]"
			m.Images, shrunk = nil, true
		}
	}
	h.changed()
	return shrunk
}

// DropPicture replaces a picture, given by its hash, with its text or a note, and reports whether it was there.
func (h *Transcript) DropPicture(sum [sha256.Size]byte) (found bool) {
	for i := range h.messages {
		m := &h.messages[i]
		kept := m.Images[:0:0]
		for _, img := range m.Images {
			if sha256.Sum256(img.Data) != sum {
				kept = append(kept, img)
				continue
			}
			m.Text = AppendLine(m.Text, cmp.Or(img.Text, refusedPicture))
			found = true
		}
		m.Images = kept
	}
	if found {
		h.changed()
	}
	return found
}

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"jcode/agent/model"
	"jcode/session"
)

// A provider that refused an answer would refuse it again as long as it reads the same. What it was asked since the
// last answer that it gave is therefore left out of what is sent: the prompt, or a step whose results it did not like.
// The rows stay in the store, and a notice that names them stands for them.

// leaveOut takes what a provider refused out of what is sent from now on.
func leaveOut(ctx context.Context, t *turn) error {
	refused := t.history.sinceAnswer(int64(t.number), t.asked)
	if len(refused) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	text := "The provider refused to answer the user's last message. It is left out here, with what belonged to it."
	if t.made > 0 {
		text = "The provider refused to go on after your last calls. They have run, and are left out here with their results: look at the files before you go on."
	}
	list, err := json.Marshal(refused)
	if err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	parts := []session.Part{{Kind: session.PartText, Text: text}, {Kind: session.PartLeftOut, Text: string(list)}}
	if _, err := t.opt.Store.History().Append(ctx, session.Message{Session: t.row.ID, Role: session.RoleSystem, Parts: parts}); err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	return t.load(ctx)
}

// sinceAnswer lists the stored messages from the last answer with calls on, or from the turn's beginning, that are
// answers or were asked. Other notices are news, which stay.
func (h *transcript) sinceAnswer(first int64, asked []int64) (seqs []int64) {
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

// sent returns the rows of a session without those that are left out of what is sent.
func sent(rows []session.Message) []session.Message {
	var out []int64
	for _, row := range rows {
		for _, p := range row.Parts {
			var list []int64
			if p.Kind == session.PartLeftOut && json.Unmarshal([]byte(p.Text), &list) == nil { // otherwise they are sent
				out = append(out, list...)
			}
		}
	}
	if out == nil {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(row session.Message) bool { return slices.Contains(out, row.Seq) })
}

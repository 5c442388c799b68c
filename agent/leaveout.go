package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"jcode/session"
)

// A provider that refused an answer would refuse it again as long as it reads the same. What it was asked since the
// last answer that it gave is therefore left out of what is sent: the prompt, or a step whose results it did not like.
// The rows stay in the store, and a notice that names them stands for them.

// leaveOut takes what a provider refused out of what is sent from now on.
func leaveOut(ctx context.Context, t *turn) error {
	refused := t.c.out.history.SinceAnswer(int64(t.number), t.asked)
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
	if _, err := t.c.opt.Store.History().Append(ctx, session.Message{Session: t.c.record.row.ID, Role: session.RoleSystem, Parts: parts}); err != nil {
		return fmt.Errorf("store notice: %w", err)
	}
	return t.c.load(ctx)
}

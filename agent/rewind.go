package agent

import (
	"context"
	"errors"

	"jcode/agent/event"
	"jcode/agent/history"
	"jcode/session"
)

// ErrNothingToRepeat is returned when there is no earlier prompt.
var ErrNothingToRepeat = errors.New("there is no earlier prompt in this session")

// Rewind removes the messages from a sequence number on from the history. Their rows stay in the store. It
// waits for a running turn to end.
func (c *Conversation) Rewind(ctx context.Context, from int64) error {
	return c.do(ctx, func(ctx context.Context) error {
		if _, err := c.opt.Store.History().Rewind(ctx, c.record.row.ID, from); err != nil {
			return err
		}
		c.emit(event.Rewound{From: from})
		return c.load(ctx)
	})
}

// Regenerate asks for the last answer again: the last prompt and what followed it are removed from the
// history, and the prompt is sent once more.
func (c *Conversation) Regenerate(ctx context.Context) error {
	if c.ID() == "" {
		return ErrNothingToRepeat
	}
	rows, err := c.opt.Store.History().All(ctx, c.ID())
	if err != nil {
		return err
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if row := rows[i]; row.Role == session.RoleUser && row.Archived == 0 {
			if err := c.Rewind(ctx, row.Seq); err != nil {
				return err
			}
			c.Prompt(history.PromptOf(row))
			return nil
		}
	}
	return ErrNothingToRepeat
}

// Continue lets the model continue an answer that was cut off.
func (c *Conversation) Continue() {
	c.Prompt(event.Prompt{Text: "Continue exactly where you stopped.", Shown: "/continue"})
}

package undo

import (
	"context"

	"jcode/agent/event"
	"jcode/internal/text"
	"jcode/session"
)

// Finish finishes an undo or redo of a session in whose middle jcode was killed, and says so.
func Finish(ctx context.Context, checkpoints *session.Checkpoints, say func(level event.Level, format string, args ...any), id string) {
	report, finished, err := checkpoints.Finish(ctx, id)
	if err != nil {
		say(event.LevelWarn, "an undo or redo that was interrupted can't be finished: %v", err)
	}
	if finished {
		say(event.LevelInfo, "jcode was killed in the middle of an undo or redo of this session: it is finished now: %s", Lines(report, text.Visible))
	}
}

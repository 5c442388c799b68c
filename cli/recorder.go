package cli

import (
	"context"

	"jcode/session"
	"jcode/tools"
)

// recorder keeps what undo needs: it hands the changes of the file tools to the store's
// checkpoints.
type recorder struct{ checkpoints *session.Checkpoints }

// Track notes what files are like, and with done what they became.
func (r recorder) Track(ctx context.Context, call tools.Call, paths []string) (done func(context.Context) error, err error) {
	return r.checkpoints.Track(ctx, call.Caller.Session, call.Caller.Turn, paths)
}

package cli

import (
	"context"
	"sync"

	"jcode/session"
	"jcode/tools"
)

// recorder keeps what undo needs: it hands the changes of the file tools to the store's
// checkpoints.
type recorder struct {
	checkpoints *session.Checkpoints

	mu   sync.Mutex
	open map[string]func(context.Context) error // by call and path
}

// BeforeChange notes what a file was like.
func (r *recorder) BeforeChange(ctx context.Context, call tools.Call, path string) error {
	if call.Caller.Session == "" {
		return nil
	}
	done, err := r.checkpoints.Track(ctx, call.Caller.Session, call.Caller.Turn, []string{path})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[string]func(context.Context) error{}
	}
	r.open[call.ID+"\x00"+path] = done
	return nil
}

// AfterChange notes what it became.
func (r *recorder) AfterChange(ctx context.Context, call tools.Call, path string) error {
	key := call.ID + "\x00" + path
	r.mu.Lock()
	done := r.open[key]
	delete(r.open, key)
	r.mu.Unlock()
	if done == nil {
		return nil
	}
	return done(context.WithoutCancel(ctx))
}

package lsp

import (
	"context"
	"time"

	"jcode/tools"
)

// untilLoaded waits for a server that has not answered yet since its start and says that it reads the project, and
// reports whether it has done so. What such waits may take together is limited: a cold cache is worth waiting for once, a server
// that never gets ready is not.
func (in *instance) untilLoaded(ctx context.Context, call tools.Call) bool {
	in.mu.Lock()
	starting, left := in.state == StateStarting, in.patience
	wait := left > 0 && !in.answers && (starting || in.working())
	in.mu.Unlock()
	if !wait {
		return false
	}
	if call.Progress != nil {
		call.Progress(tools.Progress{Text: in.server.Name + " reads the project; what the edit breaks is known then"})
	}
	began := time.Now()
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.patience -= time.Since(began)
	}()
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	if starting {
		first, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		if in.usable(first) != nil {
			return false
		}
	}
	return in.settle(ctx) == nil
}

package builtin

import (
	"context"
	"time"

	"jcode/tools"
)

// Others knows who else changes files.
type Others interface {
	// Changed names who else changed a resolved path since a time, or returns "" if nobody is
	// known.
	Changed(ctx context.Context, call tools.Call, path string, since time.Time) string
}

// by returns who changed a path since the caller saw it, as ", by NAME", or "" if nobody is
// known.
func (f *files) by(ctx context.Context, call tools.Call, path string) string {
	if f.opts.Others == nil {
		return ""
	}
	if who := f.opts.Others.Changed(ctx, call, path, f.seen.since(call, path)); who != "" {
		return ", by " + who
	}
	return ""
}

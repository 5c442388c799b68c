package builtin

import (
	"context"
	"time"

	"jcode/tools"
)

// Others knows who else works on the files.
type Others interface {
	// Changed names who else changed a resolved path since a time, "" where nobody is known.
	Changed(ctx context.Context, call tools.Call, path string, since time.Time) string
}

// by says who changed a path since the caller saw it, as ", by NAME"; "" where nobody is known.
func (f *files) by(ctx context.Context, call tools.Call, path string) string {
	if f.opts.Others == nil {
		return ""
	}
	if who := f.opts.Others.Changed(ctx, call, path, f.seen.since(call, path)); who != "" {
		return ", by " + who
	}
	return ""
}

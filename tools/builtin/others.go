package builtin

import (
	"context"
	"time"

	"jcode/tools"
)

// Others knows who else changes files.
type Others interface {
	// Changed says by whom, except the caller, a resolved path was changed since a time, as "by
	// NAME" or "while a command of NAME ran", or returns "" if that is unknown.
	Changed(ctx context.Context, call tools.Call, path string, since time.Time) string
}

// by returns who changed a path since the caller saw it, as ", by NAME", or "" if that is
// unknown.
func (f *files) by(ctx context.Context, call tools.Call, path string) string {
	if f.opts.Others == nil {
		return ""
	}
	seen, _ := f.seen.of(ctx, call, path)
	for _, c := range f.seen.running() { // a command that has not ended may have changed it
		c.look(path)
	}
	if who := f.opts.Others.Changed(ctx, call, path, seen.at); who != "" {
		return ", " + who
	}
	return ""
}

// foundChanged returns a line for the person: the file was not as the model had seen it. by is what
// files.by returns.
func foundChanged(t target, by string) string {
	return t.shown + " had changed on disk since the model saw it" + by
}

// removedBy says who removed a path that the caller saw, or returns "" if that is unknown.
func (f *files) removedBy(ctx context.Context, call tools.Call, path string) string {
	if _, has := f.seen.of(ctx, call, path); !has {
		return ""
	}
	if by := f.by(ctx, call, path); by != "" {
		return ": it was removed since you last saw it" + by
	}
	return ""
}

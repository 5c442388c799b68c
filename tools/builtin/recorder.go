package builtin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"jcode/internal/atomicfile"
	"jcode/tools"
)

// Written is what a call has done to files. It may be incomplete.
type Written struct {
	// Files are the bytes that it wrote, by resolved paths.
	Files map[string][]byte
	// Replaced is what these files held until then, for those that existed.
	Replaced map[string][]byte
	// Nothing says that it changed nothing, because another program was changing the same.
	Nothing bool
}

// Recorder stores what undo needs.
type Recorder interface {
	// Track is called before a call changes files, while no other call can change them. The paths
	// are resolved. Each covers everything below it; a path that does not exist yet will be created
	// by the call. An error prevents the change. done is called after the change, even if it failed
	// half-way, with what it wrote: another program may have replaced that by then.
	Track(ctx context.Context, call tools.Call, paths []string) (done func(context.Context, Written) error, err error)
	// Found is called during a change if a file no longer held what was read when Track was called:
	// another program had saved it. An undo of the change restores that.
	Found(ctx context.Context, call tools.Call, path string, read, found []byte) error
}

// recorded makes a change of paths, and calls the recorder before and after it.
func (f *files) recorded(ctx context.Context, call tools.Call, change func(*Written) error, changed ...string) error {
	w := Written{Files: map[string][]byte{}, Replaced: map[string][]byte{}}
	if f.opts.Recorder == nil {
		return change(&w)
	}
	roots := make([]string, len(changed))
	for i, path := range changed {
		roots[i] = firstAbsent(path)
	}
	done, err := f.opts.Recorder.Track(ctx, call, roots)
	if err != nil {
		return fmt.Errorf("nothing was changed: the state of %s could not be kept for undo: %w", f.ws.Shown(changed[0]), err)
	}
	err = change(&w)
	return errors.Join(err, done(context.WithoutCancel(ctx), w))
}

// note adds what was written to a file.
func (c *change) note(w *Written) {
	if c.byEditor {
		return
	}
	w.Files[c.t.abs] = c.after
	if c.exists {
		w.Replaced[c.t.abs] = c.before
	}
}

// left notes that nothing was changed if the error of a change of a whole tree says so.
func (w *Written) left(err error) error {
	_, w.Nothing = errors.AsType[*atomicfile.ChangedError](err)
	return err
}

// firstAbsent returns path, or the topmost folder that has to be created for it.
func firstAbsent(path string) string {
	for {
		parent := filepath.Dir(path)
		if parent == path || exists(parent) {
			return path
		}
		path = parent
	}
}

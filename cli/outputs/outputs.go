package outputs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"jcode/cli/pursuit"
	"jcode/internal/paths"
	"jcode/session"
	"jcode/tools"
)

// Outputs knows the files that results have named for the model to read, by session. They are in jcode's data folder,
// which otherwise needs approval to read. It is a hook of the dispatcher, and safe for concurrent use.
type Outputs struct {
	folders  []string // folders of such files, resolved
	store    *session.Store
	pursuits string // the folder of what goes on in sessions

	mu    sync.Mutex
	files map[string]*named // by session
}

// named are the files that the results of a session name. Of a resumed session that is known once its history was read.
type named struct {
	files map[string]bool
	whole bool
}

// New returns the outputs of a data folder; pursuits is the folder of what goes on in sessions.
func New(store *session.Store, data, pursuits string) *Outputs {
	o := &Outputs{store: store, pursuits: pursuits, files: map[string]*named{}}
	for _, dir := range []string{results(data), filepath.Join(data, "logs", "exec"), filepath.Join(data, "files")} {
		if real, err := paths.Resolve(dir); err == nil {
			o.folders = append(o.folders, real)
		}
	}
	return o
}

// BeforeCall implements tools.Hook and changes nothing.
func (o *Outputs) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (o *Outputs) AfterCall(call tools.Call, out tools.Outcome) {
	if id := call.Caller.Session; id != "" && (out.Result.Display.Log != "" || len(out.Result.Display.Files) > 0) {
		o.add(id, out.Result.Display)
	}
}

func (o *Outputs) add(id string, d tools.Display) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := o.of(id)
	for _, file := range o.saved(d) {
		of.files[file] = true
	}
}

// of returns what is known of a session. The caller holds the lock.
func (o *Outputs) of(id string) *named {
	if o.files[id] == nil {
		o.files[id] = &named{files: map[string]bool{}}
	}
	return o.files[id]
}

// saved returns the files in folders of results that a result names.
func (o *Outputs) saved(d tools.Display) []string {
	var out []string
	for _, file := range append(slices.Clone(d.Files), d.Log) {
		if real, err := paths.Resolve(file); err == nil && o.Holds(real) {
			out = append(out, real)
		}
	}
	return out
}

// Forget deletes a session with the files that its results name, unless another session's results name them, as
// those of a copy do.
func (o *Outputs) Forget(ctx context.Context, id string) error {
	files, err := o.store.Alone(ctx, id, func(display json.RawMessage) []string {
		var d tools.Display
		if json.Unmarshal(display, &d) != nil {
			return nil
		}
		return o.saved(d)
	})
	if err != nil {
		return err
	}
	if err := o.store.Delete(ctx, id); err != nil {
		return err
	}
	left := []error{pursuit.Forget(o.pursuits, id)}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, fmt.Errorf("the session is deleted, but not what it saved: %w", err))
		}
	}
	return errors.Join(left...)
}

// Holds reports whether a file is in a folder of results.
func (o *Outputs) Holds(file string) bool {
	return slices.ContainsFunc(o.folders, func(dir string) bool { return paths.Within(dir, file) && dir != file })
}

// Named reports whether a result of the session named the file. A resumed session has its earlier results in
// the database.
func (o *Outputs) Named(id, file string) bool {
	if !o.Holds(file) {
		return false
	}
	o.mu.Lock()
	of := o.of(id)
	known, whole := of.files[file], of.whole
	o.mu.Unlock()
	if known || whole {
		return known
	}
	rows, err := o.store.History().All(context.Background(), id)
	if err != nil {
		return false // then it needs approval, like any other file
	}
	for _, row := range rows {
		for _, call := range row.Calls {
			var d tools.Display
			if len(call.Display) > 0 && json.Unmarshal(call.Display, &d) == nil {
				o.add(id, d)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	of.whole = true
	return of.files[filepath.Clean(file)]
}

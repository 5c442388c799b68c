package cli

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

// offered knows the files that results have named for the model to read, by session: whole outputs and saved
// contents. They are in jcode's data folder, which otherwise needs approval to read. It is a hook of the
// dispatcher, and safe for concurrent use.
type offered struct {
	folders  []string // folders of such files, resolved
	store    *session.Store
	pursuits string // the folder of what goes on in sessions

	mu    sync.Mutex
	files map[string]map[string]bool // by session; nil until its history was read
}

// offeredIn returns a list for a data folder.
func offeredIn(store *session.Store, data string) *offered {
	o := newOffered(store, savedFolders(data)...)
	o.pursuits = pursuits(data)
	return o
}

// savedFolders are the folders of jcode's data folder that hold what results name.
func savedFolders(data string) []string {
	return []string{filepath.Join(data, "logs", "results"), filepath.Join(data, "logs", "exec"), filepath.Join(data, "files")}
}

// newOffered returns a list for files below folders.
func newOffered(store *session.Store, folders ...string) *offered {
	o := &offered{store: store, files: map[string]map[string]bool{}}
	for _, dir := range folders {
		if real, err := paths.Resolve(dir); err == nil {
			o.folders = append(o.folders, real)
		}
	}
	return o
}

// BeforeCall implements tools.Hook and changes nothing.
func (o *offered) BeforeCall(context.Context, tools.Call) tools.Verdict { return tools.Verdict{} }

// AfterCall implements tools.Hook.
func (o *offered) AfterCall(call tools.Call, out tools.Outcome) {
	if id := call.Caller.Session; id != "" && (out.Result.Display.Log != "" || len(out.Result.Display.Files) > 0) {
		o.add(id, out.Result.Display)
	}
}

func (o *offered) add(id string, d tools.Display) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files[id] == nil {
		o.files[id] = map[string]bool{}
	}
	for _, file := range o.saved(d) {
		o.files[id][file] = true
	}
}

// saved returns the files in folders of results that a result names.
func (o *offered) saved(d tools.Display) []string {
	var out []string
	for _, file := range append(slices.Clone(d.Files), d.Log) {
		if real, err := paths.Resolve(file); err == nil && o.holds(real) {
			out = append(out, real)
		}
	}
	return out
}

// forget deletes a session with the files that its results name, unless another session's results name them, as
// those of a copy do.
func (o *offered) forget(ctx context.Context, id string) error {
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

// holds reports whether a file is in a folder of results.
func (o *offered) holds(file string) bool {
	return slices.ContainsFunc(o.folders, func(dir string) bool { return paths.Within(dir, file) && dir != file })
}

// named reports whether a result of the session named the file. A resumed session has its earlier results in
// the database.
func (o *offered) named(id, file string) bool {
	if !o.holds(file) {
		return false
	}
	o.mu.Lock()
	known, looked := o.files[id][file], o.files[id][""]
	o.mu.Unlock()
	if known || looked {
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
	if o.files[id] == nil {
		o.files[id] = map[string]bool{}
	}
	o.files[id][""] = true // the history was read
	return o.files[id][filepath.Clean(file)]
}

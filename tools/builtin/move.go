package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/paths"
	"jcode/tools"
)

//go:embed mkdir.md
var mkdirDescription string

//go:embed remove.md
var removeDescription string

//go:embed mv.md
var mvDescription string

const (
	pathParameters = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`
	mvParameters   = `{"type":"object","properties":{"src":{"type":"string"},"dst":{"type":"string"}},"required":["src","dst"]}`
)

type pathArgs struct {
	Path string `json:"path"`
}

func (f *files) mkdir() tools.Tool {
	return fileTool{
		spec: spec(tools.GroupCore, "mkdir", mkdirDescription, pathParameters, tools.CapWrite),
		plan: func(_ context.Context, call tools.Call) (tools.Plan, error) {
			var a pathArgs
			if err := call.Decode(&a); err != nil {
				return tools.Plan{}, err
			}
			t, err := f.ws.resolve(a.Path)
			if err != nil {
				return tools.Plan{}, err
			}
			return tools.Plan{
				Accesses: []tools.Access{{Kind: tools.AccessWrite, Path: t.abs}},
				Summary:  "Create directory: " + t.title,
			}, nil
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var a pathArgs
			if err := call.Decode(&a); err != nil {
				return tools.Result{}, err
			}
			return f.runMkdir(ctx, call, a)
		},
	}
}

func (f *files) runMkdir(ctx context.Context, call tools.Call, a pathArgs) (tools.Result, error) {
	t, err := f.ws.resolve(a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	if err := judged(call, tools.AccessWrite, t); err != nil {
		return tools.Result{}, err
	}
	unlock, err := f.ws.locks.lock(ctx, t.abs)
	if err != nil {
		return tools.Result{}, err
	}
	defer unlock()
	p, err := f.ws.open(t.abs)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	defer p.close()
	res := tools.Result{Text: "created " + t.shown, Data: map[string]any{}, Display: tools.Display{Path: t.shown}}
	if info, err := p.root.Stat(p.name); err == nil {
		if !info.IsDir() {
			return tools.Result{}, tools.Errorf(tools.KindIO, "%s exists and is not a folder", t.shown)
		}
		res.Text = t.shown + " exists already"
		return res, nil
	}
	err = f.recorded(ctx, call, func() error { return p.root.MkdirAll(p.name, 0o777) }, t.abs)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	return res, nil
}

// recorded makes a change of paths with the recorder told before and after.
func (f *files) recorded(ctx context.Context, call tools.Call, change func() error, changed ...string) error {
	if f.opts.Recorder == nil {
		return change()
	}
	roots := make([]string, len(changed))
	for i, path := range changed {
		roots[i] = firstAbsent(path)
	}
	done, err := f.opts.Recorder.Track(ctx, call, roots)
	if err != nil {
		return fmt.Errorf("nothing was changed: the state of %s could not be kept for undo: %w", f.ws.Shown(changed[0]), err)
	}
	return errors.Join(change(), done(context.WithoutCancel(ctx)))
}

// firstAbsent gives path, or the topmost folder that has to be made for it.
func firstAbsent(path string) string {
	for {
		parent := filepath.Dir(path)
		if parent == path || exists(parent) {
			return path
		}
		path = parent
	}
}

func (f *files) remove() tools.Tool {
	return fileTool{
		spec: spec(tools.GroupCore, "remove", removeDescription, pathParameters, tools.CapDelete),
		plan: func(_ context.Context, call tools.Call) (tools.Plan, error) {
			var a pathArgs
			if err := call.Decode(&a); err != nil {
				return tools.Plan{}, err
			}
			t, err := f.removable(a.Path)
			if err != nil {
				return tools.Plan{}, err
			}
			return tools.Plan{
				Accesses: []tools.Access{{Kind: tools.AccessDelete, Path: t.abs}},
				Summary:  "Remove: " + t.title,
			}, nil
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var a pathArgs
			if err := call.Decode(&a); err != nil {
				return tools.Result{}, err
			}
			return f.runRemove(ctx, call, a)
		},
	}
}

// removable resolves what may be removed or moved away: never a folder of the workspace or
// one that holds it, and not the home folder. A link is meant itself.
func (f *files) removable(arg string) (target, error) {
	t, err := f.ws.resolveEntry(arg)
	if err != nil {
		return t, err
	}
	for _, dir := range f.ws.Folders() {
		if paths.Within(t.abs, dir) {
			return t, tools.Errorf(tools.KindPermission, "%s is the workspace or holds it: it is not removed or moved", t.shown)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		if real, err := paths.Resolve(home); err == nil && paths.Within(t.abs, real) {
			return t, tools.Errorf(tools.KindPermission, "%s is the home folder or holds it: it is not removed or moved", t.shown)
		}
	}
	return t, nil
}

func (f *files) runRemove(ctx context.Context, call tools.Call, a pathArgs) (tools.Result, error) {
	t, err := f.removable(a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	if err := judged(call, tools.AccessDelete, t); err != nil {
		return tools.Result{}, err
	}
	unlock, err := f.ws.locks.lock(ctx, t.abs)
	if err != nil {
		return tools.Result{}, err
	}
	defer unlock()
	p, err := f.ws.open(t.abs)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	defer p.close()
	info, err := p.stat(t)
	if err != nil {
		return tools.Result{}, err
	}
	inside, err := contents(ctx, p, info)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	err = f.recorded(ctx, call, func() error { return p.root.RemoveAll(p.name) }, t.abs)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	for _, path := range inside {
		f.seen.forget(call, path)
	}
	text := "removed " + t.shown
	if info.IsDir() {
		text += " (" + plural(len(inside), "file") + ")"
	}
	return tools.Result{Text: text, Data: map[string]any{}, Display: tools.Display{Summary: text, Path: t.shown}}, nil
}

// contents lists the resolved paths of a file, or of the files and links in a tree.
func contents(ctx context.Context, p place, info fs.FileInfo) ([]string, error) {
	if !info.IsDir() {
		return []string{p.abs}, nil
	}
	var out []string
	err := fs.WalkDir(p.root.FS(), filepath.ToSlash(p.name), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.IsDir():
			rel, err := filepath.Rel(p.name, filepath.FromSlash(path))
			if err != nil {
				return err
			}
			out = append(out, filepath.Join(p.abs, rel))
		}
		return nil
	})
	return out, err
}

type mvArgs struct {
	Src string `json:"src"`
	Dst string `json:"dst"`
}

func (f *files) mv() tools.Tool {
	return fileTool{
		spec: spec(tools.GroupCore, "mv", mvDescription, mvParameters, tools.CapDelete|tools.CapWrite),
		plan: func(_ context.Context, call tools.Call) (tools.Plan, error) {
			var a mvArgs
			if err := call.Decode(&a); err != nil {
				return tools.Plan{}, err
			}
			src, dst, err := f.movable(a)
			if err != nil {
				return tools.Plan{}, err
			}
			return tools.Plan{
				Accesses: []tools.Access{{Kind: tools.AccessDelete, Path: src.abs}, {Kind: tools.AccessWrite, Path: dst.abs}},
				Summary:  "Move: " + src.title + " -> " + dst.title,
			}, nil
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var a mvArgs
			if err := call.Decode(&a); err != nil {
				return tools.Result{}, err
			}
			return f.runMv(ctx, call, a)
		},
	}
}

// movable resolves both ends of a move. A folder as dst is moved into.
func (f *files) movable(a mvArgs) (src, dst target, err error) {
	if src, err = f.removable(a.Src); err != nil {
		return src, dst, err
	}
	if dst, err = f.ws.resolve(a.Dst); err != nil {
		return src, dst, err
	}
	if info, err := os.Lstat(dst.abs); err == nil && info.IsDir() && dst.abs != src.abs {
		dst.abs = filepath.Join(dst.abs, filepath.Base(src.abs))
		dst.shown = f.ws.Shown(dst.abs)
		dst.title = dst.shown
	}
	return src, dst, nil
}

func (f *files) runMv(ctx context.Context, call tools.Call, a mvArgs) (tools.Result, error) {
	src, dst, err := f.movable(a)
	if err != nil {
		return tools.Result{}, err
	}
	if err := errors.Join(judged(call, tools.AccessDelete, src), judged(call, tools.AccessWrite, dst)); err != nil {
		return tools.Result{}, err
	}
	unlock, err := f.ws.locks.lock(ctx, src.abs, dst.abs)
	if err != nil {
		return tools.Result{}, err
	}
	defer unlock()
	from, err := f.ws.open(src.abs)
	if err != nil {
		return tools.Result{}, ioError(err, src)
	}
	defer from.close()
	to, err := f.ws.open(dst.abs)
	if err != nil {
		return tools.Result{}, ioError(err, dst)
	}
	defer to.close()
	info, err := from.stat(src)
	if err != nil {
		return tools.Result{}, err
	}
	if there, err := to.root.Lstat(to.name); err == nil && !os.SameFile(there, info) {
		return tools.Result{}, tools.Errorf(tools.KindIO, "%s exists: nothing was moved; remove it first, or choose another name", dst.shown)
	}
	if info.IsDir() && paths.Within(src.abs, dst.abs) {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "%s lies in %s: a folder can't be moved into itself", dst.shown, src.shown)
	}
	inside, err := contents(ctx, from, info)
	if err != nil {
		return tools.Result{}, ioError(err, src)
	}
	if err := f.recorded(ctx, call, func() error { return move(ctx, from, to) }, src.abs, dst.abs); err != nil {
		return tools.Result{}, ioError(err, src)
	}
	for _, path := range inside {
		f.seen.forget(call, path)
	}
	text := fmt.Sprintf("moved %s to %s", src.shown, dst.shown)
	return tools.Result{Text: text, Data: map[string]any{}, Display: tools.Display{Summary: text, Path: dst.shown}}, nil
}

// move renames, or copies and removes where both ends are not in one file system.
func move(ctx context.Context, from, to place) error {
	if dir := filepath.Dir(to.name); dir != "." {
		if err := to.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	var err error
	if from.root == to.root {
		err = from.root.Rename(from.name, to.name)
	} else {
		err = os.Rename(from.abs, to.abs)
	}
	if !crossDevice(err) {
		return err
	}
	if err := copyTree(ctx, from, to); err != nil {
		return errors.Join(err, to.root.RemoveAll(to.name))
	}
	return from.root.RemoveAll(from.name)
}

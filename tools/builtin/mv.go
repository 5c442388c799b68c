package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
	"jcode/tools"
)

//go:embed mv.md
var mvDescription string

const mvParameters = `{"type":"object","properties":{"src":{"type":"string"},"dst":{"type":"string","description":"the whole new path"}},"required":["src","dst"]}`

type mvArgs struct {
	Src string `json:"src"`
	Dst string `json:"dst"`
}

func (f *files) mv() tools.Tool {
	return makeTool(spec(tools.GroupCore, "mv", mvDescription, mvParameters, tools.CapDelete|tools.CapWrite), f.planMv, f.runMv)
}

func (f *files) planMv(_ context.Context, call tools.Call, a mvArgs) (tools.Plan, error) {
	src, dst, err := f.movable(a)
	if err != nil {
		return tools.Plan{}, err
	}
	m, err := f.openMove(src, dst)
	switch {
	case err == nil:
		m.close()
	case f.tellable(call, src.abs, dst.abs):
		return tools.Plan{}, err
	}
	return tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessDelete, Path: src.abs}, {Kind: tools.AccessWrite, Path: dst.abs}},
		Summary:  "Move: " + src.title + " -> " + dst.title,
	}, nil
}

// movable resolves both ends of a move. If dst is a folder, or ends in a slash and does not exist,
// the file is moved into it.
func (f *files) movable(a mvArgs) (src, dst target, err error) {
	if src, err = f.removable(a.Src); err != nil {
		return src, dst, err
	}
	if dst, err = f.ws.resolve(a.Dst); err != nil {
		return src, dst, err
	}
	info, err := os.Lstat(dst.abs)
	if err == nil && info.IsDir() && dst.abs != src.abs || err != nil && namesFolder(a.Dst) {
		dst.abs = filepath.Join(dst.abs, filepath.Base(src.abs))
		dst.shown = f.ws.Shown(dst.abs)
		dst.title = dst.shown
	}
	return src, dst, nil
}

// opened is both ends of a move, opened.
type opened struct {
	from, to place
	info     fs.FileInfo // of what is moved
}

func (m opened) close() {
	m.from.close()
	m.to.close()
}

// openMove opens both ends of a move and checks that nothing is in the way.
func (f *files) openMove(src, dst target) (m opened, err error) {
	if m.from, err = f.ws.enter(src.abs); err != nil {
		return m, ioError(err, src)
	}
	if m.to, err = f.ws.enter(dst.abs); err != nil {
		m.from.close()
		return m, ioError(err, dst)
	}
	if err := m.check(src, dst); err != nil {
		m.close()
		return m, err
	}
	return m, nil
}

func (m *opened) check(src, dst target) (err error) {
	if m.info, err = m.from.stat(src); err != nil {
		return err
	}
	if there, err := m.to.root.Lstat(m.to.name); err == nil && !os.SameFile(there, m.info) {
		return tools.Errorf(tools.KindIO, "%s exists: nothing was moved; remove it first, or choose another name", dst.shown)
	}
	if m.info.IsDir() && paths.Within(src.abs, dst.abs) {
		return tools.Errorf(tools.KindInvalidArgs, "%s is in %s: a folder can't be moved into itself", dst.shown, src.shown)
	}
	return nil
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
	m, err := f.openMove(src, dst)
	if err != nil {
		return tools.Result{}, err
	}
	defer m.close()
	if err := f.recorded(ctx, call, func(w *Written) error { return w.left(f.ws.move(ctx, m.from, m.to)) }, src.abs, dst.abs); err != nil {
		return tools.Result{}, ioError(err, src)
	}
	f.seen.move(ctx, call, src.abs, dst.abs)
	text := fmt.Sprintf("moved %s to %s", src.shown, dst.shown)
	return tools.Result{Text: text, Data: map[string]any{}, Display: tools.Display{Summary: text, Path: dst.shown}}, nil
}

// move renames, or copies and removes if the two ends are on different file systems.
func (w *Workspace) move(ctx context.Context, from, to place) error {
	to, err := w.settle(to)
	if err != nil {
		return err
	}
	defer to.close()
	if err = atomicfile.Move(from.root, from.name, to.root, to.name); !atomicfile.CrossDevice(err) {
		return err
	}
	return w.carry(ctx, from, to)
}

// carry copies and removes. What another program saves in the meantime is not lost: then nothing is moved.
func (w *Workspace) carry(ctx context.Context, from, to place) error {
	tree, err := atomicfile.Look(from.root, from.name)
	if err != nil {
		return err
	}
	if err := copyTree(ctx, from, to); err != nil {
		return errors.Join(err, to.root.RemoveAll(to.name))
	}
	err = tree.Remove(from.root, from.name)
	if _, changed := errors.AsType[*atomicfile.ChangedError](err); changed {
		return errors.Join(err, to.root.RemoveAll(to.name))
	}
	return err
}

package builtin

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jcode/internal/atomicfile"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/tools"
)

// unlikeMax limits how many changed files the result of a removal names.
const unlikeMax = 10

//go:embed remove.md
var removeDescription string

func (f *files) remove() tools.Tool {
	return makeTool(spec(tools.GroupCore, "remove", removeDescription, pathParameters, tools.CapDelete), f.planRemove, f.runRemove)
}

// planRemove plans a removal, and shows the person how much is in a folder.
func (f *files) planRemove(ctx context.Context, call tools.Call, a pathArgs) (tools.Plan, error) {
	t, err := f.removable(a.Path)
	if err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessDelete, Path: t.abs}},
		Summary:  "Remove: " + t.title,
	}
	what, err := f.describe(ctx, t)
	if err != nil && f.tellable(call, t.abs) {
		return tools.Plan{}, err
	}
	if what != "" {
		plan.Notes = append(plan.Notes, what)
	}
	return plan, nil
}

// describe returns how much is in a folder; "" for a file.
func (f *files) describe(ctx context.Context, t target) (string, error) {
	p, err := f.ws.open(t.abs)
	if err != nil {
		return "", ioError(err, t)
	}
	defer p.close()
	info, err := p.stat(t)
	if err != nil || !info.IsDir() {
		return "", err
	}
	inside, err := contents(ctx, p, info)
	if err != nil {
		return "", ioError(err, t)
	}
	return "a folder with " + text.Count(len(inside), "file") + " in it", nil
}

// removable resolves a path that will be removed or moved. It refuses the workspace's folders, the
// home folder, and folders that contain one of them. A link at the end is not followed.
func (f *files) removable(arg string) (target, error) {
	t, err := f.ws.resolveEntry(arg)
	if err != nil {
		return t, err
	}
	for _, dir := range f.ws.Folders() {
		if paths.Within(t.abs, dir) {
			return t, tools.Errorf(tools.KindPermission, "%s is the project or contains it: it is not removed or moved", t.shown)
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
	p, release, err := f.hold(ctx, call, tools.AccessDelete, t)
	if err != nil {
		return tools.Result{}, err
	}
	defer release()
	info, err := p.stat(t)
	if err != nil {
		return tools.Result{}, err
	}
	inside, err := contents(ctx, p, info)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	tree, err := atomicfile.Look(p.root, p.name)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	unlike := f.unlike(ctx, call, p, inside)
	err = f.recorded(ctx, call, func(w *Written) error { return w.left(tree.Remove(p.root, p.name)) }, t.abs)
	if changed, ok := errors.AsType[*atomicfile.ChangedError](err); ok {
		return tools.Result{}, tools.Errorf(tools.KindIO, "%s was saved by another program at this moment: nothing was removed; look at it again", f.ws.Shown(filepath.Join(p.abs, insideOf(p.name, changed.Name))))
	}
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	f.seen.forget(ctx, call, inside...)
	said := "removed " + t.shown
	if info.IsDir() {
		said += " (" + text.Count(len(inside), "file") + ")"
	}
	res := tools.Result{Text: said, Data: map[string]any{}, Display: tools.Display{Summary: said, Path: t.shown}}
	for _, line := range unlike {
		res.Text += "\n[" + line + "; /undo restores it]"
	}
	res.Display.Found = strings.Join(unlike, "\n")
	return res, nil
}

// unlike says which of the files that will be removed are not as the model saw them, and who changed them.
func (f *files) unlike(ctx context.Context, call tools.Call, p place, inside []string) (said []string) {
	for _, path := range inside {
		if _, has := f.seen.of(ctx, call, path); !has || len(said) == unlikeMax {
			continue
		}
		rel, err := filepath.Rel(p.abs, path)
		if err != nil {
			continue
		}
		info, err := p.root.Lstat(filepath.Join(p.name, rel))
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxEditable {
			continue
		}
		content, err := p.root.ReadFile(filepath.Join(p.name, rel))
		if err != nil {
			continue
		}
		if _, differs := f.seen.differs(ctx, call, path, content); !differs {
			continue
		}
		if by := f.by(ctx, call, path); by != "" { // otherwise nobody else is known to have changed it
			said = append(said, foundChanged(target{shown: f.ws.Shown(path)}, by))
		}
	}
	return said
}

// insideOf returns a name below the root relative to another one that holds it.
func insideOf(top, name string) string {
	rel, err := filepath.Rel(top, name)
	if err != nil {
		return ""
	}
	return rel
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

package builtin

import (
	"context"
	_ "embed"

	"jcode/tools"
)

//go:embed mkdir.md
var mkdirDescription string

// pathParameters is the schema of tools that take only a path.
const pathParameters = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

type pathArgs struct {
	Path string `json:"path"`
}

func (f *files) mkdir() tools.Tool {
	return makeTool(spec(tools.GroupCore, "mkdir", mkdirDescription, pathParameters, tools.CapWrite), f.planMkdir, f.runMkdir)
}

func (f *files) planMkdir(_ context.Context, _ tools.Call, a pathArgs) (tools.Plan, error) {
	t, err := f.ws.resolve(a.Path)
	if err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{
		Accesses: []tools.Access{{Kind: tools.AccessWrite, Path: t.abs}},
		Summary:  "Create directory: " + t.title,
	}, nil
}

func (f *files) runMkdir(ctx context.Context, call tools.Call, a pathArgs) (tools.Result, error) {
	t, err := f.ws.resolve(a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	p, release, err := f.hold(ctx, call, tools.AccessWrite, t)
	if err != nil {
		return tools.Result{}, err
	}
	defer release()
	res := tools.Result{Text: "created " + t.shown, Data: map[string]any{}, Display: tools.Display{Path: t.shown}}
	if info, err := p.root.Lstat(p.name); err == nil {
		if !info.IsDir() {
			return tools.Result{}, tools.Errorf(tools.KindIO, "%s exists and is not a folder", t.shown)
		}
		res.Text = t.shown + " exists already"
		return res, nil
	}
	err = f.recorded(ctx, call, func(*Written) error { return f.ws.makeFolders(t.abs) }, t.abs)
	if err != nil {
		return tools.Result{}, ioError(err, t)
	}
	return res, nil
}

package builtin

import (
	"context"
	_ "embed"

	"jcode/tools"
)

//go:embed mkdir.md
var mkdirDescription string

// pathParameters are those of the tools that take a path and nothing else.
const pathParameters = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

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

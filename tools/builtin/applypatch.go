package builtin

import (
	"context"
	_ "embed"
	"strings"

	"jcode/internal/patch"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed applypatch.md
var applyPatchDescription string

//go:embed applypatch.lark
var applyPatchGrammar string

const applyPatchParameters = `{"type":"object","properties":{"input":{"type":"string","description":"the patch"}},"required":["input"]}`

type applyPatchArgs struct {
	Input string `json:"input"`
}

func (f *files) applyPatch() tools.Tool {
	s := spec(tools.GroupBuiltin, "apply_patch", applyPatchDescription, applyPatchParameters, tools.CapRead|tools.CapWrite)
	s.Freeform, s.Grammar, s.Trained = "input", applyPatchGrammar, true
	s.Aliases = map[string]string{"patch": "input", "patchText": "input"}
	return makeTool(s, f.planPatch, f.runPatch)
}

// patchPart is a part of a patch with its paths resolved.
type patchPart struct {
	patch.File
	t  target
	to *target
}

// parts parses a patch and resolves its paths.
func (f *files) parts(input string) ([]patchPart, error) {
	list, err := patch.Parse(input)
	if err != nil {
		return nil, tools.Errorf(tools.KindInvalidArgs, "%w", err)
	}
	out := make([]patchPart, len(list))
	for i, file := range list {
		out[i] = patchPart{File: file}
		if file.Kind == patch.Delete || file.MoveTo != "" {
			out[i].t, err = f.removable(file.Path)
		} else {
			out[i].t, err = f.ws.resolveFile(file.Path)
		}
		if err != nil {
			return nil, err
		}
		if file.MoveTo != "" {
			to, err := f.ws.resolveFile(file.MoveTo)
			if err != nil {
				return nil, err
			}
			out[i].to = &to
		}
	}
	return out, nil
}

// accesses returns what a part of a patch touches.
func (p patchPart) accesses() (out []tools.Access) {
	switch p.Kind {
	case patch.Add:
		return []tools.Access{{Kind: tools.AccessWrite, Path: p.t.abs}}
	case patch.Delete:
		return []tools.Access{{Kind: tools.AccessDelete, Path: p.t.abs}}
	case patch.Update:
	}
	out = append(out, tools.Access{Kind: tools.AccessRead, Path: p.t.abs})
	if p.to == nil {
		return append(out, tools.Access{Kind: tools.AccessWrite, Path: p.t.abs})
	}
	return append(out, tools.Access{Kind: tools.AccessDelete, Path: p.t.abs}, tools.Access{Kind: tools.AccessWrite, Path: p.to.abs})
}

// mayRemove refuses a patch that removes or renames a file if the caller may not.
func mayRemove(call tools.Call, parts []patchPart) error {
	missing := call.Caller.Scope.Missing(tools.CapDelete)
	for _, p := range parts {
		if missing != 0 && (p.Kind == patch.Delete || p.to != nil) {
			return tools.Errorf(tools.KindPermission, "permission denied: the patch removes %s, and %s is not granted; send it without that part", p.t.shown, missing)
		}
	}
	return nil
}

func (f *files) planPatch(ctx context.Context, call tools.Call, a applyPatchArgs) (tools.Plan, error) {
	parts, err := f.parts(a.Input)
	if err != nil {
		return tools.Plan{}, err
	}
	if err := mayRemove(call, parts); err != nil {
		return tools.Plan{}, err
	}
	plan := tools.Plan{}
	var names, all []string
	for _, part := range parts {
		for _, access := range part.accesses() {
			plan.Accesses = append(plan.Accesses, access)
			all = append(all, access.Path)
		}
		name := part.t.title
		if part.t.note != "" {
			plan.Notes = append(plan.Notes, part.t.note)
		}
		if part.to != nil {
			name += " -> " + part.to.title
		} else if part.Kind == patch.Delete {
			name += " (delete)"
		}
		names = append(names, name)
	}
	plan.Summary = "Apply patch: " + strings.Join(names, ", ")
	if len(names) > 4 {
		plan.Summary = "Apply patch to " + text.Count(len(names), "file") + ": " + strings.Join(names[:3], ", ") + ", …"
		plan.Notes = append(plan.Notes, "files: "+strings.Join(names, ", "))
	}
	p := patching{f: f, call: call, open: f.ws.open}
	if err := p.apply(ctx, parts); err != nil {
		if f.tellable(call, all...) {
			return tools.Plan{}, err
		}
		return plan, nil
	}
	plan.Diff, _, _ = p.diffText()
	return plan, nil
}

func (f *files) runPatch(ctx context.Context, call tools.Call, a applyPatchArgs) (tools.Result, error) {
	parts, err := f.parts(a.Input)
	if err != nil {
		return tools.Result{}, err
	}
	var all []string
	for _, part := range parts {
		for _, access := range part.accesses() {
			t := part.t
			if part.to != nil && access.Path == part.to.abs {
				t = *part.to
			}
			if err := judged(call, access.Kind, t); err != nil {
				return tools.Result{}, err
			}
			all = append(all, access.Path)
		}
	}
	unlock, err := f.ws.locks.lock(ctx, all...)
	if err != nil {
		return tools.Result{}, err
	}
	defer unlock()
	p := patching{f: f, call: call, open: f.ws.enter}
	if err := p.apply(ctx, parts); err != nil {
		return tools.Result{}, err
	}
	left, err := p.take()
	if err != nil {
		return tools.Result{}, err
	}
	var touched []*patchedFile
	var paths []string
	for _, file := range p.files {
		if file.touched() {
			touched, paths = append(touched, file), append(paths, file.t.abs)
		}
	}
	if len(touched) == 0 {
		return tools.Result{Text: "the files have this content already: nothing was changed", Display: tools.Display{Summary: "unchanged"}}, nil
	}
	for _, file := range touched {
		if err := f.save(ctx, &file.change); err != nil {
			return tools.Result{}, err
		}
	}
	var said string
	err = f.recorded(ctx, call, func(w *Written) error {
		if err := f.writePatch(ctx, call, touched); err != nil {
			return err
		}
		said, err = f.finishPatch(ctx, call, touched)
		for _, file := range touched {
			if file.there {
				file.note(w)
			}
		}
		return err
	}, paths...)
	if err != nil {
		return tools.Result{}, err
	}
	res := p.result(ctx, touched, said)
	if left != "" {
		res.Text = "[" + left + "]\n" + res.Text
	}
	return res, nil
}

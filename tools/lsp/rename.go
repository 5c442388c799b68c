package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"jcode/internal/edit"
	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/lsp/protocol"
)

// Changes changes several files, all or none.
type Changes interface {
	// Plan returns what would be touched, with the whole diff.
	Plan(ctx context.Context, summary string, list []edit.FileChange) (tools.Plan, error)
	// Apply makes the changes that were judged, as one step for undo.
	Apply(ctx context.Context, call tools.Call, list []edit.FileChange) (tools.Result, error)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// fileChanges computes the changes of files from an edit of the workspace.
func (in *instance) fileChanges(e protocol.WorkspaceEdit) ([]edit.FileChange, error) {
	edits := map[string][]protocol.TextEdit{}
	for uri, list := range e.Changes {
		edits[protocol.Path(uri)] = append(edits[protocol.Path(uri)], list...)
	}
	for _, d := range e.DocumentChanges {
		if d.Kind != "" {
			return nil, tools.Errorf(tools.KindIO, "%s would also %s a file, which is not done here: nothing was changed; use edit and mv", in.server.Name, d.Kind)
		}
		edits[protocol.Path(d.TextDocument.URI)] = append(edits[protocol.Path(d.TextDocument.URI)], d.Edits...)
	}
	var out []edit.FileChange
	for path, list := range edits {
		if path == "" {
			return nil, tools.Errorf(tools.KindIO, "%s would change something that is not a file: nothing was changed", in.server.Name)
		}
		if in.around.denies(paths.Real(path)) {
			return nil, tools.Errorf(tools.KindDenied, "%s would also change a file that a rule keeps from being read: nothing was changed", in.server.Name)
		}
		content, _, err := readDocument(path)
		if err != nil {
			return nil, tools.Errorf(tools.KindIO, "%w", err)
		}
		after, ok := in.encoding.applied(content, list)
		if !ok {
			return nil, tools.Errorf(tools.KindIO, "%s sent changes of %s that overlap: nothing was changed", in.server.Name, in.around.shown(path))
		}
		if after != content {
			out = append(out, edit.FileChange{Path: path, Before: content, After: after})
		}
	}
	slices.SortFunc(out, func(a, b edit.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

type renameArgs struct {
	symbolArgs
	NewName string `json:"new_name"`
}

// proposal is what a server proposes to change; without a list the summary is the answer.
type proposal struct {
	summary string
	list    []edit.FileChange
	note    func() string // what is said after the change; may be nil
}

// renameTool renames a symbol in all files, as one approved change.
func (m *Manager) renameTool() tools.Tool {
	work := func(ctx context.Context, call tools.Call) (p proposal, err error) {
		var a renameArgs
		if err := call.Decode(&a); err != nil {
			return p, err
		}
		at, err := m.locate(ctx, call, a.symbolArgs)
		if err != nil {
			return p, err
		}
		if !at.in.can(at.in.caps.Rename, "textDocument/rename") {
			return p, tools.Errorf(tools.KindIO, "%s can't rename: use grep and edit", at.in.server.Name)
		}
		mentions := at.in.openMentions(ctx, lastPart(a.Symbol))
		params := at.params()
		params["newName"] = a.NewName
		var e protocol.WorkspaceEdit
		if err := at.in.asked(ctx, "textDocument/rename", params, &e); err != nil {
			return p, tools.Errorf(tools.KindIO, "%s: %w", at.in.server.Name, err)
		}
		p.list, err = at.in.fileChanges(e)
		if err == nil && len(p.list) == 0 {
			err = tools.Errorf(tools.KindIO, "%s has nothing to change for %s at %s:%d", at.in.server.Name, a.Symbol, m.around.shown(at.path), at.at.Line+1)
		}
		p.summary = fmt.Sprintf("Rename %s to %s in %s", text.Visible(a.Symbol), text.Visible(a.NewName), text.Count(len(p.list), "file"))
		p.note = func() string { return at.in.leftOut(mentions, lastPart(a.Symbol)) }
		return p, err
	}
	return m.changing("rename", renameParameters, work)
}

// changing returns a tool that changes files as a server proposes. It queries the server again
// when it runs: the files were approved, and their text must still be the same.
func (m *Manager) changing(name, parameters string, work func(context.Context, tools.Call) (proposal, error)) tools.Tool {
	return tool{
		spec: specOf(name, parameters, tools.CapRead|tools.CapWrite),
		plan: func(ctx context.Context, call tools.Call) (tools.Plan, error) {
			p, err := work(ctx, call)
			if err != nil || p.list == nil {
				return tools.Plan{Summary: p.summary, Accesses: []tools.Access{{Kind: tools.AccessRead, Path: m.opts.Root}}}, err
			}
			return m.opts.Changes.Plan(ctx, p.summary, p.list)
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			p, err := work(ctx, call)
			if err != nil {
				return tools.Result{}, err
			}
			if p.list == nil {
				return tools.Result{Text: p.summary, Data: map[string]any{"text": p.summary}}, nil
			}
			res, err := m.opts.Changes.Apply(ctx, call, p.list)
			if err == nil && p.note != nil {
				if note := p.note(); note != "" {
					res.Text += "\n" + note
				}
			}
			return res, err
		},
	}
}

type actionArgs struct {
	Path  string `json:"path"`
	Line  int    `json:"line"`
	Apply int    `json:"apply"`
}

// actionTool lists the actions that a server offers at a line, and applies one.
func (m *Manager) actionTool() tools.Tool {
	return m.changing("code_action", actionParameters, func(ctx context.Context, call tools.Call) (p proposal, err error) {
		var a actionArgs
		if err := call.Decode(&a); err != nil {
			return p, err
		}
		path, err := m.resolve(a.Path)
		if err != nil {
			return p, err
		}
		in, err := m.prepared(ctx, call, path)
		if err != nil {
			return p, err
		}
		list, err := in.actions(ctx, path, a.Line)
		if err != nil {
			return p, tools.Errorf(tools.KindIO, "%s: %w", in.server.Name, err)
		}
		if a.Apply == 0 {
			return proposal{summary: actionList(in, list, m.around.shown(path), a.Line)}, nil
		}
		if a.Apply < 1 || a.Apply > len(list) {
			return p, tools.Errorf(tools.KindInvalidArgs, "there is no action %d at %s:%d: call without apply for the list", a.Apply, m.around.shown(path), a.Line)
		}
		changes, err := in.carryOut(ctx, list[a.Apply-1])
		return proposal{summary: short(list[a.Apply-1].Title), list: changes}, err
	})
}

// actions requests the actions at a line, and keeps those that change text.
func (in *instance) actions(ctx context.Context, path string, line int) ([]protocol.CodeAction, error) {
	if !in.can(in.caps.CodeAction, "textDocument/codeAction") {
		return nil, fmt.Errorf("it offers no actions")
	}
	content, _, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	line = max(line-1, 0)
	at := protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line, Character: in.encoding.units(lineAt(content, line))}}
	in.mu.Lock()
	problems := []protocol.Diagnostic{}
	if r := in.found.files[path]; r != nil {
		for _, d := range r.last(in.docs[path]) {
			if d.Range.Start.Line <= line && line <= d.Range.End.Line {
				problems = append(problems, d)
			}
		}
	}
	in.mu.Unlock()
	var raw []protocol.CodeAction
	err = in.asked(ctx, "textDocument/codeAction", map[string]any{
		"textDocument": protocol.TextDocument{URI: protocol.URI(path)}, "range": at, "context": map[string]any{"diagnostics": problems},
	}, &raw)
	out := []protocol.CodeAction{}
	for _, a := range raw {
		if a.Disabled == nil && (a.Edit != nil || len(a.Data) > 0) && len(out) < maxAnswers {
			out = append(out, a)
		}
	}
	return out, err
}

func actionList(in *instance, list []protocol.CodeAction, shown string, line int) string {
	if len(list) == 0 {
		return fmt.Sprintf("%s offers nothing at %s:%d", in.server.Name, shown, line)
	}
	var b strings.Builder
	for i, a := range list {
		fmt.Fprintf(&b, "%d. %s", i+1, short(a.Title))
		if a.Kind != "" {
			fmt.Fprintf(&b, " (%s)", short(a.Kind))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// carryOut computes the changes of an action. Commands that a server would run are not run.
func (in *instance) carryOut(ctx context.Context, a protocol.CodeAction) ([]edit.FileChange, error) {
	if a.Edit == nil {
		var whole protocol.CodeAction
		if err := in.asked(ctx, "codeAction/resolve", a, &whole); err != nil {
			return nil, tools.Errorf(tools.KindIO, "%s: %w", in.server.Name, err)
		}
		a = whole
	}
	if a.Edit == nil {
		return nil, tools.Errorf(tools.KindIO, "%s does %q by a command of its own, which is not run here: make the change with edit", in.server.Name, a.Title)
	}
	list, err := in.fileChanges(*a.Edit)
	if err == nil && len(list) == 0 {
		raw, _ := json.Marshal(a.Title) //nolint:errchkjson // a string
		err = tools.Errorf(tools.KindIO, "the action %s changes nothing", raw)
	}
	return list, err
}

package lsp

import (
	"context"
	"embed"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/tools"
)

//go:embed *.md
var descriptions embed.FS

// The parameters of the tools.
const (
	symbolProperties = `"symbol":{"type":"string","description":"name, such as Parse or Type.Method"},` +
		`"path":{"type":"string","description":"file in which it stands"},` +
		`"line":{"type":"integer","description":"line near which it stands"}`
	symbolParameters = `{"type":"object","properties":{` + symbolProperties + `},"required":["symbol"]}`
	pathParameters   = `{"type":"object","properties":{"path":{"type":"string","description":"file; all known ones without"}}}`
	outlineParams    = `{"type":"object","properties":{"path":{"type":"string","description":"file, for its outline"},` +
		`"query":{"type":"string","description":"part of a name, for the whole project"}}}`
	renameParameters = `{"type":"object","properties":{` + symbolProperties + `,"new_name":{"type":"string"}},"required":["symbol","new_name"]}`
	actionParameters = `{"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},` +
		`"apply":{"type":"integer","description":"number of the action; without it they are listed"}},"required":["path","line"]}`
)

const (
	askLimit   = 30 * time.Second // for one answer
	maxAnswers = 100              // lines of an answer
)

// tool is one of the tools that query servers.
type tool struct {
	spec tools.Spec
	plan func(context.Context, tools.Call) (tools.Plan, error)
	run  func(context.Context, tools.Call) (tools.Result, error)
}

func (t tool) Spec() tools.Spec { return t.spec }

func (t tool) Plan(ctx context.Context, call tools.Call) (tools.Plan, error) {
	ctx, cancel := tools.WithLimit(ctx, askLimit)
	defer cancel()
	return t.plan(ctx, call)
}

func (t tool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	ctx, cancel := tools.WithLimit(ctx, askLimit)
	defer cancel()
	res, err := t.run(ctx, call)
	if err != nil && ctx.Err() == context.DeadlineExceeded { //nolint:errorlint // the context's own
		err = tools.Errorf(tools.KindTimeout, "the language server did not answer within %s: try again, or use grep and read", askLimit)
	}
	return res, err
}

// makeTool returns a read-only tool with a function that runs it with decoded arguments.
func makeTool[A any](m *Manager, name, parameters string, path func(A) string, run func(context.Context, tools.Call, A) (string, error)) tools.Tool {
	return tool{
		spec: specOf(name, parameters, tools.CapRead),
		plan: func(_ context.Context, call tools.Call) (plan tools.Plan, err error) {
			var a A
			if err = call.Decode(&a); err != nil {
				return plan, err
			}
			plan.Summary = "Ask the language server: " + name
			at := m.opts.Root
			if p := path(a); p != "" {
				if at, err = m.resolve(p); err != nil {
					return plan, err
				}
			}
			plan.Accesses = []tools.Access{{Kind: tools.AccessRead, Path: at}}
			return plan, nil
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var a A
			if err := call.Decode(&a); err != nil {
				return tools.Result{}, err
			}
			out, err := run(ctx, call, a)
			if err != nil {
				return tools.Result{}, err
			}
			first, _, _ := strings.Cut(out, "\n")
			return tools.Result{Text: out, Data: map[string]any{"text": out}, Display: tools.Display{Summary: text.Cut(first, 80)}}, nil
		},
	}
}

func specOf(name, parameters string, needs tools.Capabilities) tools.Spec {
	description, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		description = []byte(name)
	}
	return tools.Spec{
		Name: name, Description: strings.TrimSpace(string(description)), Parameters: json.RawMessage(parameters),
		Aliases:  map[string]string{"file_path": "path", "name": "symbol"},
		ReadOnly: needs == tools.CapRead, Needs: needs, Group: tools.GroupBuiltin, Trusted: true,
	}
}

// Tools returns the tools that query servers by a symbol's name.
func (m *Manager) Tools() []tools.Tool {
	list := []tools.Tool{
		makeTool(m, "diagnostics", pathParameters, func(a symbolArgs) string { return a.Path }, m.diagnostics),
		makeTool(m, "definition", symbolParameters, func(a symbolArgs) string { return a.Path }, m.definition),
		makeTool(m, "references", symbolParameters, func(a symbolArgs) string { return a.Path }, m.references),
		makeTool(m, "symbols", outlineParams, func(a outlineArgs) string { return a.Path }, m.outline),
		makeTool(m, "hover", symbolParameters, func(a symbolArgs) string { return a.Path }, m.hover),
	}
	if m.opts.Changes != nil {
		list = append(list, m.renameTool(), m.actionTool())
	}
	return list
}

// resolve finds the file that an argument names.
func (m *Manager) resolve(arg string) (string, error) {
	if strings.IndexByte(arg, 0) >= 0 {
		return "", tools.Errorf(tools.KindInvalidArgs, "path has a NUL byte")
	}
	abs := filepath.FromSlash(arg)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(m.opts.Start, abs)
	}
	if name, ok := paths.Unescape(arg); ok {
		if other := filepath.Join(m.opts.Start, filepath.FromSlash(name)); !exists(abs) && exists(other) {
			abs = other
		}
	}
	real, err := paths.Resolve(abs)
	if err != nil {
		return "", tools.Errorf(tools.KindInvalidArgs, "%w", err)
	}
	return real, nil
}

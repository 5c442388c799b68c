package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"jcode/internal/paths"
	"jcode/tools"
	"jcode/tools/lsp/protocol"
)

// symbolArgs name a symbol as people do.
type symbolArgs struct {
	Symbol string `json:"symbol"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
}

// found is a symbol's place in a file that its server has open.
type found struct {
	in   *instance
	path string
	at   protocol.Position
}

func (f found) params() map[string]any {
	return map[string]any{"textDocument": protocol.TextDocument{URI: protocol.URI(f.path)}, "position": f.at}
}

// locate finds a symbol: on the line that is given or nearest to it, where it is declared in the
// file, where it occurs first in it, or where the project declares it.
func (m *Manager) locate(ctx context.Context, call tools.Call, a symbolArgs) (found, error) {
	if a.Symbol == "" {
		return found{}, tools.Errorf(tools.KindInvalidArgs, "symbol is empty")
	}
	if a.Path == "" {
		return m.locateAnywhere(ctx, call, a.Symbol)
	}
	path, err := m.resolve(a.Path)
	if err != nil {
		return found{}, err
	}
	in, err := m.prepared(ctx, call, path)
	if err != nil {
		return found{}, err
	}
	content, _, err := readDocument(path)
	if err != nil {
		return found{}, tools.Errorf(tools.KindIO, "%w", err)
	}
	name := lastPart(a.Symbol)
	at := occurrences(content, name)
	if len(at) == 0 {
		return found{}, tools.Errorf(tools.KindInvalidArgs, "%s does not occur in %s: omit path to look for it in the whole project", name, m.around.shown(path))
	}
	if a.Line > 0 {
		nearest := slices.MinFunc(at, func(x, y int) int {
			return distance(content, x, a.Line) - distance(content, y, a.Line)
		})
		return found{in, path, in.encoding.positionAt(content, nearest)}, nil
	}
	if list, err := in.symbols(ctx, path); err == nil {
		if s, ok := declared(list, a.Symbol, ""); ok {
			return found{in, path, s.SelectionRange.Start}, nil
		}
	}
	return found{in, path, in.encoding.positionAt(content, at[0])}, nil
}

// lastPart returns the last name in `Type.Method`, `pkg.Name` or `ns::name`.
func lastPart(symbol string) string {
	return symbol[strings.LastIndexAny(symbol, ".:#")+1:]
}

func distance(content string, at, line int) int {
	d := strings.Count(content[:at], "\n") + 1 - line
	return max(d, -d)
}

// declared looks for a symbol in a file's outline, by its name or by container and name.
func declared(list []protocol.DocumentSymbol, symbol, within string) (protocol.DocumentSymbol, bool) {
	for _, s := range list {
		full := strings.TrimPrefix(within+"."+s.Name, ".")
		plain := strings.NewReplacer("(", "", ")", "", "*", "").Replace(full) // Go's methods: (*T).M
		if s.Name == symbol || plain == symbol || lastPart(plain) == symbol || strings.HasSuffix(plain, "."+symbol) {
			return s, true
		}
		if inner, ok := declared(s.Children, symbol, full); ok {
			return inner, true
		}
	}
	return protocol.DocumentSymbol{}, false
}

// symbols returns the outline of a file.
func (in *instance) symbols(ctx context.Context, path string) ([]protocol.DocumentSymbol, error) {
	if !protocol.Provides(in.caps.DocumentSymbol) {
		return nil, fmt.Errorf("%s has no outlines", in.server.Name)
	}
	var list []protocol.DocumentSymbol
	if err := in.asked(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": protocol.TextDocument{URI: protocol.URI(path)}}, &list); err != nil {
		return nil, err
	}
	for i := range list {
		if l := list[i].Location; l != nil {
			list[i].Range, list[i].SelectionRange = l.Range, l.Range
		}
	}
	return list, nil
}

// locateAnywhere searches for a symbol by its name at all servers of the workspace.
func (m *Manager) locateAnywhere(ctx context.Context, call tools.Call, symbol string) (found, error) {
	list, err := m.everywhere(ctx, call, lastPart(symbol))
	if err != nil {
		return found{}, err
	}
	var near []string
	for _, exact := range []func(protocol.SymbolInformation) bool{
		func(s protocol.SymbolInformation) bool {
			return s.Name == symbol || s.ContainerName+"."+s.Name == symbol
		},
		func(s protocol.SymbolInformation) bool { return lastPart(s.Name) == lastPart(symbol) },
	} {
		for _, s := range list {
			path := protocol.Path(s.info.Location.URI)
			if path == "" || !exact(s.info) {
				continue
			}
			in := s.in // it knows files outside the workspace, too
			if m.finder.folderOf(path) != "" {
				if in, err = m.prepared(ctx, call, path); err != nil {
					return found{}, err
				}
			}
			content, _, err := readDocument(path)
			if err != nil {
				continue
			}
			// A location may be that of the whole declaration: the name is in its first lines.
			from := in.encoding.place(content, s.info.Location.Range.Start)
			name := lastPart(symbol)
			if at := occurrences(content[from:], name); len(at) > 0 {
				return found{in, path, in.encoding.positionAt(content, from+at[0])}, nil
			}
		}
	}
	if at, ok := m.locateUse(ctx, call, symbol); ok {
		return at, nil
	}
	for _, s := range list[:min(len(list), 5)] {
		near = append(near, short(s.info.Name))
	}
	hint := "give path, and line if the name occurs often"
	if len(near) > 0 {
		hint += "; near it: " + strings.Join(near, ", ")
	}
	return found{}, tools.Errorf(tools.KindInvalidArgs, "no symbol %s in the project: %s", symbol, hint)
}

// locateUse finds where the project uses a symbol, for one that it does not declare itself: of a library.
func (m *Manager) locateUse(ctx context.Context, call tools.Call, symbol string) (found, bool) {
	for _, in := range m.instances() {
		for _, path := range in.mentioning(ctx, symbol, 1) {
			prepared, err := m.prepared(ctx, call, path)
			content, _, unread := readDocument(path)
			at := occurrences(content, symbol)
			if err != nil || unread != nil || len(at) == 0 {
				continue
			}
			return found{prepared, path, prepared.encoding.positionAt(content, at[0]+len(symbol)-len(lastPart(symbol)))}, true
		}
	}
	return found{}, false
}

// hit is a symbol of the project, with the server that knows it.
type hit struct {
	in   *instance
	info protocol.SymbolInformation
}

// everywhere searches for symbols at every server of the workspace. If none is running, the one
// for the workspace's language is started.
func (m *Manager) everywhere(ctx context.Context, call tools.Call, query string) ([]hit, error) {
	list, err := m.forWorkspace(ctx, call)
	if err != nil {
		return nil, err
	}
	var out []hit
	var last error
	for _, in := range list {
		if err := in.settle(ctx); err != nil {
			last = err
			continue
		}
		if !protocol.Provides(in.caps.WorkspaceSymbol) {
			last = fmt.Errorf("%s can't search the project: give path", in.server.Name)
			continue
		}
		var found []protocol.SymbolInformation
		if err := in.asked(ctx, "workspace/symbol", map[string]any{"query": query}, &found); err != nil {
			last = fmt.Errorf("%s: %w", in.server.Name, err)
			continue
		}
		for _, s := range found {
			if !m.around.denies(paths.Real(protocol.Path(s.Location.URI))) {
				out = append(out, hit{in, s})
			}
		}
	}
	if len(out) == 0 && last != nil {
		return nil, tools.Errorf(tools.KindIO, "%w", last)
	}
	return out, nil
}

// forWorkspace returns the running servers, or else those for the languages at the top of the
// workspace.
func (m *Manager) forWorkspace(ctx context.Context, call tools.Call) ([]*instance, error) {
	list := m.instances()
	if len(list) > 0 {
		return list, nil
	}
	var last error
	seen := map[string]bool{}
	for _, s := range m.Available() {
		if len(list) == 2 || seen[strings.Join(s.Files, " ")] {
			continue
		}
		seen[strings.Join(s.Files, " ")] = true
		in, err := m.instanceFor(ctx, call, m.opts.Start+"/x"+s.Files[0])
		if err != nil {
			last = err
		}
		if in != nil {
			list = append(list, in)
		}
	}
	if len(list) == 0 {
		if last == nil {
			last = fmt.Errorf("no language server is installed for what this folder shows: give path")
		}
		return nil, tools.Errorf(tools.KindIO, "%w", last)
	}
	return list, nil
}

// prepared starts the server of a file, waits for it, and shows it the file as it is.
func (m *Manager) prepared(ctx context.Context, call tools.Call, path string) (*instance, error) {
	if m.around.denies(path) {
		return nil, tools.Errorf(tools.KindDenied, "a rule keeps %s from being read", m.around.shown(path))
	}
	in, err := m.instanceFor(ctx, call, path)
	if err != nil {
		return nil, tools.Errorf(tools.KindIO, "%w", err)
	}
	if in == nil {
		return nil, tools.Errorf(tools.KindIO, "no language server is installed for %s: use grep and read", m.around.shown(path))
	}
	if err := in.settle(ctx); err != nil {
		return nil, tools.Errorf(tools.KindIO, "%w", err)
	}
	if err := in.refresh(ctx); err != nil {
		return nil, tools.Errorf(tools.KindIO, "%s: %w", in.server.Name, err)
	}
	if _, err := in.sync(ctx, path); err != nil {
		return nil, tools.Errorf(tools.KindIO, "%s: %w", m.around.shown(path), err)
	}
	return in, nil
}

// settle waits until the server can be queried and has read the project.
func (in *instance) settle(ctx context.Context) error {
	if err := in.usable(ctx); err != nil {
		return err
	}
	for {
		in.mu.Lock()
		news, busy := in.news, in.working()
		in.mu.Unlock()
		if !busy {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("%s still reads the project: try again in a moment", in.server.Name)
		}
	}
}

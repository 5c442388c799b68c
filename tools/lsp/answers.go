package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/internal/text"
	"jcode/tools"
	"jcode/tools/lsp/protocol"
)

// diagnostics lists what servers report of a file, or of all files.
func (m *Manager) diagnostics(ctx context.Context, call tools.Call, a symbolArgs) (string, error) {
	if a.Path != "" {
		path, err := m.resolve(a.Path)
		if err != nil {
			return "", err
		}
		in, err := m.prepared(ctx, call, path)
		if err != nil {
			return "", err
		}
		out := in.await(ctx, []string{path}, time.Now(), cmp.Or(m.opts.Patience, answerLimit))
		return in.listed(func(p string) bool { return p == path }, []string{path}, out), nil
	}
	list, err := m.forWorkspace(ctx, call)
	if err != nil {
		return "", err
	}
	var out []string
	for _, in := range list {
		if err := in.settle(ctx); err != nil {
			out = append(out, err.Error())
			continue
		}
		if err := in.refresh(ctx); err != nil {
			return "", tools.Errorf(tools.KindIO, "%s: %w", in.server.Name, err)
		}
		open := in.openPaths()
		came := in.await(ctx, open, time.Now(), cmp.Or(m.opts.Patience, answerLimit))
		out = append(out, in.listed(func(string) bool { return true }, open, came))
	}
	return strings.Join(out, "\n"), nil
}

// listed returns the problems of files, which count as told afterwards, and for which of the asked ones there is no
// report on the present text.
func (in *instance) listed(want func(string) bool, asked []string, came outcome) string {
	in.mu.Lock()
	var list []problem
	for path, r := range in.found.files {
		if !want(path) || in.found.hidden(path) {
			continue
		}
		items, ok := r.current(in.docs[path])
		if !ok {
			continue
		}
		r.told, r.owed = countsOf(items), nil
		for _, d := range items {
			list = append(list, problem{path, d})
		}
	}
	var missing []string
	for _, path := range asked {
		if !in.found.answeredFor(in.docs, path) && !in.found.hidden(path) {
			missing = append(missing, in.around.shown(path))
		}
	}
	in.mu.Unlock()
	slices.SortFunc(list, byImportance)
	lines := []string{answer(list, in.line)}
	if len(list) == 0 {
		lines = nil
		if len(missing) < max(len(asked), 1) {
			lines = append(lines, in.server.Name+" reports nothing")
		}
	}
	if came != outcomeAnswered || len(missing) > 0 {
		why := in.missing(came)
		if came == outcomeAnswered {
			why = in.missing(outcomeUnanswered)
		}
		why, _, _ = strings.Cut(why, ": ")
		if len(missing) > 0 {
			why += "; there is no report on the present text of " + text.Cut(strings.Join(missing, ", "), 300)
		}
		lines = append(lines, "["+why+": ask again in a moment]")
	}
	return strings.Join(lines, "\n")
}

// answer returns a line for each entry of a list, and how many are left out beyond the limit.
func answer[T any](list []T, line func(T) string) string {
	var lines []string
	for _, e := range list[:min(len(list), maxAnswers)] {
		lines = append(lines, line(e))
	}
	if more := len(list) - maxAnswers; more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// short returns a server's name of something on one line, in a bearable length.
func short(s string) string { return text.Cut(text.OneLine(s), 200) }

func (m *Manager) definition(ctx context.Context, call tools.Call, a symbolArgs) (string, error) {
	at, err := m.locate(ctx, call, a)
	if err != nil {
		return "", err
	}
	return m.places(ctx, at, "textDocument/definition", at.in.caps.Definition, at.params(), a.Symbol)
}

func (m *Manager) references(ctx context.Context, call tools.Call, a symbolArgs) (string, error) {
	at, err := m.locate(ctx, call, a)
	if err != nil {
		return "", err
	}
	at.in.openMentions(ctx, lastPart(a.Symbol))
	params := at.params()
	params["context"] = map[string]any{"includeDeclaration": true}
	return m.places(ctx, at, "textDocument/references", at.in.caps.References, params, a.Symbol)
}

// places requests locations and shows each with its line.
func (m *Manager) places(ctx context.Context, at found, method string, provider json.RawMessage, params any, symbol string) (string, error) {
	what := strings.TrimPrefix(method, "textDocument/")
	if !protocol.Provides(provider) {
		return "", tools.Errorf(tools.KindIO, "%s has no %s: use grep", at.in.server.Name, what)
	}
	var raw json.RawMessage
	if err := at.in.asked(ctx, method, params, &raw); err != nil {
		return "", tools.Errorf(tools.KindIO, "%s: %w", at.in.server.Name, err)
	}
	list := locations(raw)
	all := len(list)
	list = slices.DeleteFunc(list, func(l protocol.Location) bool { return m.around.denies(paths.Real(protocol.Path(l.URI))) })
	hidden := all - len(list)
	if all == 0 {
		return fmt.Sprintf("%s finds no %s of %s (asked at %s:%d)", at.in.server.Name, what, symbol, m.around.shown(at.path), at.at.Line+1), nil
	}
	slices.SortStableFunc(list, func(x, y protocol.Location) int {
		return cmp.Or(strings.Compare(x.URI, y.URI), x.Range.Start.Line-y.Range.Start.Line)
	})
	files := map[string]string{}
	return withheld(hidden) + answer(list, func(l protocol.Location) string {
		path := protocol.Path(l.URI)
		if path == "" {
			return text.Visible(l.URI)
		}
		if m.finder.folderOf(paths.Real(path)) == "" { // its text has to be read by a call of its own
			return fmt.Sprintf("%s:%d", m.around.shown(path), l.Range.Start.Line+1)
		}
		content, read := files[path]
		if !read {
			content, _, _ = readDocument(path) // its line stays empty
			files[path] = content
		}
		return fmt.Sprintf("%s:%d: %s", m.around.shown(path), l.Range.Start.Line+1, text.Cut(text.OneLine(lineAt(content, l.Range.Start.Line)), 300))
	}), nil
}

// withheld says how many places are left out of an answer.
func withheld(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("[%s left out: a rule keeps the file from being read]\n", text.Count(n, "place"))
}

// locations decodes a location, a list of them, or a list of links.
func locations(raw json.RawMessage) []protocol.Location {
	var one protocol.Location
	if json.Unmarshal(raw, &one) == nil && one.URI != "" {
		return []protocol.Location{one}
	}
	var list []struct {
		protocol.Location
		protocol.LocationLink
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []protocol.Location
	for _, l := range list {
		switch {
		case l.TargetURI != "":
			out = append(out, protocol.Location{URI: l.TargetURI, Range: l.TargetRange})
		case l.URI != "":
			out = append(out, l.Location)
		}
	}
	return out
}

// outlineArgs ask for the symbols of a file, or of the project.
type outlineArgs struct {
	Path  string `json:"path"`
	Query string `json:"query"`
}

func (m *Manager) outline(ctx context.Context, call tools.Call, a outlineArgs) (string, error) {
	if a.Path == "" {
		return m.search(ctx, call, a.Query)
	}
	path, err := m.resolve(a.Path)
	if err != nil {
		return "", err
	}
	in, err := m.prepared(ctx, call, path)
	if err != nil {
		return "", err
	}
	list, err := in.symbols(ctx, path)
	if err != nil {
		return "", tools.Errorf(tools.KindIO, "%w", err)
	}
	var lines []string
	var walk func([]protocol.DocumentSymbol, string)
	walk = func(list []protocol.DocumentSymbol, indent string) {
		for _, s := range list {
			if a.Query == "" || strings.Contains(strings.ToLower(s.Name), strings.ToLower(a.Query)) {
				lines = append(lines, fmt.Sprintf("%s%d: %s %s", indent, s.SelectionRange.Start.Line+1, protocol.SymbolKind(s.Kind), short(s.Name)))
			}
			walk(s.Children, indent+"  ")
		}
	}
	walk(list, "")
	if len(lines) == 0 {
		return m.around.shown(path) + " has no symbols", nil
	}
	return m.around.shown(path) + "\n" + answer(lines, func(line string) string { return line }), nil
}

func (m *Manager) search(ctx context.Context, call tools.Call, query string) (string, error) {
	if query == "" {
		return "", tools.Errorf(tools.KindInvalidArgs, "give path for the outline of a file, or query for the project")
	}
	list, err := m.everywhere(ctx, call, query)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "no symbol is called like " + text.Visible(query), nil
	}
	return answer(list, func(h hit) string {
		path := protocol.Path(h.info.Location.URI)
		line := fmt.Sprintf("%s:%d: %s %s", m.around.shown(path), h.info.Location.Range.Start.Line+1, protocol.SymbolKind(h.info.Kind), short(h.info.Name))
		if c := h.info.ContainerName; c != "" {
			line += fmt.Sprintf(" (%s)", short(c))
		}
		return line
	}), nil
}

func (m *Manager) hover(ctx context.Context, call tools.Call, a symbolArgs) (string, error) {
	at, err := m.locate(ctx, call, a)
	if err != nil {
		return "", err
	}
	if !protocol.Provides(at.in.caps.Hover) {
		return "", tools.Errorf(tools.KindIO, "%s explains no symbols: use definition and read", at.in.server.Name)
	}
	if m.declaredInDenied(ctx, at) {
		return "", tools.Errorf(tools.KindDenied, "%s is declared in a file that a rule keeps from being read", a.Symbol)
	}
	var result struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := at.in.asked(ctx, "textDocument/hover", at.params(), &result); err != nil {
		return "", tools.Errorf(tools.KindIO, "%s: %w", at.in.server.Name, err)
	}
	said := strings.TrimSpace(text.Clean(markup(result.Contents)))
	if said == "" {
		return fmt.Sprintf("%s says nothing of %s", at.in.server.Name, a.Symbol), nil
	}
	said, _ = text.HeadTail(said, 8<<10, func(n, _ int) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", n) })
	return fmt.Sprintf("%s:%d\n%s", m.around.shown(at.path), at.at.Line+1, said), nil
}

// declaredInDenied reports whether an explanation would quote a file that must not be read.
func (m *Manager) declaredInDenied(ctx context.Context, at found) bool {
	var raw json.RawMessage
	if m.opts.Denied == nil || !protocol.Provides(at.in.caps.Definition) || at.in.asked(ctx, "textDocument/definition", at.params(), &raw) != nil {
		return false
	}
	return slices.ContainsFunc(locations(raw), func(l protocol.Location) bool { return m.around.denies(paths.Real(protocol.Path(l.URI))) })
}

// markup decodes the forms that an explanation may have.
func markup(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var object struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return object.Value
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var parts []string
	for _, item := range list {
		parts = append(parts, markup(item))
	}
	return strings.Join(parts, "\n")
}

package builtin

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"jcode/internal/paths"
	"jcode/internal/search"
	"jcode/tools"
)

//go:embed ls.md
var lsDescription string

const lsParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"default: the working folder"},` +
	`"depth":{"type":"integer","description":"default 2"}}}`

const (
	lsDepth   = 2
	lsEntries = 500
)

type lsArgs struct {
	Path  string `json:"path"`
	Depth *int   `json:"depth"`
}

func (f finder) ls() tools.Tool {
	s := spec(tools.GroupBuiltin, "ls", lsDescription, lsParameters, tools.CapRead)
	s.Aliases = map[string]string{"dir": "path", "file_path": "path", "dir_path": "path", "directory": "path"}
	return makeTool(s, func(_ context.Context, _ tools.Call, a lsArgs) (tools.Plan, error) {
		return f.files.planRead(cmp.Or(a.Path, "."), "List")
	}, f.runLs)
}

func (f finder) runLs(ctx context.Context, call tools.Call, a lsArgs) (tools.Result, error) {
	depth := lsDepth
	if a.Depth != nil {
		depth = min(max(*a.Depth, 1), search.MaxDepth)
	}
	s, err := f.searchRoot(call, a.Path)
	if err != nil {
		return tools.Result{}, err
	}
	defer s.close()
	if !s.info.IsDir() {
		return tools.Result{}, tools.Errorf(tools.KindInvalidArgs, "%s is not a folder: use read for a file", s.t.shown)
	}
	tree, missed, err := f.walk(call, s).Tree(ctx, depth, lsEntries)
	if err != nil {
		return tools.Result{}, searchError(err, s.t)
	}
	out := lister{entries: []any{}}
	out.node(tree, 0, "")
	body := out.text.String()
	if len(tree.Children) == 0 {
		body = "(empty)\n"
	}
	body += noteLine([]string{missedNote(missed)}) + noteLine([]string{s.t.note})
	return tools.Result{
		Text:    s.t.shown + "/\n" + strings.TrimSuffix(body, "\n"),
		Data:    map[string]any{"entries": out.entries, "count": len(out.entries)},
		Display: tools.Display{Summary: fmt.Sprintf("%d entries", len(out.entries)), Path: s.t.shown},
	}, nil
}

// lister prints a tree.
type lister struct {
	text    strings.Builder
	entries []any
}

func (l *lister) node(n search.Node, depth int, path string) {
	indent := strings.Repeat("  ", depth)
	for _, c := range n.Children {
		name := paths.Escape(c.Name)
		switch {
		case c.Folder:
			name += "/"
		case c.Link:
			name += " (link)"
		}
		if c.Ignored {
			name += " (ignored)"
		}
		full := c.Name
		if path != "" {
			full = path + "/" + c.Name
		}
		l.entries = append(l.entries, map[string]any{"path": full, "folder": c.Folder, "ignored": c.Ignored})
		l.text.WriteString(indent + name + "\n")
		l.node(c, depth+1, full)
	}
	if n.More > 0 {
		fmt.Fprintf(&l.text, "%s… %d more\n", indent, n.More)
	}
}

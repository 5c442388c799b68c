package lua

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jcode/tools"
	"jcode/tools/builtin"
)

// coreTool is a small stand-in of a core intent, with the contract's names and fields.
type coreTool struct {
	name, params string
	needs        tools.Capabilities
	readOnly     bool
	access       func(args map[string]string) []tools.Access
	summary      func(args map[string]string) string
	run          func(args map[string]string) (any, error)
}

func (c *coreTool) Spec() tools.Spec {
	return tools.Spec{Name: c.name, Description: "The " + c.name + " intent.", Parameters: []byte(c.params), Needs: c.needs, ReadOnly: c.readOnly, Group: tools.GroupCore, Trusted: true}
}

func (c *coreTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	var args map[string]string
	if err := call.Decode(&args); err != nil {
		return tools.Plan{}, err
	}
	p := tools.Plan{Summary: "Execute intent: " + c.name}
	if c.access != nil {
		p.Accesses = c.access(args)
	}
	if c.summary != nil {
		p.Summary = c.summary(args)
	}
	return p, nil
}

func (c *coreTool) Run(_ context.Context, call tools.Call) (tools.Result, error) {
	var args map[string]string
	if err := call.Decode(&args); err != nil {
		return tools.Result{}, err
	}
	data, err := c.run(args)
	if err != nil {
		return tools.Result{}, &tools.Error{Kind: tools.KindIO, Text: err.Error()}
	}
	return tools.Result{Text: "done", Data: data}, nil
}

// coreTools are the eight core intents over a folder.
func coreTools(t *testing.T, root string) []tools.Tool {
	t.Helper()
	abs := func(p string) string {
		if p == "" {
			return root
		}
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(root, p)
	}
	access := func(kind tools.AccessKind, key string) func(map[string]string) []tools.Access {
		return func(a map[string]string) []tools.Access { return []tools.Access{{Kind: kind, Path: abs(a[key])}} }
	}
	schema := func(required string, names ...string) string {
		var props []string
		for _, n := range names {
			props = append(props, `"`+n+`":{"type":"string","description":"the `+n+`"}`)
		}
		return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` + required + `]}`
	}
	return []tools.Tool{
		&coreTool{name: "read", params: schema(`"path"`, "path"), needs: tools.CapRead, readOnly: true, access: access(tools.AccessRead, "path"),
			run: func(a map[string]string) (any, error) {
				b, err := os.ReadFile(abs(a["path"]))
				return map[string]any{"content": string(b), "size": len(b)}, err
			}},
		&coreTool{name: "write", params: schema(`"path","content"`, "path", "content"), needs: tools.CapWrite, access: access(tools.AccessWrite, "path"),
			summary: func(a map[string]string) string { return "Write to file: " + a["path"] },
			run: func(a map[string]string) (any, error) {
				return map[string]any{"bytes_written": len(a["content"])}, os.WriteFile(abs(a["path"]), []byte(a["content"]), 0o666)
			}},
		&coreTool{name: "grep", params: schema(`"pattern"`, "pattern", "path"), needs: tools.CapRead, readOnly: true, access: access(tools.AccessRead, "path"),
			run: func(a map[string]string) (any, error) { return grep(abs(a["path"]), a["pattern"]) }},
		&coreTool{name: "glob", params: schema(`"pattern"`, "pattern", "dir"), needs: tools.CapRead, readOnly: true, access: access(tools.AccessRead, "dir"),
			run: func(a map[string]string) (any, error) {
				files, err := filepath.Glob(filepath.Join(abs(a["dir"]), a["pattern"]))
				return map[string]any{"files": files, "count": len(files)}, err
			}},
		&coreTool{name: "mkdir", params: schema(`"path"`, "path"), needs: tools.CapWrite, access: access(tools.AccessWrite, "path"),
			run: func(a map[string]string) (any, error) { return nil, os.MkdirAll(abs(a["path"]), 0o777) }},
		&coreTool{name: "remove", params: schema(`"path"`, "path"), needs: tools.CapDelete, access: access(tools.AccessDelete, "path"),
			run: func(a map[string]string) (any, error) { return nil, os.RemoveAll(abs(a["path"])) }},
		&coreTool{name: "mv", params: schema(`"src","dst"`, "src", "dst"), needs: tools.CapWrite | tools.CapDelete, access: access(tools.AccessDelete, "src"),
			run: func(a map[string]string) (any, error) { return nil, os.Rename(abs(a["src"]), abs(a["dst"])) }},
		execTool(t, root),
	}
}

func grep(path, pattern string) (any, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	matches := []map[string]any{}
	err = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		for i, line := range strings.Split(string(data), "\n") {
			if re.MatchString(line) {
				matches = append(matches, map[string]any{"path": p, "line_number": i + 1, "line": line})
			}
		}
		return err
	})
	return map[string]any{"matches": matches, "count": len(matches)}, err
}

// execTool is jcode's own exec.
func execTool(t *testing.T, root string) tools.Tool {
	t.Helper()
	sh := builtin.NewShell(builtin.ShellOptions{Root: root})
	t.Cleanup(func() {
		if err := sh.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tool := range sh.Tools() {
		if tool.Spec().Name == "exec" {
			return tool
		}
	}
	t.Fatal("no exec")
	return nil
}

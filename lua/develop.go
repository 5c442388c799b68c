package lua

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/paths"
	"jcode/lua/manifest"
	"jcode/lua/pool"
	"jcode/lua/wire"
	"jcode/tools"
)

//go:embed templates
var templates embed.FS

// NewTool writes a commented, working tool folder and returns the paths of its files. base
// is the project's root, or jcode's configuration folder with user set. Nothing is ever
// overwritten.
func NewTool(base, name string, user bool) ([]string, error) {
	if !manifest.IsToolName(name) {
		return nil, fmt.Errorf("new tool: %q is not a tool name: %s", name, manifest.ToolNames)
	}
	dir := filepath.Join(luaFolder(base, user), "tools", name)
	return writeNew(dir, name, manifest.FileName, manifest.MainName)
}

// NewPlugin writes a commented, working plugin and returns its path.
func NewPlugin(base, id string, user bool) ([]string, error) {
	if !isPluginID(id) {
		return nil, fmt.Errorf("new plugin: %q is not a plugin name: use letters, digits, _ and -, beginning with a letter", id)
	}
	return writeNew(filepath.Join(luaFolder(base, user), "plugins"), id, "NAME.lua")
}

func luaFolder(base string, user bool) string {
	if user {
		return filepath.Join(base, "lua")
	}
	return filepath.Join(base, ".jcode", "lua")
}

// writeNew writes templates to a folder, with name for NAME in their names and texts.
func writeNew(dir, name string, files ...string) ([]string, error) {
	var paths []string
	for _, f := range files {
		path := filepath.Join(dir, strings.ReplaceAll(f, "NAME", name))
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s already exists; nothing was written", path)
		}
		paths = append(paths, path)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("new: %w", err)
	}
	// The manifest comes last: with it the folder is a tool.
	for i, f := range slices.Backward(files) {
		text, err := templates.ReadFile("templates/" + f)
		if err != nil {
			return nil, err
		}
		out, err := os.OpenFile(paths[i], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return nil, fmt.Errorf("new: %w", err)
		}
		_, err = out.WriteString(strings.ReplaceAll(string(text), "NAME", name))
		if err = errors.Join(err, out.Close()); err != nil {
			return nil, fmt.Errorf("new: %w", err)
		}
	}
	return paths, nil
}

// Around is what a check of Lua knows of the place that it is for.
type Around struct {
	// Project is the root of the project, out of which no link of a file in it may lead.
	Project string
	// Builtin reports whether a builtin tool has that name, Secret whether a variable holds a key; nil means no.
	Builtin, Secret func(name string) bool
}

// Check checks a tool folder, a folder of such folders, a plugin, or a single script, and
// returns its faults as `file:line: message`. It runs nothing: sources are only compiled, in a
// host.
//
// The zero Around is right for a file on its own.
func Check(ctx context.Context, path string, in Around) (problems []string, err error) {
	c := &checker{ctx: ctx, Around: in}
	if abs, err := filepath.Abs(path); err == nil && in.Project != "" && paths.Within(in.Project, abs) {
		c.root.inside = in.Project
	}
	defer c.close()
	err = c.path(path)
	return c.problems, err
}

type checker struct {
	Around
	ctx      context.Context
	conn     *pool.Conn
	root     toolRoot // with the project that links must not lead out of
	problems []string
}

func (c *checker) close() {
	if c.conn != nil {
		c.conn.Close()
	}
}

func (c *checker) path(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if !info.IsDir() {
		return c.source(path)
	}
	if isTool(path) {
		return c.tool(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, e := range entries {
		child := filepath.Join(path, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir(), e.Type()&fs.ModeSymlink != 0 && isTool(child):
			if err := c.path(child); err != nil {
				return err
			}
		case strings.HasSuffix(e.Name(), ".lua"):
			if err := c.source(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// isTool reports whether a path names a folder with a file of a tool; other links are not followed.
func isTool(path string) bool {
	return isFile(filepath.Join(path, manifest.FileName)) || isFile(filepath.Join(path, manifest.MainName))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (c *checker) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) tool(dir string) error {
	name := filepath.Base(dir)
	if !manifest.IsToolName(name) {
		c.add("%s: the folder name is not a tool name: %s", dir, manifest.ToolNames)
	}
	if c.Builtin != nil && c.Builtin(name) {
		c.add("%s: a builtin tool is called %s, and keeps the name: choose another", dir, name)
	}
	path := filepath.Join(dir, manifest.FileName)
	text, err := readFile(c.root, path, manifest.MaxSize)
	if err != nil {
		c.add("%s: %v", path, err)
	} else if m, err := manifest.Parse(path, text); err != nil {
		c.add("%v", err)
	} else {
		c.problems = append(c.problems, m.Warnings...)
		for _, name := range m.Permissions.Env {
			if withheld(name, c.Secret) {
				c.add("%s: permissions.env: %s is never given: its name is that of a secret, or it holds a provider's key", path, name)
			}
		}
	}
	if !isFile(filepath.Join(dir, manifest.MainName)) {
		c.add("%s: is missing", filepath.Join(dir, manifest.MainName))
		return nil
	}
	return c.source(filepath.Join(dir, manifest.MainName))
}

// source compiles one file in a host.
func (c *checker) source(path string) error {
	data, err := readFile(c.root, path, maxSource)
	if err != nil {
		c.add("%s: %v", path, err)
		return nil
	}
	if c.conn == nil {
		if c.conn, err = pool.StartProcess(c.ctx, false); err != nil {
			return err
		}
	}
	st := &principal{around: &surroundings{}, env: wire.EnvTool, phase: phaseBody}
	_, fail := c.conn.Do(c.ctx, pool.Job{Msg: wire.Message{Type: wire.TypeCompile, Name: path, Text: string(data)}, Limit: 10 * time.Second, Env: st.env, Owner: st})
	if fail == nil {
		return nil
	}
	if fail.Broken {
		c.conn = nil
	}
	if fail.Kind == tools.KindCancelled {
		return fail
	}
	c.add("%s", fail.Text)
	return nil
}

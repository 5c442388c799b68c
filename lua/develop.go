package lua

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
			return nil, fmt.Errorf("%s is there already; nothing was written", path)
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

// Check checks a tool folder, a folder of such folders, a plugin, or a single script, and
// returns its faults as `file:line: message`. It runs nothing: sources are only compiled, in a
// host.
//
// builtin reports whether a builtin tool has that name; nil means that there are none.
func Check(ctx context.Context, path string, builtin func(name string) bool) (problems []string, err error) {
	c := &checker{ctx: ctx, builtin: builtin}
	defer c.close()
	err = c.path(path)
	return c.problems, err
}

type checker struct {
	ctx      context.Context
	conn     *pool.Conn
	builtin  func(name string) bool
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
	if isFile(filepath.Join(path, manifest.FileName)) || isFile(filepath.Join(path, manifest.MainName)) {
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
		case e.IsDir():
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
	if c.builtin != nil && c.builtin(name) {
		c.add("%s: a builtin tool is called %s, and keeps the name: choose another", dir, name)
	}
	path := filepath.Join(dir, manifest.FileName)
	text, err := readFile(toolRoot{}, path, manifest.MaxSize)
	if err != nil {
		c.add("%s: %v", path, err)
	} else if m, err := manifest.Parse(path, text); err != nil {
		c.add("%v", err)
	} else {
		c.problems = append(c.problems, m.Warnings...)
	}
	if !isFile(filepath.Join(dir, manifest.MainName)) {
		c.add("%s: is missing", filepath.Join(dir, manifest.MainName))
		return nil
	}
	return c.source(filepath.Join(dir, manifest.MainName))
}

// source compiles one file in a host.
func (c *checker) source(path string) error {
	data, err := readFile(toolRoot{}, path, maxSource)
	if err != nil {
		c.add("%s: %v", path, err)
		return nil
	}
	if c.conn == nil {
		if c.conn, err = pool.StartProcess(c.ctx, false); err != nil {
			return err
		}
	}
	st := &principal{room: &Room{}, env: wire.EnvTool, phase: phaseBody}
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

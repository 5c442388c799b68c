package manifest

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"jcode/lua/wire"
	"jcode/tools"
)

// Permissions is the upper bound of what a tool or plugin may do, as it declares it. Everything it does
// within that bound is still judged by the gate. The zero value grants nothing.
type Permissions struct {
	Network      *Network
	FSRead       []string
	FSWrite      []string
	HasFS        bool // "fs" is declared, even if it lists nothing
	Intents      []string
	Exec         [][]string
	MCP          []string
	Env          []string
	Capabilities tools.Capabilities
	Events       []string
	MCPAdmin     bool

	declared bool // the declaration has at least one key
}

// Empty reports whether nothing is declared.
func (p *Permissions) Empty() bool { return p == nil || !p.declared }

// keyError is a fault of one key.
type keyError struct{ key, text string }

func (e *keyError) Error() string { return e.text }

// keyOf returns the key at fault, "permissions" if the error names none.
func keyOf(err error) string {
	var e *keyError
	if errors.As(err, &e) {
		return e.key
	}
	return "permissions"
}

// PluginPermissions reads what a plugin declares. Its errors name the key at fault.
func PluginPermissions(o *wire.Object) (Permissions, error) { return parsePermissions(o, true) }

// parsePermissions reads a declaration. An unknown key is an error: a mistyped
// restriction must not widen anything.
func parsePermissions(o *wire.Object, plugin bool) (Permissions, error) {
	p := Permissions{declared: o.Len() > 0}
	for i := range o.Len() {
		key, v := o.At(i)
		if err := p.field(key, v, plugin); err != nil {
			return Permissions{}, err
		}
	}
	return p, nil
}

func (p *Permissions) field(key string, v any, plugin bool) (err error) {
	wrong := func(form string) error {
		return &keyError{key, fmt.Sprintf("permissions.%s must be %s", key, form)}
	}
	switch key {
	case "network":
		p.Network, err = parseNetwork(v)
		return err
	case "fs":
		return p.fs(v)
	case "intents":
		if p.Intents, err = wire.Texts(v); err != nil {
			return wrong(`an array of names such as ["grep"]`)
		}
	case "exec":
		list, ok := v.([]any)
		for _, item := range list {
			words, err := wire.Texts(item)
			ok = ok && err == nil && len(words) > 0
			p.Exec = append(p.Exec, words)
		}
		if !ok {
			return wrong(`an array of word lists such as [["git","log"]]`)
		}
	case "mcp":
		if p.MCP, err = wire.Texts(v); err != nil || slices.ContainsFunc(p.MCP, func(s string) bool { return !strings.Contains(s, ":") }) {
			return wrong(`an array such as ["server:tool"]`)
		}
	case "env":
		if p.Env, err = wire.Texts(v); err != nil {
			return wrong(`an array of names such as ["LANG"]`)
		}
	case "capabilities", "events", "mcp_admin":
		if !plugin {
			return &keyError{key, fmt.Sprintf("permissions.%s is for plugins only", key)}
		}
		return p.pluginField(key, v, wrong)
	default:
		return &keyError{key, fmt.Sprintf("unknown key permissions.%s; known: network, fs, intents, exec, mcp, env", key)}
	}
	return nil
}

func (p *Permissions) pluginField(key string, v any, wrong func(string) error) error {
	if key == "mcp_admin" {
		b, ok := v.(bool)
		if !ok {
			return wrong("true or false")
		}
		p.MCPAdmin = b
		return nil
	}
	list, err := wire.Texts(v)
	if err != nil {
		return wrong("an array of names")
	}
	if key == "capabilities" {
		if p.Capabilities, err = tools.ParseCapabilities(list); err != nil {
			return &keyError{key, "permissions.capabilities: " + err.Error()}
		}
		return nil
	}
	for _, e := range list {
		if !slices.Contains(wire.Events[:], e) {
			return &keyError{key, fmt.Sprintf("permissions.events: unknown event %q; known: %s", e, strings.Join(wire.Events[:], ", "))}
		}
	}
	p.Events = list
	return nil
}

func (p *Permissions) fs(v any) (err error) {
	o, ok := v.(*wire.Object)
	if !ok {
		return &keyError{"fs", `permissions.fs must be {"read": [...], "write": [...]}`}
	}
	p.HasFS = true
	for i := range o.Len() {
		key, v := o.At(i)
		list, err := wire.Texts(v)
		if err != nil {
			return &keyError{key, fmt.Sprintf("permissions.fs.%s must be an array of globs", key)}
		}
		for _, g := range list {
			if !doublestar.ValidatePattern(g) || filepath.IsAbs(g) || strings.Contains(g, "..") {
				return &keyError{g, fmt.Sprintf("permissions.fs.%s: bad glob %q; globs are relative to the project, without ..", key, g)}
			}
		}
		switch key {
		case "read":
			p.FSRead = list
		case "write":
			p.FSWrite = list
		default:
			return &keyError{key, fmt.Sprintf("unknown key permissions.fs.%s; known: read, write", key)}
		}
	}
	return nil
}

// CoversFile reports whether a declared glob covers a file, by its path relative to the project with forward
// slashes. Permission to write a file includes permission to read it.
func (p *Permissions) CoversFile(rel string, write bool) bool {
	globs := p.FSWrite
	if !write {
		globs = slices.Concat(p.FSRead, p.FSWrite)
	}
	for _, g := range globs {
		if ok, err := doublestar.Match(g, rel); err == nil && ok {
			return true
		}
		// A folder may be listed if everything in it is covered.
		if base, all := strings.CutSuffix(g, "/**"); all && rel == base || g == "**" {
			return true
		}
	}
	return false
}

// CoversCommand reports whether a command begins with the words of a declared one.
func (p *Permissions) CoversCommand(words []string) bool {
	return slices.ContainsFunc(p.Exec, func(prefix []string) bool {
		return len(words) >= len(prefix) && slices.Equal(words[:len(prefix)], prefix)
	})
}

// CoversMCP reports whether a tool of an MCP server is declared, by its name in the registry:
// mcp:server:tool.
func (p *Permissions) CoversMCP(name string) bool {
	tool, ok := strings.CutPrefix(name, "mcp:")
	return ok && slices.Contains(p.MCP, tool)
}

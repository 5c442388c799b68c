package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"jcode/hooks"
	"jcode/internal/frontmatter"
	"jcode/internal/paths"
	"jcode/internal/text"
)

// manifestFiles are the places of a plugin's manifest; the first that exists is used.
var manifestFiles = [...]string{"jcode-plugin.json", ".claude-plugin/plugin.json"}

// RootVariable is the variable that holds a plugin's folder, in its hooks and servers.
const RootVariable = "CLAUDE_PLUGIN_ROOT"

// DataVariable is the variable that holds the folder of a plugin's data, which outlives its updates.
const DataVariable = "CLAUDE_PLUGIN_DATA"

// Bundle is the content of a plugin's folder.
type Bundle struct {
	Name, Version, Description string
	Dir                        string
	// Commands and Skills are folders of command files and skills, Agents files of agents; all
	// absolute, in the plugin's folder.
	Commands, Skills, Agents []string
	// Hooks run with the plugin's folder in RootVariable. Servers are MCP servers by name.
	Hooks   []hooks.Hook
	Servers map[string]json.RawMessage
	// Languages are language servers, by name.
	Languages []Language
	// Lua is the folder with tools/ and plugins/ of Lua, "" if there is none.
	Lua string
	// Rows list what the plugin brings, one by one.
	Rows []Row
	// Tokens is roughly what it adds to each request.
	Tokens int
	// Problems are parts that cannot be used.
	Problems []string
}

// Row is one thing that a plugin brings.
type Row struct {
	// Kind is command, skill, agent, hook, mcp server, language server, lua tool or lua plugin.
	Kind, Name string
	// Runs is the command that it would run, or its description.
	Runs string
}

// String returns the row as a person is shown it.
func (r Row) String() string {
	s := r.Kind + " " + r.Name
	if r.Runs != "" {
		s += ": " + r.Runs
	}
	return text.Visible(s)
}

// manifest is the decoded manifest file. Paths are a text or a list of texts.
type manifest struct {
	Name        string          `json:"name"`
	Version     string          `json:"version"`
	Description string          `json:"description"`
	Commands    json.RawMessage `json:"commands"`
	Skills      json.RawMessage `json:"skills"`
	Agents      json.RawMessage `json:"agents"`
	Hooks       json.RawMessage `json:"hooks"`
	MCPServers  json.RawMessage `json:"mcpServers"`
	LSPServers  json.RawMessage `json:"lspServers"`
	// Strict is false for the manifest that a marketplace wrote: what it names is all there is of that kind.
	Strict *bool `json:"strict,omitempty"`
}

// only reports whether a key of the manifest replaces the usual folder instead of adding to it.
func (m manifest) only(raw json.RawMessage) bool {
	return m.Strict != nil && !*m.Strict && len(texts(raw)) > 0
}

// Read reads the plugin in a folder. It returns an error if there is none, or if its manifest
// cannot be used. Parts that cannot be used are listed as problems.
func Read(dir string) (*Bundle, error) {
	var m manifest
	found := ""
	for _, name := range manifestFiles {
		data, err := readSmall(dir, name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = decode(data, &m)
		}
		if err != nil {
			return nil, fmt.Errorf("plugin %s: %s: %w", dir, name, err)
		}
		found = name
		break
	}
	if found == "" {
		return nil, fmt.Errorf("%s is not a plugin: it has neither %s nor %s", dir, manifestFiles[0], manifestFiles[1])
	}
	if !validName(m.Name) {
		return nil, fmt.Errorf("plugin %s: %s: name %q must have lower-case letters, digits, - and _ only, at most 64", dir, found, m.Name)
	}
	b := &Bundle{Name: m.Name, Version: m.Version, Description: m.Description, Dir: dir}
	b.Commands = b.folders("commands", m.Commands, m.only(m.Commands))
	b.Skills = b.folders("skills", m.Skills, m.only(m.Skills))
	b.Agents = b.folders("agents", m.Agents, m.only(m.Agents))
	b.documents()
	b.hooks(m.Hooks)
	b.servers(m.MCPServers)
	b.languages(m.LSPServers)
	b.scripts()
	return b, nil
}

func validName(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && s[0] != '-'
}

func (b *Bundle) fault(format string, args ...any) {
	b.Problems = append(b.Problems, fmt.Sprintf(format, args...))
}

// folders lists the folder of the key's name, if it exists, and those that the manifest names; only says that
// these are all.
func (b *Bundle) folders(key string, raw json.RawMessage, only bool) []string {
	var out []string
	if _, err := os.Stat(filepath.Join(b.Dir, key)); err == nil && !only {
		out = append(out, filepath.Join(b.Dir, key))
	}
	for _, name := range texts(raw) {
		path, err := b.inside(name)
		if err != nil {
			b.fault("%s: %v", key, err)
		} else if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// inside returns a path of the plugin that exists and does not lead out of it.
func (b *Bundle) inside(name string) (string, error) {
	if !filepath.IsLocal(filepath.Clean(name)) {
		return "", fmt.Errorf("%q leads out of the plugin", name)
	}
	path := filepath.Join(b.Dir, name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%q is not there", name)
	}
	return path, nil
}

// documents returns the rows of commands, skills and agents.
func (b *Bundle) documents() {
	for _, dir := range b.Commands {
		b.markdown("command", dir, func(path string) string {
			return strings.TrimSuffix(strings.ReplaceAll(path, "/", ":"), ".md")
		})
	}
	for _, dir := range b.Skills {
		b.markdown("skill", dir, func(path string) string {
			if filepath.Base(path) != "SKILL.md" {
				return ""
			}
			return filepath.Base(filepath.Dir(filepath.Join(dir, path)))
		})
	}
	for _, dir := range b.Agents {
		b.markdown("agent", dir, func(path string) string { return strings.TrimSuffix(filepath.Base(path), ".md") })
	}
}

// markdown returns a row for each file below dir that name names.
func (b *Bundle) markdown(kind, dir string, name func(path string) string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return nil //nolint:nilerr // what cannot be read brings nothing
		}
		rel, _ := filepath.Rel(dir, path) // below dir
		if rel == "." {
			rel = filepath.Base(path)
		}
		n := name(filepath.ToSlash(rel))
		if n == "" {
			return nil
		}
		data, err := paths.ReadInside(b.Dir, path, maxManifest)
		if err != nil {
			b.fault("%s %s: %v", kind, n, err)
			return nil
		}
		about := ""
		front := frontmatter.Parse(data)
		if f, ok := front.Get("description"); ok {
			about = f.String()
		}
		if strings.Contains(string(data), "!`") && kind == "command" {
			about += " (runs shell lines, which are asked about)"
		}
		b.Rows = append(b.Rows, Row{kind, n, text.Cut(strings.Join(strings.Fields(about), " "), 200)})
		if kind != "command" {
			b.Tokens += (len(n) + len(about) + 8) / 4
		}
		return nil
	})
}

// hooks reads the hooks of the manifest and of hooks/hooks.json.
func (b *Bundle) hooks(raw json.RawMessage) {
	files := []string{}
	if _, err := os.Stat(filepath.Join(b.Dir, "hooks", "hooks.json")); err == nil {
		files = append(files, "hooks/hooks.json")
	}
	if isObject(raw) {
		b.addHooks(raw)
	} else {
		for _, name := range texts(raw) {
			if !slices.Contains(files, filepath.ToSlash(filepath.Clean(name))) {
				files = append(files, name)
			}
		}
	}
	for _, name := range files {
		var f struct {
			Hooks json.RawMessage `json:"hooks"`
		}
		if err := b.readJSON(name, &f); err != nil {
			b.fault("hooks: %v", err)
			continue
		}
		b.addHooks(f.Hooks)
	}
}

func (b *Bundle) addHooks(raw json.RawMessage) {
	list, problems := hooks.Parse(raw, "plugin "+b.Name)
	b.Problems = append(b.Problems, problems...)
	for _, h := range list {
		h.Env = []string{RootVariable + "=" + b.Dir}
		b.Hooks = append(b.Hooks, h)
		name := string(h.Event)
		if h.Matcher != "" {
			name += " " + h.Matcher
		}
		b.Rows = append(b.Rows, Row{"hook", name, h.Shown()})
	}
}

// servers reads the MCP servers of the manifest and of .mcp.json.
func (b *Bundle) servers(raw json.RawMessage) {
	b.Servers = map[string]json.RawMessage{}
	take := func(where string, raw json.RawMessage) {
		list := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &list); err != nil {
			b.fault("%s: MCP servers must be an object", where)
			return
		}
		maps.Copy(b.Servers, list)
	}
	file := func(name string) {
		var f map[string]json.RawMessage
		if err := b.readJSON(name, &f); err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				b.fault("mcpServers: %v", err)
			}
			return
		}
		if inner, ok := f["mcpServers"]; ok {
			take(name, inner)
			return
		}
		whole, err := json.Marshal(f)
		if err == nil {
			take(name, whole)
		}
	}
	file(".mcp.json")
	if isObject(raw) {
		take("plugin.json", raw)
	} else {
		for _, name := range texts(raw) {
			file(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Servers)) {
		b.Rows = append(b.Rows, Row{"mcp server", name, commandLine(b.Servers[name])})
	}
}

// commandLine returns all that a server's entry starts and connects to, and the variables that it sets or gets.
func commandLine(raw json.RawMessage) string {
	var e struct {
		Command string                     `json:"command"`
		Args    []string                   `json:"args"`
		URL     string                     `json:"url"`
		Helper  json.RawMessage            `json:"headersHelper"`
		Env     map[string]json.RawMessage `json:"env"`
		Headers map[string]json.RawMessage `json:"headers"`
		Inherit []string                   `json:"inheritEnv"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return "(an entry that cannot be read)"
	}
	var parts []string
	if e.Command != "" || len(e.Args) > 0 {
		parts = append(parts, strings.Join(append([]string{e.Command}, e.Args...), " "))
	}
	if e.URL != "" {
		parts = append(parts, "connects to "+e.URL)
	}
	if len(e.Helper) > 0 {
		parts = append(parts, "runs for its headers "+string(e.Helper))
	}
	if names := append(slices.Sorted(maps.Keys(e.Env)), e.Inherit...); len(names) > 0 {
		parts = append(parts, "environment: "+strings.Join(names, ", "))
	}
	if len(e.Headers) > 0 {
		parts = append(parts, "headers: "+strings.Join(slices.Sorted(maps.Keys(e.Headers)), ", "))
	}
	return strings.Join(parts, "; ")
}

func (b *Bundle) readJSON(name string, into any) error {
	if !filepath.IsLocal(filepath.Clean(name)) {
		return fmt.Errorf("%q leads out of the plugin", name)
	}
	data, err := readSmall(b.Dir, name)
	if err != nil {
		return err
	}
	if err := decode(data, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxManifest is the largest size of a JSON file of a plugin.
const maxManifest = 1 << 20

// readSmall reads a JSON file of a plugin or a marketplace: a regular file inside of it.
func readSmall(dir, name string) ([]byte, error) {
	data, err := paths.ReadInside(dir, filepath.Join(dir, filepath.FromSlash(name)), maxManifest)
	if errors.Is(err, paths.ErrOutside) {
		return nil, errors.New("the link leads out of the plugin")
	}
	return data, err
}

func decode(data []byte, into any) error {
	std, err := hujson.Standardize(data)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(std, into); errors.As(err, &wrong) {
		return fmt.Errorf("%q must not be of the kind %s", wrong.Field, wrong.Value)
	} else if err != nil {
		return err
	}
	return nil
}

func isObject(raw json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(string(raw)), "{")
}

// texts is a text, or a list of them.
func texts(raw json.RawMessage) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

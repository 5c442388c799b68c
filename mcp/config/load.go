package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"jcode/internal/jsonedit"
	"jcode/internal/paths"
)

// Paths are the places of configuration files. Empty fields are left out.
type Paths struct {
	// Run is the file of `--mcp-config`.
	Run string
	// ProjectRoot is the project's top folder, resolved.
	ProjectRoot string
	// ConfigDir is jcode's configuration folder.
	ConfigDir string
	// Home is the person's home folder, for the files of other programs.
	Home string
	// NoImport ignores the files of other programs in Home.
	NoImport bool
	// Plugins returns the files of plugins that the person accepted, as they are at each load; every other file
	// takes precedence over them. Nil means none.
	Plugins func() []PluginFile
}

// PluginFile is the file with the servers of a plugin.
type PluginFile struct {
	Plugin, Path string
	// Old says that it was accepted before its servers were confined.
	Old bool
}

// UserFile is the person's own file, which jcode writes.
func (p Paths) UserFile() string { return filepath.Join(p.ConfigDir, "mcp.json") }

// ProjectFile is the project's file that jcode writes.
func (p Paths) ProjectFile() string { return filepath.Join(p.ProjectRoot, ".jcode", "mcp.json") }

// writes reports whether a file is one that jcode writes.
func (p Paths) writes(file string) bool { return file == p.UserFile() || file == p.ProjectFile() }

// FileReport describes what was read from one file.
type FileReport struct {
	Path    string `json:"path"`
	Scope   Scope  `json:"scope"`
	Servers int    `json:"servers"`
	Error   string `json:"error,omitempty"`
}

// Config is everything that the files say.
type Config struct {
	// candidates are all definitions of a name, the strongest first.
	candidates map[string][]Entry
	Files      []FileReport
	Warnings   []string
}

// Chosen is the definition in force for one name.
type Chosen struct {
	Entry Entry
	// Pending is a project's entry that waits for approval; it is Entry itself if nothing else defines the name.
	Pending *Entry
	// All are the sources that define the name.
	All []Source
}

// Load reads all files. A file that can't be read is reported, and the others are still read.
func Load(p Paths) Config {
	c := Config{candidates: map[string][]Entry{}}
	overrides := map[string]override{}
	seen := map[string]bool{}
	for _, f := range p.files() {
		if seen[f.path] {
			continue
		}
		seen[f.path] = true
		data, err := p.read(f)
		if errors.Is(err, fs.ErrNotExist) && f.scope != ScopeRun {
			continue
		}
		report := FileReport{Path: f.path, Scope: f.scope}
		var parsed configFile
		if err == nil {
			if f.claudeState {
				parsed, err = parseClaudeState(f.path, p.ProjectRoot, data)
			} else {
				parsed, err = parseConfig(f.path, f.scope, data)
			}
		}
		if err != nil {
			report.Error = err.Error()
		}
		report.Servers = len(parsed.entries)
		c.Files = append(c.Files, report)
		c.Warnings = append(c.Warnings, parsed.warnings...)
		for _, e := range parsed.entries {
			e.Source.Plugin, e.Source.Old = f.plugin.Plugin, f.plugin.Old
			c.candidates[e.Name] = append(c.candidates[e.Name], e)
		}
		if f.path == p.UserFile() {
			for name, o := range parsed.overrides {
				overrides[KeyFor(name)] = o
			}
		}
	}
	for name, list := range c.candidates {
		if o, has := overrides[name]; has {
			for i := range list {
				list[i].apply(o, p)
			}
		}
	}
	return c
}

// maxConfig bounds a configuration file of a project in bytes.
const maxConfig = 4 << 20

// read reads a file; one of the project only if it is inside the project.
func (p Paths) read(f configPath) ([]byte, error) {
	if f.scope != ScopeProject {
		return paths.ReadFile(f.path, 16*maxConfig)
	}
	data, err := paths.ReadInside(p.ProjectRoot, f.path, maxConfig)
	if errors.Is(err, paths.ErrOutside) {
		err = fmt.Errorf("%s %w: it is ignored", f.path, err)
	}
	return data, err
}

// apply applies the person's override to an entry of a file that jcode doesn't write.
func (e *Entry) apply(o override, p Paths) {
	if p.writes(e.Source.File) {
		return
	}
	if o.enabled != nil {
		e.Enabled = *o.enabled
	}
	e.DisabledTools = append(e.DisabledTools, o.disabledTools...)
}

type configPath struct {
	path        string
	scope       Scope
	claudeState bool
	plugin      PluginFile
}

// files lists the files by precedence.
func (p Paths) files() []configPath {
	var out []configPath
	add := func(scope Scope, path string) { out = append(out, configPath{path: path, scope: scope}) }
	if p.Run != "" {
		add(ScopeRun, p.Run)
	}
	person := []string{}
	if p.ConfigDir != "" {
		person = append(person, p.UserFile())
	}
	if p.Home != "" && !p.NoImport {
		person = append(person, filepath.Join(p.Home, ".claude", "mcp.json"))
	}
	if p.ProjectRoot != "" {
		for _, name := range []string{".jcode/mcp.json", ".mcp.json", ".claude/mcp.json"} {
			// In the home folder a project's file can be the person's own.
			if path := filepath.Join(p.ProjectRoot, filepath.FromSlash(name)); !slices.Contains(person, path) {
				add(ScopeProject, path)
			}
		}
	}
	for _, path := range person {
		add(ScopeUser, path)
	}
	if p.Home != "" && !p.NoImport {
		out = append(out, configPath{path: filepath.Join(p.Home, ".claude.json"), scope: ScopeUser, claudeState: true})
	}
	if p.Plugins != nil {
		for _, f := range p.Plugins() {
			out = append(out, configPath{path: f.Path, scope: ScopeUser, plugin: f})
		}
	}
	return out
}

// parseClaudeState reads the servers from another program's state file: those of the project's folder first,
// then the general ones. The file contains much else.
func parseClaudeState(path, root string, data []byte) (configFile, error) {
	p := &parser{path: path, scope: ScopeUser, text: data, state: true}
	top, err := p.parse()
	if err != nil || top == nil {
		return configFile{}, err
	}
	if projects := child(top, "projects"); projects != nil {
		if own := child(projects, root); own != nil {
			p.top(own)
		}
	}
	own := p.out.entries
	p.out.entries = nil
	p.top(top)
	general := slices.DeleteFunc(p.out.entries, func(e Entry) bool {
		return slices.ContainsFunc(own, func(o Entry) bool { return o.Name == e.Name })
	})
	p.out.entries, p.out.overrides = append(own, general...), nil
	return p.out, nil
}

// Choose picks the definition of each name. An entry of a project's file that is not approved
// does not override another.
func (c Config) Choose(approved func(Entry) bool) map[string]Chosen {
	out := map[string]Chosen{}
	for name, list := range c.candidates {
		var pick, pending *Entry
		var sources []Source
		for i := range list {
			e := &list[i]
			sources = append(sources, e.Source)
			if pick != nil {
				continue
			}
			if e.Source.Scope == ScopeProject && e.Err == nil && e.Enabled && !approved(*e) {
				if pending == nil {
					pending = e
				}
				continue
			}
			if pending != nil && e.Source.Scope == ScopeProject {
				continue // a weaker file of the same project does not replace it
			}
			pick = e
		}
		if pick == nil {
			pick = pending
		}
		out[name] = Chosen{Entry: *pick, Pending: pending, All: sources}
	}
	return out
}

// ParseJSON reads the JSON of one entry, as `add-json` accepts it.
func ParseJSON(name string, data []byte) (Entry, error) {
	if !json.Valid(data) {
		if _, err := hujson.Parse(data); err != nil {
			return Entry{}, fmt.Errorf("read JSON of %s: %s", name, jsonedit.Fault(err))
		}
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return Entry{}, err
	}
	doc := append([]byte(`{"mcpServers":{`), quoted...)
	doc = append(append(append(doc, ':'), data...), "}}"...)
	f, err := parseConfig("argument", ScopeUser, doc)
	if err != nil {
		return Entry{}, err
	}
	if len(f.entries) != 1 {
		return Entry{}, fmt.Errorf("read JSON of %s: not one server", name)
	}
	return f.entries[0], f.entries[0].Err
}

package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"jcode/internal/schema"
)

// Definition is a merged entry as the command line shows it: secrets hidden.
type Definition struct {
	Name           string            `json:"name"`
	Type           Transport         `json:"type"`
	Command        string            `json:"command,omitempty"`
	Args           []string          `json:"args,omitempty"`
	Env            map[string]string `json:"env,omitempty"`
	Cwd            string            `json:"cwd,omitempty"`
	URL            string            `json:"url,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"`
	InheritEnv     []string          `json:"inheritEnv,omitempty"`
	Enabled        bool              `json:"enabled"`
	Approved       bool              `json:"approved"`
	EnabledTools   []string          `json:"enabledTools,omitempty"`
	DisabledTools  []string          `json:"disabledTools,omitempty"`
	ConnectTimeout string            `json:"connectTimeout"`
	CallTimeout    string            `json:"callTimeout"`
	MaxCallTime    string            `json:"maxCallTime"`
	Optional       bool              `json:"optional,omitempty"`
	Trusted        bool              `json:"trusted,omitempty"`
	Sources        []Source          `json:"sources"`
	Warnings       []string          `json:"warnings,omitempty"`
	Error          string            `json:"error,omitempty"`
}

// Definition gives a configured server's merged entry.
func (m *Manager) Definition(name string) (Definition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entry(name)
	if !ok {
		return Definition{}, unknownServer(name, m.known())
	}
	t := maskTarget(e.Target)
	d := Definition{
		Name: e.Name, Type: t.Type, Command: t.Command, Args: t.Args, Env: t.Env, Cwd: t.Cwd, URL: t.URL, Headers: t.Headers,
		InheritEnv: t.InheritEnv, Enabled: e.Enabled, Approved: m.isApproved(e), EnabledTools: e.EnabledTools, DisabledTools: e.DisabledTools,
		ConnectTimeout: e.ConnectTimeout.String(), CallTimeout: e.CallTimeout.String(), MaxCallTime: e.MaxCallTime.String(),
		Optional: e.Optional, Trusted: e.Trusted, Sources: []Source{e.Source}, Warnings: e.Warnings,
	}
	if c, configured := m.chosen[name]; configured {
		d.Sources = c.all
	}
	if e.Err != nil {
		d.Error = e.Err.Error()
	}
	return d, nil
}

// AddOptions say how a server is written to a file.
type AddOptions struct {
	Project bool // the project's file instead of the person's
	Force   bool // replace an existing one
	// CallTimeout is written when it is not 0.
	CallTimeout time.Duration
}

// AddServer writes a new server to a configuration file and gives the file's path.
func (p ConfigPaths) AddServer(name string, t Target, opt AddOptions) (string, error) {
	if err := CheckServerKey(name); err != nil {
		return "", err
	}
	if err := checkTarget(t); err != nil {
		return "", fmt.Errorf("server %s: %w", name, err)
	}
	raw, err := entryJSON(t)
	if err != nil {
		return "", err
	}
	if opt.CallTimeout > 0 {
		n, err := schema.Parse(raw)
		if err != nil {
			return "", err
		}
		o := n.(*schema.Object)
		o.Set("callTimeout", opt.CallTimeout.String())
		raw = schema.Print(o)
	}
	return p.write(name, raw, opt)
}

// AddServerJSON writes a server given as JSON, keeping all of its keys.
func (p ConfigPaths) AddServerJSON(name string, data []byte, opt AddOptions) (string, error) {
	if err := CheckServerKey(name); err != nil {
		return "", err
	}
	if _, err := parseServerJSON(name, data); err != nil {
		return "", err
	}
	return p.write(name, json.RawMessage(data), opt)
}

func (p ConfigPaths) write(name string, raw json.RawMessage, opt AddOptions) (string, error) {
	path := p.UserFile()
	if opt.Project {
		path = p.ProjectFile()
	}
	return path, putServer(path, name, raw, opt.Force)
}

// RemoveServer removes a server from the files that jcode writes and gives the path of
// the one that had it.
func (p ConfigPaths) RemoveServer(name string) (string, error) {
	c := loadConfig(p)
	list := c.candidates[name]
	for _, e := range list {
		if e.Source.File == p.UserFile() || e.Source.File == p.ProjectFile() {
			return e.Source.File, dropServer(e.Source.File, name)
		}
	}
	if len(list) > 0 {
		return "", fmt.Errorf("server %s stands in %s, which another program writes; `jcode mcp disable %s` switches it off", name, list[0].Source.File, name)
	}
	return "", unknownServer(name, slices.Sorted(maps.Keys(c.candidates)))
}

// EnableServer switches a configured server on or off in a file and gives its path.
func (p ConfigPaths) EnableServer(name string, on bool) (string, error) {
	c := loadConfig(p)
	list := c.candidates[name]
	if len(list) == 0 {
		return "", unknownServer(name, slices.Sorted(maps.Keys(c.candidates)))
	}
	path := p.UserFile()
	if f := list[0].Source.File; f == p.ProjectFile() {
		path = f
	}
	return path, writeEnabled(p, list[0], on)
}

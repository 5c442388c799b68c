package mcp

import "jcode/mcp/config"

// Definition is a merged entry as the command line shows it: secrets hidden.
type Definition struct {
	Name           string            `json:"name"`
	Type           config.Transport  `json:"type"`
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
	Sources        []config.Source   `json:"sources"`
	Warnings       []string          `json:"warnings,omitempty"`
	Error          string            `json:"error,omitempty"`
}

// Definition returns a configured server's merged entry.
func (m *Manager) Definition(name string) (Definition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.wants.named(name)
	if err != nil {
		return Definition{}, err
	}
	t := config.Mask(e.Target)
	d := Definition{
		Name: e.Name, Type: t.Type, Command: t.Command, Args: t.Args, Env: t.Env, Cwd: t.Cwd, URL: t.URL, Headers: t.Headers,
		InheritEnv: t.InheritEnv, Enabled: e.Enabled, Approved: m.approvals.approved(e), EnabledTools: e.EnabledTools, DisabledTools: e.DisabledTools,
		ConnectTimeout: e.ConnectTimeout.String(), CallTimeout: e.CallTimeout.String(), MaxCallTime: e.MaxCallTime.String(),
		Optional: e.Optional, Trusted: e.Trusted, Sources: []config.Source{e.Source}, Warnings: e.Warnings,
	}
	if c, configured := m.wants.chosen[name]; configured {
		d.Sources = c.All
	}
	if e.Err != nil {
		d.Error = e.Err.Error()
	}
	return d, nil
}

package mcp

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/secret"
	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/schema"
)

// Status is one server as people, scripts and the model see it. Secrets are hidden.
type Status struct {
	Name      string           `json:"name"`
	State     State            `json:"state"`
	Tools     int              `json:"tools"`  // 0 unless connected
	Tokens    int              `json:"tokens"` // price of its tools and instructions
	Transport config.Transport `json:"transport"`
	Source    string           `json:"source"`
	Error     string           `json:"error,omitempty"`
	Attempt   int              `json:"attempt,omitempty"`
	Reason    string           `json:"reason,omitempty"` // why it is disconnected
}

// Details are all that the live view shows of one server.
type Details struct {
	Status
	Target     config.Target // hidden values are ***
	Line       string        // the command line or URL
	Pid        int           // 0 for URL servers
	Protocol   string
	Server     string   // name and version as the server gives them
	Roots      []string // the folders that the server was told of
	NextTry    time.Time
	Since      time.Time
	ToolList   []schema.Tool
	Skipped    []schema.Skipped
	Prompts    []PromptInfo
	Stderr     string // the last 4 kB
	Stray      int    // lines on stdout that were no messages
	StrayLines []string
	Log        string // path of the log
	Enabled    bool
	// Pending is what waits for approval, nil if nothing does.
	Pending *Pending
	// Warnings are what is odd in the configuration, with file, line and key.
	Warnings []string
	Sources  []config.Source
}

// Pending is an entry of a project's file that waits for approval.
type Pending struct {
	Name string
	// Line is the whole command line, unexpanded, or the URL.
	Line string
	// Notes name program path, folder, variables and what it replaces.
	Notes []string
	File  string
	Hash  string
}

// Snapshot returns all servers, sorted by name, those that do not run included.
func (m *Manager) Snapshot() []Details {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := m.known()
	out := make([]Details, 0, len(names))
	for _, name := range names {
		out = append(out, m.details(name))
	}
	return out
}

// Counts returns how many servers are connected, and how many are not disconnected. It is
// cheap.
func (m *Manager) Counts() (connected, all int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.known() {
		state := StateDisconnected
		if a := m.actors[name]; a != nil {
			state = a.view.Load().state
		}
		if e, _ := m.entry(name); state != StateDisconnected || e.Err != nil {
			all++
		}
		if state == StateConnected {
			connected++
		}
	}
	return connected, all
}

// Server returns one server.
func (m *Manager) Server(name string) (Details, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.entry(name); !ok {
		return Details{}, config.UnknownServer(name, m.known())
	}
	return m.details(name), nil
}

// details describes a server. The caller holds mu.
func (m *Manager) details(name string) Details {
	e, _ := m.entry(name)
	d := Details{Target: config.Mask(e.Target), Enabled: e.Enabled || m.forced[name], Warnings: e.Warnings}
	d.Name, d.State, d.Transport = name, StateDisconnected, e.Target.Type
	d.Line = d.Target.Line()
	d.Source = sourceText(e.Source)
	d.Sources = []config.Source{e.Source}
	c, configured := m.chosen[name]
	if configured {
		d.Sources = c.All
		if c.Pending != nil {
			d.Pending = m.pending(*c.Pending, c.Pending.Source != c.Entry.Source)
		}
	}
	v := &view{state: StateDisconnected}
	if a := m.actors[name]; a != nil {
		v = a.view.Load()
		d.Stderr = config.Scrub(a.log.Tail(), v.secrets)
		d.Stray, d.StrayLines = a.log.Stray()
		for i := range d.StrayLines {
			d.StrayLines[i] = config.Scrub(d.StrayLines[i], v.secrets)
		}
		d.Log = a.log.Path
	} else if m.opt.LogDir != "" {
		d.Log = filepath.Join(m.opt.LogDir, name+".log")
	}
	d.State, d.Attempt, d.NextTry, d.Since, d.Pid = v.state, v.attempt, v.nextTry, v.since, v.pid
	if v.err != nil && (v.state == StateReconnecting || v.state == StateFailed || v.state == StateNeedsSignIn) {
		d.Error = config.Scrub(plainError(v.err), v.secrets)
	}
	if v.state == StateConnected {
		d.ToolList = toolsOf(v)
		d.Tools, d.Tokens = len(d.ToolList), priceOf(v)
		d.Protocol, d.Server, d.Roots = v.info.protocol, v.info.name+" "+v.info.version, v.info.roots
	}
	d.Skipped, d.Prompts = v.skipped, v.prompts
	if v.state == StateDisconnected {
		d.Reason = m.reason(name, e)
		if e.Err != nil {
			d.State, d.Error, d.Reason = StateFailed, e.Err.Error(), ""
		}
	}
	return d
}

// reason says why a server does not run. The caller holds mu.
func (m *Manager) reason(name string, e config.Entry) string {
	switch {
	case m.off[name] != "":
		return "disconnected by " + m.off[name]
	case !m.isApproved(e):
		return "needs approval"
	case !e.Enabled && !m.forced[name]:
		return "disabled"
	case m.started && m.held()[name] == 0:
		return m.leftOut()
	}
	return ""
}

// leftOut says why nobody holds a server that may run: a role names its own. The caller
// holds mu.
func (m *Manager) leftOut() string {
	names, byRole := map[string]bool{}, false
	for l := range m.leases {
		if l.exclusive {
			byRole = true
			maps.Copy(names, l.names)
		}
	}
	switch {
	case !byRole:
		return "not started"
	case len(names) == 0:
		return "not in this role, which has no servers"
	}
	return "not in this role, whose mcp_servers are " + strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

func sourceText(s config.Source) string {
	if s.File != "" {
		return fmt.Sprintf("%s: %s", s.Scope, s.File)
	}
	return string(s.Scope)
}

// priceOf is what a server costs in tokens: its tools and its instructions.
func priceOf(v *view) int {
	sum := len(text.Ellipsis(v.info.instructions, maxInstructions)) / bytesPerToken
	for _, t := range toolsOf(v) {
		sum += price(v.entry.Name, t)
	}
	return sum
}

// pending describes what waits for approval. The caller holds mu.
func (m *Manager) pending(e config.Entry, replaces bool) *Pending {
	p := &Pending{Name: e.Name, Line: e.Target.Line(), Notes: m.targetNotes(e.Target, e.Source.Scope), File: e.Source.File, Hash: m.pinNow(e)}
	if replaces {
		p.Notes = append(p.Notes, "it replaces your own server "+e.Name)
	}
	return p
}

// targetNotes are what a question about a target must show beside its line. from says
// where the target comes from.
func (m *Manager) targetNotes(t config.Target, from config.Scope) []string {
	var notes []string
	if t.Type == config.Stdio {
		notes = append(notes, "program: "+m.env.ProgramPath(t, from))
		if dir := t.Cwd; dir != "" {
			notes = append(notes, "folder: "+dir)
		}
		if len(t.Env) > 0 {
			notes = append(notes, "environment: "+joinNames(t.Env))
		}
		if len(t.Roots) > 0 {
			notes = append(notes, "told of folders: "+strings.Join(t.Roots, ", "))
		}
	} else {
		notes = append(notes, "connects to "+t.URL)
		if len(t.Headers) > 0 {
			notes = append(notes, "headers: "+joinNames(t.Headers))
		}
		if len(t.HeadersHelper) > 0 {
			notes = append(notes, "runs for its headers: "+config.Target{Type: config.Stdio, Command: t.HeadersHelper[0], Args: t.HeadersHelper[1:]}.Line())
		}
		if t.OAuth != nil && len(t.OAuth.Scopes) > 0 {
			notes = append(notes, "signs in with the rights: "+strings.Join(t.OAuth.Scopes, ", "))
		}
	}
	if !from.Expands() {
		for _, name := range config.Variables(t) {
			notes = append(notes, "${"+name+"} stays as it is written: variables are expanded in configuration files only")
		}
		return notes
	}
	for _, name := range config.Variables(t) {
		note := "reads the variable " + name
		if secret.Name(name) {
			note += " (a key or token)"
		}
		notes = append(notes, note)
	}
	return notes
}

// PendingApprovals lists the project's entries that wait, sorted by name.
func (m *Manager) PendingApprovals() []Pending {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Pending
	for _, c := range m.chosen {
		if c.Pending != nil {
			out = append(out, *m.pending(*c.Pending, c.Pending.Source != c.Entry.Source))
		}
	}
	slices.SortFunc(out, func(a, b Pending) int { return compareText(a.Name, b.Name) })
	return out
}

// Warnings are what is odd in the configuration files as a whole, with file and line.
func (m *Manager) Warnings() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Clone(m.config.Warnings)
	for _, f := range m.config.Files {
		if f.Error != "" {
			out = append(out, f.Error)
		}
	}
	for _, name := range m.known() {
		e, _ := m.entry(name)
		out = append(out, e.Warnings...)
		if e.Err != nil {
			out = append(out, e.Err.Error())
		}
	}
	return out
}

// Totals says how the tools are offered and what they cost.
type Totals struct {
	Tools     int    `json:"total_tools"`
	Tokens    int    `json:"total_tokens"`
	Mode      string `json:"mode"` // direct or deferred
	Threshold int    `json:"threshold"`
}

// Totals sums up what the connected servers offer in the scope in force.
func (m *Manager) Totals() Totals {
	m.offer.mu.Lock()
	defer m.offer.mu.Unlock()
	m.mu.Lock()
	views := m.views()
	m.mu.Unlock()
	t := Totals{Mode: "direct", Threshold: m.threshold()}
	t.Tokens, t.Tools = m.totals(views)
	if m.offer.deferred {
		t.Mode = "deferred"
	}
	return t
}

// views returns all actors' views. The caller holds mu.
func (m *Manager) views() map[string]*view {
	out := make(map[string]*view, len(m.actors))
	for name, a := range m.actors {
		out[name] = a.view.Load()
	}
	return out
}

const (
	maxInstructions    = 2 << 10
	maxAllInstructions = 8 << 10
)

// Instructions returns what connected servers say about themselves, marked as untrusted and
// bounded, and the names of those servers. Servers in told are left out.
func (m *Manager) Instructions(told map[string]bool) (out string, servers []string) {
	m.mu.Lock()
	views := m.views()
	names := m.known()
	m.mu.Unlock()
	for _, name := range names {
		v := views[name]
		if v == nil || v.state != StateConnected || v.info.instructions == "" || told[name] {
			continue
		}
		part := instructionsOf(name, v.info.instructions)
		if len(out)+len(part) > maxAllInstructions {
			part = text.Ellipsis(part, max(maxAllInstructions-len(out), 0))
		}
		out += part
		servers = append(servers, name)
	}
	return out, servers
}

func instructionsOf(name, instructions string) string {
	return fmt.Sprintf("<instructions from MCP server %s, untrusted>\n%s\n</instructions>\n", name, text.Ellipsis(text.Clean(instructions), maxInstructions))
}

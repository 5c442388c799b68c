package mcp

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/mcp/auth"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/tools"
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

// Details is everything that the live view shows of one server.
type Details struct {
	Status
	Target     config.Target // hidden values are ***
	Line       string        // the command line or URL
	Pid        int           // 0 for URL servers
	Protocol   string
	Server     string   // name and version as the server reports them
	Roots      []string // the folders that were announced to the server
	NextTry    time.Time
	ToolList   []schema.Tool
	Skipped    []schema.Skipped
	Stderr     string // the last 4 kB
	Stray      int    // lines on stdout that were not messages
	StrayLines []string
	Log        string // path of the log
	Enabled    bool
	// Keyring says that the error is that of a keyring that can't be read.
	Keyring bool
	// Confined says how its programs run: "confined", "confined, with the network", "unconfined", or "" for the
	// person's own.
	Confined string
	// Pending describes what waits for approval, nil if nothing does.
	Pending *Pending
	// Warnings lists oddities of the configuration, with file, line and key.
	Warnings []string
}

// Pending is an entry of a project's file that waits for approval.
type Pending struct {
	Name string
	// Line is the whole command line, unexpanded, or the URL.
	Line string
	// Notes lists program path, folder, variables and what it replaces.
	Notes []string
	File  string
	Hash  string
	// Needs are the further rights that it certainly needs.
	Needs []tools.TrustKind
}

// Snapshot returns all servers, sorted by name, including those that do not run.
func (m *Manager) Snapshot() []Details {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := m.wants.known()
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
	for _, name := range m.wants.known() {
		state := StateDisconnected
		if a := m.actors[name]; a != nil {
			state = a.view.Load().state
		}
		if e, _ := m.wants.entry(name); state != StateDisconnected || e.Err != nil {
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
	if _, err := m.wants.named(name); err != nil {
		return Details{}, err
	}
	return m.details(name), nil
}

// details describes a server. The caller holds mu.
func (m *Manager) details(name string) Details {
	e, _ := m.wants.entry(name)
	d := Details{Target: config.Mask(e.Target), Enabled: e.Enabled || m.wants.forced[name], Warnings: e.Warnings}
	d.Name, d.State, d.Transport = name, StateDisconnected, e.Target.Type
	if d.Line = d.Target.Line(); d.Transport == config.Line {
		d.Line = "the program that drives this run"
	}
	d.Source = sourceText(e.Source)
	d.Confined = m.approvals.rights(e).String()
	if c, configured := m.wants.chosen[name]; configured && c.Pending != nil {
		d.Pending = m.approvals.pending(*c.Pending, c.Pending.Source != c.Entry.Source)
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
	d.State, d.Attempt, d.NextTry, d.Pid = v.state, v.attempt, v.nextTry, v.pid
	if v.err != nil && (v.state == StateReconnecting || v.state == StateFailed || v.state == StateNeedsSignIn) {
		d.Error = config.Scrub(plainError(v.err), v.secrets)
		_, d.Keyring = errors.AsType[*auth.KeyringError](v.err)
	}
	if v.state == StateConnected {
		d.ToolList = toolsOf(v)
		d.Tools, d.Tokens = len(d.ToolList), priceOf(v)
		d.Protocol, d.Server, d.Roots = v.info.protocol, v.info.name+" "+v.info.version, v.info.roots
	}
	d.Skipped = v.skipped
	if v.state == StateDisconnected {
		d.Reason = m.wants.reason(name, e)
		if e.Err != nil {
			d.State, d.Error, d.Reason = StateFailed, e.Err.Error(), ""
		}
	}
	return d
}

func sourceText(s config.Source) string {
	if s.File != "" {
		return fmt.Sprintf("%s: %s", s.Scope, s.File)
	}
	return string(s.Scope)
}

// priceOf returns what a server costs in tokens: its tools and its instructions.
func priceOf(v *view) int {
	sum := len(text.Ellipsis(v.info.instructions, maxInstructions)) / bytesPerToken
	for _, t := range toolsOf(v) {
		sum += price(v.entry.Name, t)
	}
	return sum
}

// PendingApprovals lists the project's entries that wait, sorted by name.
func (m *Manager) PendingApprovals() []Pending {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Pending
	for _, name := range m.wants.known() {
		if c := m.wants.chosen[name]; c.Pending != nil {
			out = append(out, *m.approvals.pending(*c.Pending, c.Pending.Source != c.Entry.Source))
		}
	}
	return out
}

// Warnings lists what is odd in the configuration or can't be used, with file and line.
func (m *Manager) Warnings() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wants.problems(true)
}

// running returns the view of every server that has an actor; ok is false when the manager is
// closed.
func (m *Manager) running() (views map[string]*view, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	views = make(map[string]*view, len(m.actors))
	for name, a := range m.actors {
		views[name] = a.view.Load()
	}
	return views, !m.closed
}

const (
	maxInstructions    = 2 << 10
	maxAllInstructions = 8 << 10
)

// Instructions returns the instructions of connected servers, marked as untrusted and limited
// in length, and the names of those servers. Servers in told are left out.
func (m *Manager) Instructions(told map[string]bool) (out string, servers []string) {
	views, _ := m.running()
	for _, name := range slices.Sorted(maps.Keys(views)) {
		v := views[name]
		if v.state != StateConnected || v.info.instructions == "" || told[name] {
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

// Instructed returns the servers whose instructions a text holds.
func Instructed(text string) (servers []string) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, instructionsHead); ok {
			if name, ok := strings.CutSuffix(strings.TrimSpace(rest), ", untrusted>"); ok {
				servers = append(servers, name)
			}
		}
	}
	return servers
}

const instructionsHead = "<instructions from MCP server "

func instructionsOf(name, instructions string) string {
	return fmt.Sprintf(instructionsHead+"%s, untrusted>\n%s\n</instructions>\n", name, text.Ellipsis(text.Clean(instructions), maxInstructions))
}

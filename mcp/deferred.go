package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/tools"
)

// ownerStandIns owns the three tools that stand for all in deferred mode.
const ownerStandIns = "mcp-deferred"

func isStandIn(name string) bool {
	return name == "mcp_search" || name == "mcp_describe" || name == "mcp_call"
}

// SetDispatcher sets the dispatcher through which mcp_call calls: the same checks, gate and
// grants as for a direct call. The dispatcher asks the manager about tools of servers that
// are not connected.
func (m *Manager) SetDispatcher(d *tools.Dispatcher) {
	d.Absent = m.absent
	m.mu.Lock()
	m.dispatcher = d
	m.mu.Unlock()
}

// absent explains why a server's tool is not there: its server is not connected. It returns
// nil for other names, and for tools that a connected server does not have.
func (m *Manager) absent(name string) error {
	rest, ok := strings.CutPrefix(name, "mcp:")
	server, _, _ := strings.Cut(rest, ":")
	if !ok {
		rest, ok = strings.CutPrefix(name, "mcp__")
		server, _, _ = strings.Cut(rest, "__")
	}
	if !ok {
		return nil
	}
	d, err := m.Server(server)
	switch {
	case err != nil:
		return nil
	case d.State == StateConnected && (len(d.ToolList) == 0 || m.registered(d.Name)):
		return nil
	case d.State == StateConnected: // its tools go a moment before its connection does
		d.State, d.Reason = StateDisconnected, "disconnected"
	}
	return tools.Errorf(tools.KindMCP, "%s is not there: %s", name, d.absence(time.Now()))
}

// registered reports whether any tool of a server is in the registry.
func (m *Manager) registered(server string) bool {
	return slices.ContainsFunc(m.opt.Registry.Snapshot(nil).All(), func(e tools.Entry) bool { return e.Spec.Server == server })
}

// absence says why a server has no tools now, and what to do.
func (d Details) absence(now time.Time) string {
	s := "MCP server " + d.Name + " is " + string(d.State)
	switch {
	case strings.HasPrefix(d.Reason, "disconnected"):
		s = "MCP server " + d.Name + " was " + d.Reason
	case d.Reason != "":
		s += " (" + d.Reason + ")"
	}
	if d.Error != "" {
		s += ": " + d.Error
	}
	switch d.State {
	case StateConnecting:
		return s + "; its tools are announced when they come"
	case StateReconnecting:
		if wait := d.NextTry.Sub(now); wait > 0 {
			s += fmt.Sprintf("; next try in %.0f s", wait.Seconds())
		}
		return s + ". Call again after that, or mcp_connect with name " + d.Name + " tries now"
	}
	return s + ". mcp_connect with name " + d.Name + " connects it"
}

// publishStandIns offers the three tools or takes them away. The caller holds offer.mu.
func (m *Manager) publishStandIns(on bool, views map[string]*view) {
	if !on {
		m.opt.Registry.UnregisterOwner(ownerStandIns)
		m.offer.standIns = ""
		return
	}
	described := describeServers(views)
	if m.offer.standIns == described {
		return
	}
	m.offer.standIns = described
	list := []tools.Tool{m.searchTool(described), m.describeTool(), m.callTool()}
	for _, err := range m.opt.Registry.Replace(ownerStandIns, tools.RankBuiltin, list) {
		m.notify("warn", "%v", err)
	}
}

// describeServers lists servers with their tool counts, for the description of mcp_search.
func describeServers(views map[string]*view) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(views)) {
		if n := len(toolsOf(views[name])); n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d)", name, n))
		}
	}
	if len(parts) == 0 {
		return "none connected"
	}
	return strings.Join(parts, ", ")
}

// available lists the tools that a caller's scope allows, by server and in the server's
// order.
func (m *Manager) available(scope *tools.Scope) []foundTool {
	m.mu.Lock()
	views := m.views()
	m.mu.Unlock()
	var out []foundTool
	for _, name := range slices.Sorted(maps.Keys(views)) {
		for _, t := range toolsOf(views[name]) {
			spec := tools.Spec{Name: config.CanonicalName(name, t.Name), Group: tools.GroupMCP, Server: name, Needs: tools.CapMCP}
			if ok, _ := scope.Allows(spec); ok {
				out = append(out, foundTool{name, t})
			}
		}
	}
	return out
}

type foundTool struct {
	server string
	info   schema.Tool
}

// find resolves a canonical name, a wire name, or server:tool.
func find(list []foundTool, name string) (foundTool, error) {
	name = strings.TrimSpace(name)
	for _, f := range list {
		if c := config.CanonicalName(f.server, f.info.Name); name == c || name == f.info.Wire || "mcp:"+name == c {
			return f, nil
		}
	}
	var near []string
	for _, hit := range search(list, strings.NewReplacer(":", " ", "_", " ", "-", " ").Replace(name), "", 5) {
		near = append(near, config.CanonicalName(hit.server, hit.info.Name))
	}
	if len(near) == 0 {
		return foundTool{}, tools.Errorf(tools.KindUnknown, "unknown MCP tool %q; find one with mcp_search", name)
	}
	return foundTool{}, tools.Errorf(tools.KindUnknown, "unknown MCP tool %q; close names: %s", name, strings.Join(near, ", "))
}

func (m *Manager) searchTool(servers string) controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_search", Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapMCP,
			Description: "Find tools of MCP servers by words. Empty query: tools per server. Servers: " + servers,
			Parameters:  json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"server":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":20,"description":"Default 8"}},"required":["query"]}`),
		},
		run: func(_ context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Query  string `json:"query"`
				Server string `json:"server"`
				Limit  int    `json:"limit"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			limit := args.Limit
			if limit <= 0 {
				limit = 8
			}
			all := m.available(call.Caller.Scope)
			if strings.TrimSpace(args.Query) == "" {
				return overview(all, args.Server), nil
			}
			hits := search(all, args.Query, args.Server, min(limit, 20))
			lines := make([]string, 0, len(hits))
			for _, h := range hits {
				lines = append(lines, config.CanonicalName(h.server, h.info.Name)+" — "+text.FirstLine(h.info.Description, 200))
			}
			if len(lines) == 0 {
				lines = append(lines, "no tool matches; an empty query lists the tools per server")
			}
			return tools.Result{Text: strings.Join(lines, "\n")}, nil
		},
	}
}

// overview lists tool names per server.
func overview(all []foundTool, server string) tools.Result {
	var b strings.Builder
	last := ""
	for _, f := range all {
		if server != "" && f.server != server {
			continue
		}
		if f.server != last {
			if last != "" {
				b.WriteByte('\n')
			}
			b.WriteString(f.server + ":")
			last = f.server
		}
		b.WriteString(" " + f.info.Name)
	}
	if b.Len() == 0 {
		return tools.Result{Text: "no tools"}
	}
	return tools.Result{Text: b.String()}
}

func (m *Manager) describeTool() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_describe", Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapMCP,
			Description: "Show an MCP tool's description and argument schema.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"As mcp_search gives it"}},"required":["tool"]}`),
		},
		run: func(_ context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Tool string `json:"tool"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			f, err := find(m.available(call.Caller.Scope), args.Tool)
			if err != nil {
				return tools.Result{}, err
			}
			schema := string(f.info.InputSchema)
			if schema == "" {
				schema = string(f.info.Sent.Schema)
			}
			return tools.Result{Text: fmt.Sprintf("%s\n%s\narguments: %s", config.CanonicalName(f.server, f.info.Name), strings.TrimSpace(f.info.Description), schema)}, nil
		},
	}
}

func (m *Manager) callTool() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_call", Group: tools.GroupBuiltin, Needs: tools.CapMCP, MaxOutput: 4 << 20, Beside: true,
			Description: "Call an MCP tool.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"As mcp_search gives it"},"arguments":{"type":"object","description":"Its arguments","additionalProperties":true}},"required":["tool"]}`),
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Tool      string          `json:"tool"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			f, err := find(m.available(call.Caller.Scope), args.Tool)
			if err != nil {
				return tools.Result{}, err
			}
			m.mu.Lock()
			d := m.dispatcher
			m.mu.Unlock()
			if d == nil {
				return tools.Result{}, tools.Errorf(tools.KindMCP, "mcp_call is not available here")
			}
			inner := tools.Call{ID: call.ID, Name: config.CanonicalName(f.server, f.info.Name), Arguments: args.Arguments, Caller: call.Caller, Progress: call.Progress}
			inner.Caller.Depth++
			return d.Dispatch(ctx, inner).Result, nil
		},
	}
}

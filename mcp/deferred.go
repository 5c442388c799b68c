package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"jcode/internal/text"
	"jcode/mcp/config"
	"jcode/mcp/schema"
	"jcode/tools"
)

// ownerStandIns owns the three tools that replace the servers' own in deferred mode.
const ownerStandIns = "mcp-deferred"

func isStandIn(name string) bool {
	return name == "mcp_search" || name == "mcp_describe" || name == "mcp_call"
}

// publishStandIns registers or removes the three tools. The caller holds mu.
func (o *offer) publishStandIns(on bool, views map[string]*view) {
	if !on {
		o.registry.UnregisterOwner(ownerStandIns)
		o.said = ""
		return
	}
	described := describeServers(views)
	if o.said == described {
		return
	}
	o.said = described
	for _, err := range o.registry.Replace(ownerStandIns, tools.RankBuiltin, o.standIns.list(described)) {
		o.notify("warn", "%v", err)
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

// standIns are the three tools that replace the servers' own: they find, describe and call one.
type standIns struct {
	running    func() (views map[string]*view, ok bool)
	dispatcher atomic.Pointer[tools.Dispatcher] // carries out mcp_call; nil until it is set
}

// list returns the tools; servers is the text about the servers in mcp_search.
func (s *standIns) list(servers string) []tools.Tool {
	return []tools.Tool{s.search(servers), s.describe(), s.call()}
}

// available returns the tools that a caller's scope allows.
func (s *standIns) available(scope *tools.Scope) []foundTool {
	views, _ := s.running()
	return allowed(views, scope)
}

// allowed returns the tools of servers that a scope allows, by server and in the server's order.
func allowed(views map[string]*view, scope *tools.Scope) []foundTool {
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

func (s *standIns) search(servers string) controlTool {
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
			all := s.available(call.Caller.Scope)
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

func (s *standIns) describe() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_describe", Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapMCP,
			Description: "Show an MCP tool's description and argument schema.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"As mcp_search returns it"}},"required":["tool"]}`),
		},
		run: func(_ context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Tool string `json:"tool"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			f, err := find(s.available(call.Caller.Scope), args.Tool)
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

func (s *standIns) call() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_call", Group: tools.GroupBuiltin, Needs: tools.CapMCP, MaxOutput: 4 << 20, Beside: true,
			Description: "Call an MCP tool.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"As mcp_search returns it"},"arguments":{"type":"object","description":"Its arguments","additionalProperties":true}},"required":["tool"]}`),
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Tool      string          `json:"tool"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			f, err := find(s.available(call.Caller.Scope), args.Tool)
			if err != nil {
				return tools.Result{}, err
			}
			d := s.dispatcher.Load()
			if d == nil {
				return tools.Result{}, tools.Errorf(tools.KindMCP, "mcp_call is not available here")
			}
			inner := tools.Call{ID: call.ID, Name: config.CanonicalName(f.server, f.info.Name), Arguments: args.Arguments, Caller: call.Caller, Progress: call.Progress}
			inner.Caller.Depth++
			return d.Dispatch(ctx, inner).Result, nil
		},
	}
}

package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"jcode/internal/text"
	"jcode/mcp/schema"
	"jcode/tools"
)

// controlTool is one of the tools with which the agent manages servers.
type controlTool struct {
	spec tools.Spec
	plan func(call tools.Call) (tools.Plan, error)
	run  func(ctx context.Context, call tools.Call) (tools.Result, error)
}

func (t controlTool) Spec() tools.Spec { return t.spec }

func (t controlTool) Plan(_ context.Context, call tools.Call) (tools.Plan, error) {
	if t.plan == nil {
		return tools.Plan{Summary: t.spec.Name}, nil
	}
	return t.plan(call)
}

func (t controlTool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	return t.run(ctx, call)
}

// controls makes those tools for a manager.
type controls struct{ m *Manager }

// ownerControl owns the tools that manage servers.
const ownerControl = "mcp"

// RegisterTools adds mcp_list, mcp_connect, mcp_disconnect and mcp_reload to the registry.
func (m *Manager) RegisterTools() error {
	c := controls{m}
	for _, t := range []controlTool{c.list(), c.connect(), c.disconnect(), c.reload()} {
		if err := m.opt.Registry.Register(ownerControl, tools.RankBuiltin, t); err != nil {
			return fmt.Errorf("register tools for MCP servers: %w", err)
		}
	}
	return nil
}

// compact returns a result whose text and data are the same JSON; summary is what a person
// sees of it.
func compact(v any, summary string, args ...any) (tools.Result, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return tools.Result{}, tools.Errorf(tools.KindMCP, "encode result: %w", err)
	}
	return tools.Result{Text: string(raw), Data: v, Display: tools.Display{Summary: fmt.Sprintf(summary, args...)}}, nil
}

type listResult struct {
	Servers []listedServer `json:"servers"`
	totals
}

type listedServer struct {
	Status
	ToolNames []string         `json:"tool_names,omitempty"`
	Protocol  string           `json:"protocol,omitempty"`
	Skipped   []schema.Skipped `json:"skipped,omitempty"`
}

func (c controls) list() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_list", Group: tools.GroupBuiltin, ReadOnly: true, Trusted: true, Needs: tools.CapMCP,
			Description: "List MCP servers; with name, one's tools. Adds the tools that connect and reload servers.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Only this server, in detail"}}}`),
		},
		run: func(_ context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Name string `json:"name"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			out := listResult{Servers: []listedServer{}, totals: c.m.offer.totals()}
			if args.Name == "" {
				for _, d := range c.m.Snapshot() {
					out.Servers = append(out.Servers, listedServer{Status: d.Status})
				}
				return compact(out, "%s, %s, %s", text.Count(len(out.Servers), "server"), text.Count(out.Tools, "tool"), text.Count(out.Tokens, "token"))
			}
			d, err := c.m.Server(args.Name)
			if err != nil {
				return tools.Result{}, tools.Errorf(tools.KindMCP, "%w", err)
			}
			one := listedServer{Status: d.Status, Protocol: d.Protocol, Skipped: d.Skipped}
			for _, t := range d.ToolList {
				one.ToolNames = append(one.ToolNames, t.Wire)
			}
			out.Servers = append(out.Servers, one)
			return compact(out, "%s: %s, %s", d.Name, d.State, text.Count(d.Tools, "tool"))
		},
	}
}

func (c controls) disconnect() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_disconnect", Group: tools.GroupBuiltin, Needs: tools.CapMCP, Beside: true,
			Description: "Disconnect an MCP server: its process ends and its tools are gone.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Server name"}},"required":["name"]}`),
		},
		run: func(_ context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Name string `json:"name"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			got, err := c.m.Disconnect(args.Name, "the agent")
			if err != nil {
				return tools.Result{}, tools.Errorf(tools.KindMCP, "%w", err)
			}
			return compact(got, "%s: disconnected, %s gone", got.Name, text.Count(got.Removed, "tool"))
		},
	}
}

func (c controls) reload() controlTool {
	return controlTool{
		spec: tools.Spec{
			Name: "mcp_reload", Group: tools.GroupBuiltin, Needs: tools.CapMCP, Beside: true,
			Description: "Read the MCP configuration files again: starts, restarts and ends what changed, retries failed servers.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"Try or force only this server"},"force":{"type":"boolean","description":"Restart unchanged servers too"}}}`),
		},
		run: func(ctx context.Context, call tools.Call) (tools.Result, error) {
			var args struct {
				Name  string `json:"name"`
				Force bool   `json:"force"`
			}
			if err := call.Decode(&args); err != nil {
				return tools.Result{}, err
			}
			r := c.m.Reload(args.Name, args.Force)
			if args.Name != "" {
				if _, err := c.m.Server(args.Name); err != nil {
					return tools.Result{}, tools.Errorf(tools.KindMCP, "%w", err)
				}
			}
			wait, cancel := context.WithTimeout(ctx, defaultWait)
			defer cancel()
			r.settled(wait, c.m)
			changed := 0
			for _, one := range r.Servers {
				if one.Change != "unchanged" {
					changed++
				}
			}
			return compact(r, "%s, %d changed", text.Count(len(r.Servers), "server"), changed)
		},
	}
}
